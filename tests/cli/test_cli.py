"""The command line, run as a user would."""

import json
import re
import sys

import numpy as np
import pytest

from manyview import __version__, cli, datasets
from manyview.cli import _extras, _terminal
from tests.helpers.command import run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["dance"], "invalid choice: 'dance'"),
        (["demo", "--seed", "x"], "invalid int value: 'x'"),
        (["demo", "--seed", "-1"], "--seed -1; expected an integer of at least 0 and at most"),
    ],
)
def test_bad_usage_is_one_error_and_exit_code_2(arguments, message, tmp_path):
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


NEAR = {
    ("clutser", "x.npy"): "expected one of cluster, .*; did you mean cluster\\? \\(see manyview --",
    (
        "cluster",
        "x.npy",
        "--cluster",
        "3",
    ): "--cluster 3; did you mean --clusters\\? .*cluster --help",
    ("cluster", "x.npy", "--n_clusters=3"): "did you mean --n-clusters\\?",
    ("cluster", "x.npy", "--method", "Angula"): "did you mean angular\\?",
    ("cluster", "Words=x.npy", "--scaling", "word=unit"): "some of Words; did you mean Words\\?",
    ("cluster", "x.npy", "--scaling", "x=tfdif"): "--scaling tfdif; .*; did you mean tfidf\\?",
    ("predict", "model.zip", "x.npy", "--ouput", "y"): "did you mean --output\\?",
    ("reproduce", "--methods", "GBSS"): "method 'GBSS'; .* did you mean GBS\\?",
    # Abbreviations would break once there is another option that begins like that.
    ("cluster", "x.npy", "--clus", "3"): "--clus 3; did you mean --clusters\\?",
    ("cluster", "x.npy", "--quux"): "unrecognized arguments: --quux \\(see",
}


@pytest.mark.parametrize("words", NEAR, ids=" ".join)
def test_unknown_words_suggest_the_nearest(words, folder, capsys):
    np.save("x.npy", np.eye(8))
    try:
        code = cli.main(words)
    except SystemExit as stop:  # of argparse
        code = stop.code
    shown = capsys.readouterr().err
    assert code == 2
    assert re.search(NEAR[words], shown)
    assert shown.count("\n") == 1


@pytest.mark.parametrize("flag", ["-k", "--clusters", "--n-clusters"])
def test_names_of_the_number_of_clusters(flag, folder):
    np.save("x.npy", datasets.make_blob_views(60, 3, random_state=0).views["view0"])
    assert cli.main(["cluster", "x.npy", flag, "3"]) == 0
    summary = json.loads((folder / "manyview-clusters/summary.json").read_text())
    assert summary["n_clusters"] == 3
    assert "--clusters 3" in summary["command"]


@pytest.mark.parametrize(
    "command", ["cluster", "compare", "predict", "demo", "reproduce", "datasets"]
)
def test_help_fits_a_terminal(command, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        cli.main([command, "--help"])
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: manyview {command} ")
    assert max(map(len, shown.splitlines())) <= 80


def without(*packages):
    """`find_spec` as if these were not installed."""
    return lambda name: None if name in packages else object()


@pytest.mark.parametrize("command", ["demo", "reproduce"])
def test_commands_that_write_a_report_need_what_it_needs(command, folder, monkeypatch, capsys):
    monkeypatch.setattr(_extras, "find_spec", without("jinja2"))
    assert cli.main([command]) == 2
    assert capsys.readouterr().err == (
        f"manyview: error: manyview {command}: the report needs jinja2: "
        "pip install 'manyview[report]'\n"
    )
    assert list(folder.iterdir()) == []


def test_without_rich_there_are_plain_tables(monkeypatch, capsys):
    monkeypatch.setattr(_terminal, "find_spec", without("rich"))
    _terminal.print_table("Title", ("name", "n"), [["a [b]", "1"], ["c", "234"]], 1, "note")
    lines = ["Title", "name     n", "a [b]    1", "c      234", "note", ""]
    assert capsys.readouterr().out == "\n".join(lines)


def test_without_rich_progress_is_one_line_that_is_cleared(monkeypatch, capsys):
    monkeypatch.setattr(_terminal, "find_spec", without("rich"))
    with _terminal.progress() as show:
        show(1, 3, "reading")
    assert capsys.readouterr().err == ""  # no terminal
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "20")
    with _terminal.activity() as tell, _terminal.progress() as show:
        show(1, 3, "reading")
        tell("a text that is longer than the line")
    shown = [part for part in capsys.readouterr().err.split("\r") if part]
    assert [part.rstrip() for part in shown] == ["1/3 reading", "a text that is long", "", ""]
    assert {len(part) for part in shown} == {19}


def test_version():
    assert run("--version").stdout.strip() == f"manyview {__version__}"
