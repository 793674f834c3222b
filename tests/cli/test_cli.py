"""The command line, run as a user would."""

import subprocess
import sys
from pathlib import Path

import pytest

from manyview import __version__, cli
from manyview.report import Section, Table, render_page
from manyview.runtime._atomic_write import write_file


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


def test_demo_page_is_the_report(demo):
    """What the page does in a browser is in test_report.py."""
    text = demo[1].read_text(encoding="utf-8")
    assert "<title>Handwritten digits in three views</title>" in text
    for loader in ("<link", "@import", 'src="http', 'href="http', "url(http"):
        assert loader not in text
    assert "default-src &#39;none&#39;" in text


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
    write_file(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_file(path, "new \ud800")  # cannot be encoded: fails half-way
    assert path.read_text() == "old"
    assert [entry.name for entry in path.parent.iterdir()] == ["page.html"]
    assert Path(path).stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("example", sorted((Path(__file__).parents[2] / "examples").glob("*.py")))
def test_examples_run(example):
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout
