"""`manyview reproduce` and `manyview datasets`, small, as a user runs them."""

import csv
import json
import os
import signal

import pytest

from manyview import cli, datasets
from manyview.datasets import fetch
from manyview.reproduce import METHODS, Results, _cells, plan, run_cells
from manyview.reproduce._plan import BUILTIN, PAPER_ACC, PAPER_NMI, Cell, paper_figure
from manyview.reproduce._tables import NamedTable, score_tables
from manyview.reproduce._text import differences, remarks
from tests.cli.test_cli import run
from tests.helpers.browser import CHROMIUM, QUIET, needs_browser
from tests.helpers.goldens import DATA
from tests.helpers.interruption import DRAFTS, alive, stop

SMALL = ["--datasets", "blobs", "moons", "--seeds", "3"]
QUICK = ["--methods", "MGL", "GBS", "CI-GMVC", "average graph", "single views"]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduce")
    return run("reproduce", *SMALL, *QUICK, "--output", folder), folder


def silent(*_):
    pass


def test_everything_is_written(outputs):
    done, folder = outputs
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    # 4 methods on 2 data sets and 5 single views, each in 2 orders
    assert "26 cells, 0 of them from an earlier run, 0 failed" in done.stdout
    names = {entry.name for entry in folder.iterdir()}
    tables = {"table1", "table2", "table3_arithmetic", "table3_geometric", "table4_views"}
    for table in (*tables, "table5_seconds"):
        assert {f"{table}.csv", f"{table}.tex"} <= names
    assert {"results.md", "report.html", "convergence.png", "convergence.svg"} <= names
    with (folder / "table2.csv").open() as stream:
        head, *rows = csv.reader(stream)
    assert head == ["method", "blobs stored", "blobs shuffled", "moons stored", "moons shuffled"]
    assert [row[0] for row in rows] == [
        "MGL",
        "GBS",
        "CI-GMVC",
        "average graph",
        "best single view",
    ]
    cells = {row[0]: row[1:] for row in rows}
    assert all("±" in cell for cell in cells["MGL"])
    assert all("±" not in cell and float(cell) > 50 for cell in cells["CI-GMVC"])
    assert cells["CI-GMVC"][0] == cells["CI-GMVC"][1]  # the order of samples does not matter
    text = (folder / "results.md").read_text(encoding="utf-8")
    assert "manyview reproduce --datasets blobs moons" in text


def test_a_second_run_goes_on_where_the_first_stopped(outputs, tmp_path):
    _, folder = outputs
    kept = folder / "cells"
    before = {path: path.stat().st_mtime_ns for path in kept.iterdir()}
    gone = kept / "moons--GBS--shuffled.json"
    gone.unlink()
    (kept / "blobs--MGL--stored.json").write_text('{"key": "half a fi')  # as if cut short
    done = run("reproduce", *SMALL, *QUICK, "--output", folder)
    assert f"{len(before)} cells, {len(before) - 2} of them from an earlier run" in done.stdout
    for path, when in before.items():
        redone = path.name in ("moons--GBS--shuffled.json", "blobs--MGL--stored.json")
        assert (path.stat().st_mtime_ns != when) == redone
        json.loads(path.read_text())


def test_several_processes_give_the_same_scores(outputs, tmp_path):
    cells = [Cell("blobs", "CI-GMVC", "stored"), Cell("moons", "MGL", "shuffled")]
    options = {"n_seeds": 2, "data_home": None, "progress": silent}
    one = run_cells(cells, tmp_path / "one", processes=1, **options)
    two = run_cells(cells, tmp_path / "two", processes=2, **options)
    assert {r.cell: r.scores for r in one} == {r.cell: r.scores for r in two}


