"""``manyview demo``, run as a user would."""

import pytest

from tests.helpers.command import run


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
        "consensus",
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
    """tests/report tests what the page does."""
    text = demo[1].read_text(encoding="utf-8")
    assert "<title>Handwritten digits in three views</title>" in text
    for loader in ("<link", "@import", 'src="http', 'href="http', "url(http"):
        assert loader not in text
    assert "default-src &#39;none&#39;" in text


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
