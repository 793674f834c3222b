"""``manyview datasets``."""

from tests.helpers.command import run


def test_datasets_are_listed(tmp_path):
    (tmp_path / "BBC.mat").write_bytes(b"something")
    done = run("datasets", "--data-home", tmp_path)
    assert done.returncode == 0
    lines = {line.split("│")[1].strip(): line for line in done.stdout.splitlines() if "│" in line}
    assert {"BBC", "NGs", "WebKB", "100leaves", "3Sources", "BBCSport", "HW"} <= set(lines)
    assert lines["BBC"].split("│")[2].strip() == "wrong file"
    assert lines["NGs"].split("│")[2].strip() == "no"
