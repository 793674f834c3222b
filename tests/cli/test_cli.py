"""The command line, run as a user would."""

import pytest

from manyview import __version__, cli
from tests.helpers.command import run


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


def test_a_missing_extra_is_named(monkeypatch, capsys):
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == "rich" else object())
    assert cli.main(["demo"]) == 2
    expected = "manyview: error: rich not installed: pip install 'manyview[cli]'\n"
    assert capsys.readouterr().err == expected


def test_version():
    assert run("--version").stdout.strip() == f"manyview {__version__}"