def test_a_cell_that_fails_is_reported_and_the_rest_goes_on(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("out of luck\nsecond line")

    monkeypatch.setitem(
        METHODS, "MGL", type(METHODS["MGL"])("MGL", lambda *_, **__: fail(), True, "MGL")
    )
    cells = plan({"blobs": BUILTIN["blobs"]()}, ["MGL", "GBS"])
    found = run_cells(cells, tmp_path, n_seeds=1, processes=1, data_home=None, progress=silent)
    assert [r.error for r in found] == ["RuntimeError: out of luck"] * 2 + [None] * 2
    assert not (tmp_path / "blobs--MGL--stored.json").exists()  # it is tried again next time
    table = score_tables(Results(found))[0]
    assert table.rows[0] == ("MGL", "failed", "failed")
    assert "failed" not in table.rows[1]


def one_cell(folder, cell, n_seeds=3, data_home=None, processes=1):
    options = {"n_seeds": n_seeds, "processes": processes, "data_home": data_home}
    return run_cells([cell], folder, progress=silent, **options)[0]


def test_seeds_and_orders_are_really_different(tmp_path):
    """Blobs that overlap so much that k-means ends elsewhere with every seed."""
    cell = Cell("hard", "MGL", "stored")
    hard = datasets.make_blob_views(120, 12, separation=1.0, random_state=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(BUILTIN, "hard", lambda: hard)
        stored = one_cell(tmp_path, cell, n_seeds=6)
        assert len({tuple(entry.values()) for entry in stored.scores}) > 1
        order = _cells._order(Cell("hard", "MGL", "shuffled"), None)
        assert sorted(order) == list(range(120)) != list(order)


def test_a_cell_is_kept_only_for_the_same_seeds_and_data(tmp_path, monkeypatch):
    cell = Cell("mine", "GBS", "stored")
    first = datasets.make_blob_views(60, 3, separation=9, random_state=0)
    monkeypatch.setitem(BUILTIN, "mine", lambda: first)
    assert not one_cell(tmp_path, cell).kept
    assert one_cell(tmp_path, cell).kept
    assert not one_cell(tmp_path, cell, n_seeds=2).kept
    _cells._data.cache_clear()
    second = datasets.make_blob_views(60, 3, separation=0.1, random_state=0)
    monkeypatch.setitem(BUILTIN, "mine", lambda: second)
    other = one_cell(tmp_path, cell, n_seeds=2)
    assert not other.kept
    assert other.mean("ACC") < 0.9
    _cells._data.cache_clear()


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content | {"result": "x"},
        lambda content: content | {"result": content["result"] | {"scores": []}},
        lambda content: content | {"result": content["result"] | {"scores": [{"ACC": 1.0}]}},
        lambda content: [],
    ],
)
def test_a_damaged_cell_is_run_again(tmp_path, damage):
    cell = Cell("moons", "GBS", "stored")
    whole = one_cell(tmp_path, cell)
    path = tmp_path / cell.file
    path.write_text(json.dumps(damage(json.loads(path.read_text()))))
    again = one_cell(tmp_path, cell)
    assert not again.kept
    assert again.scores == whole.scores


def test_a_worker_that_dies_fails_its_cell_only(tmp_path, monkeypatch):
    """`kill` ends the process it runs in, as the kernel does when memory runs out."""
    monkeypatch.setenv("MANYVIEW_TEST_KILL", "GBS")
    cells = [Cell("moons", name, "stored") for name in ("MGL", "GBS", "average graph")]
    monkeypatch.setattr(_cells, "run_cell", run_or_die)
    found = run_cells(cells, tmp_path, n_seeds=1, processes=2, data_home=None, progress=silent)
    errors = {r.cell.method: r.error for r in found}
    assert errors.pop("GBS").startswith("the worker process died")
    assert errors == {"MGL": None, "average graph": None}


_run_cell = _cells.run_cell


def run_or_die(cell, n_seeds, data_home):
    if cell.method == os.environ.get("MANYVIEW_TEST_KILL"):
        os.kill(os.getpid(), signal.SIGKILL)
    return _run_cell(cell, n_seeds, data_home)


@pytest.mark.parametrize(
    ("how", "group", "processes"),
    [
        (signal.SIGTERM, False, "1"),
        pytest.param(signal.SIGTERM, False, "2", marks=pytest.mark.slow),
        # as a terminal does: workers get it too
        pytest.param(signal.SIGINT, True, "2", marks=pytest.mark.slow),
        (signal.SIGKILL, False, "2"),
    ],
)
def test_a_run_that_is_stopped_leaves_whole_cells_and_no_workers(folder, how, group, processes):
    words = ["reproduce", "--datasets", "digits", "moons", "--methods", "GBS", "MCGL"]
    words += ["--processes", processes, "--output", folder]
    stopped = stop(words, how, group=group, when=lambda: list(folder.glob("cells/[!.]*")))
    if how == signal.SIGKILL:
        assert stopped.returncode == -signal.SIGKILL
    else:
        said = "manyview: interrupted; finished cells are kept, the same command goes on\n"
        assert (stopped.returncode, stopped.stderr) == (130, said)
        assert not list(folder.glob(f"cells/{DRAFTS}"))
    for path in folder.glob("cells/[!.]*"):
        json.loads(path.read_text())
    assert alive(stopped.pid) == []  # workers see within a second that they are alone


def test_files_of_an_earlier_run_go(tmp_path):
    (tmp_path / "table_of_mine.csv").write_text("mine")
    arguments = ["--datasets", "moons", "--seeds", "1", "--output", tmp_path]
    done = run("reproduce", "--methods", "single views", "gbs", *arguments)
    assert done.returncode == 0
    assert (tmp_path / "table4_views.csv").exists()
    assert (tmp_path / "convergence.png").exists()
    done = run("reproduce", "--methods", "average graph", *arguments)
    assert done.returncode == 0
    assert not (tmp_path / "table4_views.csv").exists()
    assert not (tmp_path / "convergence.png").exists()
    assert (tmp_path / "table_of_mine.csv").read_text() == "mine"


