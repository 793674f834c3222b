"""The command line and the demo's page, in a real browser where there is one."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from manyview import __version__, cli
from manyview._files import write_whole
from manyview.report import Section, Table, render_page

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


def run(*arguments, **kwargs):
    command = [sys.executable, "-m", "manyview", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **kwargs)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo, run once as a user would."""
    folder = tmp_path_factory.mktemp("demo")
    return run("demo", "--output", "out", cwd=folder), folder / "out" / "report.html"


def test_demo_prints_a_table_and_writes_a_page(demo):
    done, page = demo
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # the progress bar is for terminals
    for word in (
        "angular",
        "CI-GMVC",
        "GBS",
        "pixels",
        "fourier",
        "gradients",
        "ACC",
        page.as_uri(),
    ):
        assert word in done.stdout
    accuracy = [
        float(line.split("│")[3]) for line in done.stdout.splitlines() if line.startswith("│")
    ]
    assert len(accuracy) == 6
    assert all(0.1 < value <= 1 for value in accuracy)
    assert [entry.name for entry in page.parent.iterdir()] == ["report.html"]


def test_demo_page_needs_nothing_else(demo):
    text = demo[1].read_text(encoding="utf-8")
    for loader in ("<script", "<link", "@import", 'src="http', 'href="http', "url(http"):
        assert loader not in text
    assert text.count("<svg") == 8  # 2 maps, 2 curves, 4 graphs


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [1200, 390], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_demo_page_in_a_browser(demo, width, scheme):
    from playwright.sync_api import sync_playwright

    quiet = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=quiet)
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        complaints, requests = [], []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(demo[1].as_uri())
        assert page.title() == "Handwritten digits in three views"
        assert page.locator("table tbody tr").count() == 6
        drawn = page.locator("figure svg")
        boxes = [drawn.nth(i).bounding_box() for i in range(drawn.count())]
        assert len(boxes) == 8
        assert all(box["width"] > 200 and box["height"] > 100 for box in boxes)
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        ink = page.evaluate("getComputedStyle(document.body).color")
        browser.close()
    assert complaints == []
    assert requests == [demo[1].as_uri()]
    assert overflow <= 0
    bright = int(ink.removeprefix("rgb(").split(",")[0]) > 128
    assert bright == (scheme == "dark")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["dance"], "invalid choice: 'dance'"),
        (["demo", "--seed", "x"], "invalid int value: 'x'"),
        (["demo", "--seed", "-1"], "seed=-1; expected an integer of at least 0 and at most"),
    ],
)
def test_bad_usage_is_one_error_and_exit_code_2(arguments, message, tmp_path):
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_made_is_found_before_the_work(tmp_path):
    (tmp_path / "taken").write_text("mine")
    done = run("demo", "--output", tmp_path / "taken")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "taken" in done.stderr
    assert (tmp_path / "taken").read_text() == "mine"
    (tmp_path / "out" / "report.html").mkdir(parents=True)
    done = run("demo", "--output", tmp_path / "out")
    assert done.returncode == 2
    assert "report.html is a folder" in done.stderr


def test_a_missing_extra_is_named(monkeypatch, capsys):
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == "rich" else object())
    assert cli.main(["demo"]) == 2
    expected = "manyview: error: rich not installed: pip install 'manyview[cli]'\n"
    assert capsys.readouterr().err == expected


def test_version():
    assert run("--version").stdout.strip() == f"manyview {__version__}"


def test_import_is_cheap():
    """No numba, no plots, no scikit-learn before they are used; and well under a second."""
    code = (
        "import sys, time; started = time.perf_counter(); import manyview\n"
        "seconds = time.perf_counter() - started\n"
        "heavy = {'numba', 'matplotlib', 'sklearn', 'scipy', 'numpy', 'rich', 'jinja2'}\n"
        "print(seconds < 0.5, sorted(heavy & set(sys.modules)))\n"
        "print(manyview.CIGMVC, manyview.datasets.__name__, 'matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    first, second = done.stdout.splitlines()
    assert first == "True []"
    assert second == "<class 'manyview.methods.cigmvc.CIGMVC'> manyview.datasets False"


def test_unknown_attribute():
    import manyview

    with pytest.raises(AttributeError, match="no attribute 'KMeans'"):
        _ = manyview.KMeans
    assert set(dir(manyview)) >= {"CIGMVC", "GBS", "datasets", "metrics", "plotting"}


def test_page_escapes_every_text():
    nasty = "<script>alert(1)</script>"
    section = Section(nasty, nasty, Table([nasty], [[nasty]], nasty), [(nasty, "<svg></svg>")])
    page = render_page(nasty, nasty, [section])
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 9


def test_files_are_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "deep" / "page.html"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "new \ud800")  # cannot be encoded: fails half-way
    assert path.read_text() == "old"
    assert [entry.name for entry in path.parent.iterdir()] == ["page.html"]
    assert Path(path).stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    "example", sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
)
def test_examples_run(example):
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout
