"""``manyview compare``, from files to files."""

import csv
import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manyview import cli
from manyview.cli import _extras
from tests.helpers.command import labels_in

OUTPUTS = ["comparison.csv", "comparison.html", "labels.csv", "summary.json"]


@pytest.fixture
def kinds(files, blobs):
    """Classes in a file of their own, in another order, some not known."""
    frame = pd.DataFrame({"name": [f"s{i}" for i in range(90)], "kind": blobs.target})
    frame["kind"] = frame["kind"].map({0: "apple", 1: "pear", 2: "plum"})
    frame.loc[::10, "kind"] = None
    frame.iloc[::-1].to_csv("kinds.csv", index=False)
    return "kinds.csv:kind"


def test_from_files_to_a_comparison(files, kinds, tmp_path, capsys):
    words = ["compare", *files, "--id", "name", "--clusters", "2", "3", "--classes", kinds]
    words += ["--methods", "average", "gbs", "mgl", "--output", "out"]
    assert cli.main(words) == 0
    shown = capsys.readouterr()
    assert "4 clusterings of 90 samples" in shown.out
    assert "mgl, 2; mgl, 3 failed: view 'view" in shown.err  # it needs complete views
    assert shown.err.count("\n") == 1
    assert sorted(entry.name for entry in (tmp_path / "out").iterdir()) == OUTPUTS
    with open("out/comparison.csv", newline="") as stream:
        rows = {row["title"]: row for row in csv.DictReader(stream)}
    assert float(rows["average, 3"]["ACC"]) > 0.95 > float(rows["average, 2"]["ACC"])
    assert rows["mgl, 3"]["ACC"] == ""
    labels = labels_in("out/labels.csv")
    assert list(labels[0])[1:] == ["average, 2", "average, 3", "gbs, 2", "gbs, 3"]
    assert len(labels) == 90
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    before = (tmp_path / "out" / "labels.csv").read_bytes()
    assert cli.main([*shlex.split(summary["command"])[1:], "--force"]) == 0
    assert (tmp_path / "out" / "labels.csv").read_bytes() == before


ERRORS = {
    "classes without a column": (["--classes", "kinds.csv"], "expected kinds.csv:COLUMN with one"),
    "no such column": (["--classes", "kinds.csv:sort"], "kinds.csv has no column 'sort'"),
    "no such file": (["--classes", "nowhere.csv:kind"], "nowhere.csv"),
    "classes in no table": (["--classes", "classes.npy:f0"], "classes.npy is no table"),
    "classes among features": (["--classes", "view0.csv:f0"], "has the classes, 'f0', among"),
    "method": (["--methods", "magic"], "invalid choice: 'magic'"),
    "clusters": (["--clusters", "3", "many"], "--clusters many; expected a number"),
    "subsamples": (["--subsamples", "-1"], "--subsamples -1; expected"),
    "all fail": (["--methods", "mgl"], "no method could cluster these samples; mgl: view"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_one_line_and_exit_code_2(case, files, kinds, tmp_path, capsys):
    np.save("classes.npy", np.eye(2))
    before = sorted(entry.name for entry in tmp_path.iterdir())
    words, message = ERRORS[case]
    try:
        code = cli.main(["compare", *files, "--id", "name", "--clusters", "3", *words])
    except SystemExit as stop:  # of argparse
        code = stop.code
    shown = capsys.readouterr()
    assert code == 2
    assert message in shown.err
    assert shown.err.count("\n") == 1
    assert sorted(entry.name for entry in tmp_path.iterdir()) == before


def test_existing_files_are_not_overwritten(files, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "labels.csv").write_text("precious")
    assert cli.main(["compare", *files, "--id", "name", "--output", "out"]) == 2
    assert "labels.csv exists already" in capsys.readouterr().err
    assert (tmp_path / "out" / "labels.csv").read_text() == "precious"


def test_options_of_reading_are_for_the_classes_too(files, kinds, capsys):
    frame = pd.read_csv("kinds.csv").rename(columns={"kind": "größe"})
    text = frame.replace("apple", "öre").to_csv(index=False)
    Path("kinds.csv").write_text("# of 2020\n" + text, encoding="latin-1")
    words = ["compare", files[1], "--id", "name", "-k", "3", "--methods", "average"]
    words += ["--classes", "kinds.csv:größe", "--encoding", "latin-1", "--comment", "#"]
    # Classes may be a column that views leave out.
    view = pd.read_csv("view2.csv").assign(größe="pear")
    view.to_csv("views.csv", index=False, encoding="latin-1")
    words[1] = "views.csv"
    assert cli.main([*words, "--drop", "größe"]) == 0
    assert "ACC" in capsys.readouterr().out


def test_classes_without_ids_of_samples_with_ids_are_refused(files, kinds, capsys):
    words = ["compare", f"{files[1]}@name", "-k", "3", "--methods", "average"]
    assert cli.main([*words, "--classes", "kinds.csv:kind"]) == 2
    error = capsys.readouterr().err
    assert "--classes kinds.csv:kind has no ids, but the samples have; expected" in error
    assert "kinds.csv:kind@IDS" in error
    assert cli.main([*words, "--classes", "kinds.csv:kind@name"]) == 0


def test_columns_that_are_left_out_are_listed(files, capsys):
    frame = pd.read_csv("view0.csv")
    frame.insert(0, "site", "Oslo")
    frame.to_csv("view0.csv", index=False)
    words = ["compare", "view0.csv", "--id", "name", "-k", "3", "--methods", "average"]
    assert cli.main([*words, "--drop-non-numeric"]) == 0
    assert "view 'view0': left out 1 column(s) that are not numeric: 'site'" in (
        capsys.readouterr().err
    )


def test_only_the_page_needs_an_extra(files, tmp_path, monkeypatch, capsys):
    words = ["compare", files[0], "--id", "name", "-k", "3", "--methods", "average"]
    assert cli.main([*words, "--output", "out"]) == 0
    monkeypatch.setattr(_extras, "find_spec", lambda package: None)
    assert cli.main([*words, "--output", "out", "--force"]) == 0
    shown = capsys.readouterr().out
    assert "Page: not written, needs jinja2 and matplotlib: pip install 'manyview[report]'" in shown
    written = sorted(entry.name for entry in (tmp_path / "out").iterdir())
    assert written == [name for name in OUTPUTS if name != "comparison.html"]