def test_exit_code_of_a_run_with_a_failed_cell(tmp_path, monkeypatch, capsys):
    broken = type(METHODS["GBS"])("GBS", lambda *_, **__: 1 / 0, False)
    monkeypatch.setitem(METHODS, "GBS", broken)
    arguments = ["reproduce", "--datasets", "moons", "--methods", "GBS", "--output", str(tmp_path)]
    assert cli.main(arguments) == 1
    assert "failed" in capsys.readouterr().out
    assert "ZeroDivisionError" in (tmp_path / "results.md").read_text()


def test_both_kinds_of_nmi_are_in_their_tables(outputs):
    folder = outputs[1]
    with (folder / "cells.csv").open() as stream:
        cells = {(r["data set"], r["method"], r["order"]): r for r in csv.DictReader(stream)}
    for name, column in [("table3_arithmetic", "NMI"), ("table3_geometric", "NMI (geometric)")]:
        with (folder / f"{name}.csv").open() as stream:
            rows = {row["method"]: row for row in csv.DictReader(stream)}
        expected = float(cells["moons", "MGL", "stored"][f"{column} mean"])
        assert float(rows["MGL"]["moons stored"].split()[0]) == pytest.approx(
            100 * expected, abs=0.01
        )
    assert len({(r["NMI mean"], r["NMI (geometric) mean"]) for r in cells.values()}) > 1


@needs_browser
def test_the_page_in_a_browser(outputs):
    from playwright.sync_api import sync_playwright

    page_file = outputs[1] / "report.html"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        complaints, requests = [], []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(page_file.as_uri())
        assert page.locator("table").count() == 6
        assert page.locator("figure svg").count() == 4
        browser.close()
    assert complaints == []
    assert requests == [page_file.as_uri()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "KMeans"], "method 'KMeans'; expected one of CoregSC"),
        (["--datasets", "Iris"], "data set 'Iris'; expected one of BBC"),
        (["--seeds", "0"], "seeds=0; expected an integer of at least 1"),
        (["--builtin", "--datasets", "WebKB"], "--builtin with 'WebKB'; expected some of digits"),
        (["--processes", "0"], "processes=0; expected an integer of at least 1"),
        (["--data-home", "nowhere", "--datasets", "HW"], "put HW.mat from"),
    ],
)
def test_bad_usage(arguments, message, tmp_path, capsys):
    assert cli.main(["reproduce", *arguments, "--output", str(tmp_path / "out")]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1


def test_datasets_are_listed(tmp_path):
    (tmp_path / "BBC.mat").write_bytes(b"something")
    done = run("datasets", "--data-home", tmp_path)
    assert done.returncode == 0
    lines = {line.split("│")[1].strip(): line for line in done.stdout.splitlines() if "│" in line}
    assert {"BBC", "NGs", "WebKB", "100leaves", "3Sources", "BBCSport", "HW"} <= set(lines)
    assert lines["BBC"].split("│")[2].strip() == "wrong file"
    assert lines["NGs"].split("│")[2].strip() == "no"


def test_figures_of_the_paper():
    assert paper_figure(PAPER_ACC, "CI-GMVC", "WebKB") == 77.34
    assert paper_figure(PAPER_NMI, "GBS", "100leaves") == 93.43
    assert paper_figure(PAPER_ACC, "average graph", "BBC") is None
    assert paper_figure(PAPER_ACC, "GBS", "digits") is None


def test_text_says_what_differs(tmp_path):
    """On WebKB with the paper's method and one baseline."""
    data = {"WebKB": fetch("WebKB", DATA)}
    cells = plan(data, ["MGL", "GBS", "CI-GMVC"], ["stored"])
    found = run_cells(cells, tmp_path, n_seeds=2, processes=1, data_home=str(DATA), progress=silent)
    results = Results(found)
    text = "\n".join(differences(results) + remarks(results))
    assert "CI-GMVC on WebKB: the paper's NMI of 47.01 is the geometric mean; the other" in text
    assert "MGL, ours (the paper's): ACC on WebKB" in text
    assert "where the inputs were not normalised" in text
    assert "GBS, ours (the paper's): ACC" not in text
    assert "CI-GMVC's on WebKB" in text  # a tiny cluster


def test_latex_and_markdown_are_well_formed():
    table = NamedTable("t", "Table 3a. 50 % & more_than", ("a", "b_c"), (("x", "1 ± 2"),), "note")
    assert r"\caption{50 \% \& more\_than note}" in table.latex()
    assert r"x & 1 $\pm$ 2 \\" in table.latex()
    assert "| x | 1 ± 2 |" in table.markdown()
    assert table.csv() == "a,b_c\nx,1 ± 2\n"
