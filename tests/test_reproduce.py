"""`manyview reproduce` and `manyview datasets`, small, as a user runs them."""

import csv
import json

import pytest
from test_cli import CHROMIUM, run

from manyview.datasets import fetch
from manyview.reproduce import METHODS, Results, plan, run_cells
from manyview.reproduce._plan import BUILTIN, PAPER_ACC, PAPER_NMI, Cell, paper_figure
from manyview.reproduce._tables import NamedTable, score_tables
from manyview.reproduce._text import differences, remarks

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
    assert "26 cells, 0 of them from an earlier run, 0 failed" not in done.stdout  # 5 views in all
    assert " cells, 0 of them from an earlier run, 0 failed" in done.stdout
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
    (kept / "blobs--MGL--stored.json").write_text('{"version": "half a fi')  # as if cut short
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


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_the_page_in_a_browser(outputs):
    from playwright.sync_api import sync_playwright

    page_file = outputs[1] / "report.html"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
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
        (["--processes", "0"], "processes=0; expected an integer of at least 1"),
        (["--data-home", "nowhere", "--datasets", "HW"], "put HW.mat from"),
    ],
)
def test_bad_usage(arguments, message, tmp_path):
    done = run("reproduce", *arguments, "--output", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_datasets_are_listed(tmp_path):
    (tmp_path / "BBC.mat").write_bytes(b"something")
    done = run("datasets", "--data-home", tmp_path)
    assert done.returncode == 0
    lines = {line.split("│")[1].strip(): line for line in done.stdout.splitlines() if "│" in line}
    assert {"BBC", "NGs", "WebKB", "100leaves", "3sources", "BBCSport", "HW"} <= set(lines)
    assert lines["BBC"].split("│")[2].strip() == "yes"
    assert lines["NGs"].split("│")[2].strip() == "no"


def test_figures_of_the_paper():
    assert paper_figure(PAPER_ACC, "CI-GMVC", "WebKB") == 77.34
    assert paper_figure(PAPER_NMI, "GBS", "100leaves") == 93.43
    assert paper_figure(PAPER_ACC, "average graph", "BBC") is None
    assert paper_figure(PAPER_ACC, "GBS", "digits") is None


def test_text_says_what_differs(shared_data, tmp_path):
    """On WebKB with the paper's method and one baseline."""
    from conftest import SHARED

    data = {"WebKB": fetch("WebKB", SHARED / "data")}
    cells = plan(data, ["MGL", "GBS", "CI-GMVC"], ["stored"])
    found = run_cells(
        cells, tmp_path, n_seeds=2, processes=1, data_home=str(SHARED / "data"), progress=silent
    )
    results = Results(found)
    text = "\n".join(differences(results) + remarks(results))
    assert "CI-GMVC on WebKB: the paper's NMI of 47.01 is the geometric mean; the other" in text
    assert "MGL, ours (the paper's): ACC on WebKB" in text
    assert "where the inputs were not normalised" in text
    assert "GBS, ours (the paper's): ACC" not in text
    assert "CI-GMVC's on WebKB" in text  # a tiny cluster


def test_latex_and_markdown_are_well_formed():
    table = NamedTable("t", "50 % & more_than", ("a", "b_c"), (("x", "1 ± 2"),), "note")
    assert r"\caption{50 \% \& more\_than}" in table.latex()
    assert r"x & 1 $\pm$ 2 \\" in table.latex()
    assert "| x | 1 ± 2 |" in table.markdown()
    assert table.csv() == "a,b_c\nx,1 ± 2\n"
