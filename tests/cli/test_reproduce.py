"""``manyview reproduce``, small, run as a user would."""

import csv
import json
import signal

import pytest

from manyview import cli, methods
from tests.helpers.browser import CHROMIUM, QUIET, needs_browser
from tests.helpers.command import run
from tests.helpers.interruption import DRAFTS, alive, stop

SMALL = ["--datasets", "blobs", "moons", "--seeds", "3"]
QUICK = ["--methods", "MGL", "GBS", "CI-GMVC", "average graph", "single views"]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduce")
    return run("reproduce", *SMALL, *QUICK, "--output", folder), folder


def test_everything_is_written(outputs):
    done, folder = outputs
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    # 4 methods on 2 data sets and 5 single views, each in 2 orders
    assert "26 experiments, 0 of them from an earlier run, 0 failed" in done.stdout
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
    scores = {row[0]: row[1:] for row in rows}
    assert all("±" in text for text in scores["MGL"])
    assert all("±" not in text and float(text) > 50 for text in scores["CI-GMVC"])
    assert scores["CI-GMVC"][0] == scores["CI-GMVC"][1]  # the order of samples does not matter
    text = (folder / "results.md").read_text(encoding="utf-8")
    assert "manyview reproduce --datasets blobs moons" in text


def test_a_second_run_continues_the_first(outputs, tmp_path):
    _, folder = outputs
    kept = folder / "experiments"
    before = {path: path.stat().st_mtime_ns for path in kept.iterdir()}
    gone = kept / "moons--GBS--shuffled.json"
    gone.unlink()
    (kept / "blobs--MGL--stored.json").write_text('{"key": "half a fi')  # as if cut short
    done = run("reproduce", *SMALL, *QUICK, "--output", folder)
    assert (
        f"{len(before)} experiments, {len(before) - 2} of them from an earlier run" in done.stdout
    )
    for path, when in before.items():
        redone = path.name in ("moons--GBS--shuffled.json", "blobs--MGL--stored.json")
        assert (path.stat().st_mtime_ns != when) == redone
        json.loads(path.read_text())


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
def test_a_run_that_is_stopped_leaves_whole_results_and_no_workers(folder, how, group, processes):
    words = ["reproduce", "--datasets", "digits", "moons", "--methods", "GBS", "MCGL"]
    words += ["--processes", processes, "--output", folder]
    stopped = stop(words, how, group=group, when=lambda: list(folder.glob("experiments/[!.]*")))
    if how == signal.SIGKILL:
        assert stopped.returncode == -signal.SIGKILL
    else:
        note = "finished experiments are kept, run the same command to continue"
        assert stopped.returncode == 130
        assert stopped.stderr == f"manyview: interrupted; {note}\n"
        assert not list(folder.glob(f"experiments/{DRAFTS}"))
    for path in folder.glob("experiments/[!.]*"):
        json.loads(path.read_text())
    assert alive(stopped.pid) == []  # workers end within a second of their parent


def test_optional_files_of_an_earlier_run_are_removed(tmp_path):
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


def test_exit_code_of_a_run_with_a_failed_experiment(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(methods.GBS, "fit", lambda *_, **__: 1 / 0)
    arguments = ["reproduce", "--datasets", "moons", "--methods", "GBS", "--output", str(tmp_path)]
    assert cli.main(arguments) == 1
    assert "failed" in capsys.readouterr().out
    assert "ZeroDivisionError" in (tmp_path / "results.md").read_text()


def test_both_kinds_of_nmi_are_in_their_tables(outputs):
    folder = outputs[1]
    with (folder / "experiments.csv").open() as stream:
        found = {(r["data set"], r["method"], r["order"]): r for r in csv.DictReader(stream)}
    for name, column in [("table3_arithmetic", "NMI"), ("table3_geometric", "NMI (geometric)")]:
        with (folder / f"{name}.csv").open() as stream:
            rows = {row["method"]: row for row in csv.DictReader(stream)}
        expected = float(found["moons", "MGL", "stored"][f"{column} mean"])
        assert float(rows["MGL"]["moons stored"].split()[0]) == pytest.approx(
            100 * expected, abs=0.01
        )
    assert len({(r["NMI mean"], r["NMI (geometric) mean"]) for r in found.values()}) > 1


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
