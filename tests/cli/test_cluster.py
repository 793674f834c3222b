"""``manyview cluster``, from files to files."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manyview import cli, cluster
from manyview.cli import _extras
from manyview.inputs import SCALING_NAMES
from manyview.metrics import clustering_accuracy
from tests.helpers.command import labels_in, run


def test_from_files_to_labels(files, blobs, tmp_path, capsys):
    words = ["cluster", *files, "--id", "name", "--clusters", "3", "--output", "out"]
    assert cli.main([*words, "--save-model"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""  # no progress where it is not a terminal
    assert "third" in shown.out
    assert (tmp_path / "out" / "report.html").as_uri() in shown.out
    written = {entry.name for entry in (tmp_path / "out").iterdir()}
    assert written == {"labels.csv", "summary.json", "report.html", "model.zip"}
    rows = labels_in("out/labels.csv")
    assert list(rows[0]) == [
        "name", "cluster", "confidence", "stability",
        "disagreement_view0", "disagreement_view1", "disagreement_third",
    ]  # fmt: skip
    target = [blobs.target[int(row["name"][1:])] for row in rows]
    assert clustering_accuracy(target, [int(row["cluster"]) for row in rows]) > 0.95
    assert any(row["disagreement_view1"] == "" for row in rows)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["n_clusters"] == 3
    assert [view["n_samples"] for view in summary["views"]] == [80, 80, 80]
    assert summary["command"].startswith("manyview cluster view0.csv view1.parquet third=view2.csv")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "third=view2.csv --id name" in page
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted(
        ["out", "view0.csv", "view1.parquet", "view2.csv"]
    )


def test_without_what_reports_need(files, tmp_path, monkeypatch, capsys):
    """Everything but the report is written, and one of an earlier run is removed."""
    words = ["cluster", *files, "--id", "name", "--clusters", "3", "--output", "out"]
    assert cli.main(words) == 0
    labels = (tmp_path / "out" / "labels.csv").read_bytes()
    capsys.readouterr()
    missing = ("jinja2", "matplotlib")
    monkeypatch.setattr(_extras, "find_spec", lambda name: None if name in missing else object())
    assert cli.main([*words, "--force"]) == 0
    needs = "Report: not written, needs jinja2 and matplotlib: pip install 'manyview[report]'"
    assert capsys.readouterr().out.splitlines()[-1] == needs
    assert {entry.name for entry in (tmp_path / "out").iterdir()} == {"labels.csv", "summary.json"}
    assert (tmp_path / "out" / "labels.csv").read_bytes() == labels


def test_the_command_in_the_summary_gives_the_same_labels(files, tmp_path):
    import shlex

    cli.main(["cluster", *files, "--id", "name", "--clusters", "3", "--neighbors", "9",
              "--seed", "7", "--output", "one two"])  # fmt: skip
    summary = json.loads((tmp_path / "one two" / "summary.json").read_text())
    first = (tmp_path / "one two" / "labels.csv").read_bytes()
    program, *words = shlex.split(summary["command"])
    assert program == "manyview"
    assert cli.main([*words, "--force"]) == 0
    assert (tmp_path / "one two" / "labels.csv").read_bytes() == first


def test_labels_are_those_of_the_library(blobs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("all.npz", **blobs.views)
    assert cli.main(["cluster", "all.npz"]) == 0
    rows = labels_in("manyview-clusters/labels.csv")
    result = cluster(blobs.views)
    assert [int(row["cluster"]) for row in rows] == result.labels.tolist()
    assert [row["id"] for row in rows[:2]] == ["0", "1"]


@pytest.mark.parametrize("method", ["cigmvc", "gbs", "average", "mgl"])
def test_other_methods(method, blobs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("all.npz", **blobs.views)
    assert cli.main(["cluster", "all.npz", "--clusters", "3", "--method", method]) == 0
    columns = set(labels_in("manyview-clusters/labels.csv")[0])
    assert ("disagreement_view0" in columns) == (method == "cigmvc")


ERRORS = {
    "no such file": (["nowhere.csv"], "nowhere.csv: no such file"),
    "text column": (["view0.csv"], "'name'"),
    "no such id": (["view0.csv", "--id", "who"], "who"),
    "clusters": (["view0.csv", "--id", "name", "--clusters", "x"], "--clusters x; expected a"),
    "no clusters": (["view0.csv", "--id", "name", "--clusters", "0"], "--clusters 0; expected"),
    "many clusters": (["view0.csv", "--id", "name", "--clusters", "81"], "there are 80 samples"),
    "neighbors": (["view0.csv", "--id", "name", "--neighbors", "79"], "--neighbors 79, but view"),
    "seed": (["view0.csv", "--id", "name", "--seed", "-1"], "--seed -1; expected an integer"),
    "same name": (["a=view0.csv", "a=view2.csv", "--id", "name"], "a"),
    "method": (["view0.csv", "--method", "dbscan"], "invalid choice: 'dbscan'"),
    "no neighbors": (
        ["view0.csv", "--method", "kmeans", "--clusters", "3", "--neighbors", "9"],
        "--neighbors with --method kmeans; expected one of consensus, ",
    ),
    "no checkpoint": (
        ["view0.csv", "--method", "snf", "--checkpoint", "x"],
        "--checkpoint with --method snf; expected one of consensus, ",
    ),
    "no suggestion": (
        ["view0.csv", "--id", "name", "--method", "kmeans"],
        "--clusters auto, but this method can't suggest a number",
    ),
    "incomplete": (
        ["view0.csv", "view2.csv", "--id", "name", "--method", "mgl", "--clusters", "3"],
        "expected complete views for MGL",
    ),
    "no model": (
        ["predict", "view0.csv", "view0.csv", "--id", "name"],
        "not a complete manyview model",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_one_line_and_exit_code_2(case, files, tmp_path, capsys):
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}
    words, message = ERRORS[case]
    command = words if words[0] == "predict" else ["cluster", *words]
    try:
        code = cli.main(command)
    except SystemExit as stop:  # of argparse
        code = stop.code
    shown = capsys.readouterr()
    assert code == 2
    last = shown.err.splitlines()[-1]
    assert last.startswith("manyview")
    assert message in last
    assert "Traceback" not in shown.err
    assert shown.err.count("\n") == 1
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before


def test_where_outputs_go(files, tmp_path, capsys):
    words = ["cluster", *files, "--id", "name", "--clusters", "3", "--output"]
    outputs = ["labels.csv", "report.html", "summary.json"]
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert cli.main([*words, "link"]) == 0
    assert sorted(entry.name for entry in (tmp_path / "real").iterdir()) == outputs
    assert cli.main([*words, "a/b/c"]) == 0
    assert sorted(entry.name for entry in (tmp_path / "a" / "b" / "c").iterdir()) == outputs
    (tmp_path / "dangling").symlink_to("nowhere")
    capsys.readouterr()
    for place, named in (("dangling", "dangling"), ("view0.csv/sub", "view0.csv")):
        assert cli.main([*words, place]) == 2
        assert f"{named} is no folder; expected a folder" in capsys.readouterr().err


def test_existing_files_are_not_overwritten(files, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "labels.csv").write_text("precious")
    (tmp_path / "out" / "mine.txt").write_text("mine")
    words = ["cluster", *files, "--id", "name", "--clusters", "3", "--output", "out"]
    assert cli.main(words) == 2
    assert "labels.csv exists already" in capsys.readouterr().err
    assert (tmp_path / "out" / "labels.csv").read_text() == "precious"
    assert cli.main([*words, "--force"]) == 0
    assert {entry.name for entry in (tmp_path / "out").iterdir()} == {
        "labels.csv", "summary.json", "report.html", "mine.txt",
    }  # fmt: skip
    assert cli.main(["cluster", *files, "--id", "name", "--output", "view0.csv"]) == 2
    assert "view0.csv is no folder; expected a folder" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_found_before_the_work(files, tmp_path, capsys):
    (tmp_path / "locked").mkdir(mode=0o555)
    words = ["cluster", *files, "--id", "name", "--output", "locked/out"]
    assert cli.main(words) == 2
    assert "locked" in capsys.readouterr().err


def test_warnings_are_lines(files, blobs, tmp_path, capsys):
    frame = pd.read_csv("view0.csv")
    frame.loc[:, frame.columns != "name"] = 1.0
    frame.to_csv("flat.csv", index=False)
    words = ["cluster", *files, "flat.csv", "--id", "name", "--clusters", "3", "--output", "out"]
    assert cli.main(words) == 0
    shown = capsys.readouterr().err
    assert shown.startswith("manyview: warning: view 'flat' has no information about any sample")
    assert shown.count("\n") == 1
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert "view 'flat' has no information" in summary["warnings"][0]


def test_odd_names(blobs, tmp_path):
    """Names with characters that are special in shells, terminals and pages."""
    odd = "<script>alert(1)</script> [/b] $x$ ü"
    np.save(tmp_path / "a b.npy", next(iter(blobs.views.values())))
    done = run("cluster", f"{odd}=a b.npy", "--clusters", "3", "--output", "o", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    page = (tmp_path / "o" / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    head = (tmp_path / "o" / "labels.csv").read_text(encoding="utf-8").splitlines()[0]
    assert head == "id,cluster,confidence,stability"  # one view has none to disagree with
    assert "isagreement" not in done.stdout
    assert "isagreement" not in re.sub("<(s(?:cript|tyle)).*?</\\1>", "", page, flags=re.S)


def test_scaling(files, tmp_path, capsys):
    words = ["cluster", *files, "--id", "name", "--clusters", "3", "--output", "out"]
    assert cli.main([*words, "--scaling", "view0=none", "third=unit"]) == 0
    assert "scaling" in capsys.readouterr().out
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [view["scaling"] for view in summary["views"]] == ["none", "standard", "unit"]
    assert "--scaling view0=none third=unit" in summary["command"]
    assert "each sample: length 1" in (tmp_path / "out" / "report.html").read_text()
    for given, expected in (
        (["l1"], "--scaling l1; expected one of 'auto', 'paper'"),
        (["fourth=unit"], "scaling has view 'fourth'; expected some of view0, view1, third"),
        (["unit", "view0=none"], "--scaling unit; expected VIEW=NAME if there are several"),
    ):
        assert cli.main([*words, "--force", "--scaling", *given]) == 2
        assert expected in capsys.readouterr().err


def test_the_help_lists_all_scalings(capsys):
    with pytest.raises(SystemExit):
        cli.main(["cluster", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    names = ", ".join(SCALING_NAMES[:-1]) + f" or {SCALING_NAMES[-1]}"
    assert names in shown


def test_columns_that_are_left_out_are_listed(files, tmp_path, capsys):
    frame = pd.read_csv("view0.csv", dtype=str)
    frame.loc[4, "f1"] = "<0.5"
    frame.loc[7, "f0"] = ""
    frame.insert(0, "site", ["Oslo", "Rome"] * 40)
    frame.to_csv("blood.csv", index=False)
    words = ["cluster", "blood.csv@name", *files[1:], "--id", "name", "--output", "out"]
    words += ["--clusters", "3"]
    assert cli.main([*words, "--drop-non-numeric"]) == 2
    assert "--impute" in capsys.readouterr().err
    assert cli.main([*words, "--drop-non-numeric", "--impute", "median"]) == 0
    shown = capsys.readouterr()
    assert "'site' has 'Oslo' in row 1; 'f1' has '<0.5' in row 5. Texts that" in shown.err
    assert "Empty cells filled with medians: 1" in shown.out
    view = json.loads((tmp_path / "out" / "summary.json").read_text())["views"][0]
    assert [one["column"] for one in view["dropped_columns"]] == ["site", "f1"]
    assert view["dropped_columns"][1] | {"reason": ""} == {
        "column": "f1", "reason": "", "row": 5, "value": "<0.5",
    }  # fmt: skip
    assert view["imputed_cells"] == 1
    # Sites are shared by samples, so they are metadata; nearly every value of f1 is another one.
    assert shown_metadata("out/report.html") == ["site"]


def shown_metadata(path):
    """Names of the columns of metadata on a page."""
    pattern = r'"name": ?"([^"]*)", ?"csv": ?"[^"]*", ?"group": ?"metadata"'
    with open(path, encoding="utf-8") as stream:
        return [json.loads(f'"{name}"') for name in re.findall(pattern, stream.read())]


def test_metadata_is_read_with_the_options_of_views(files):
    frame = pd.DataFrame({"name": [f"s{i}" for i in range(90)], "größe": ["1", "?"] * 45})
    frame.to_csv("m.csv", index=False, encoding="latin-1")
    words = ["--id", "name", "-k", "3", "--metadata", "m.csv", "--encoding", "latin-1"]
    assert cli.main(["cluster", files[0], *words, "--na-values", "?"]) == 0
    assert shown_metadata("manyview-clusters/report.html") == ["größe"]
    assert cli.main(["cluster", files[1], *words, "--force"]) == 0  # the option is for m.csv


def test_categories_and_medians_from_training_to_new_samples(blobs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(blobs.views["view0"]).add_prefix("f").round(6).astype(str)
    frame.insert(0, "kind", np.array(["u", "v", "w"])[blobs.target])
    frame.loc[3, "f0"] = "?"
    frame.to_csv("a.csv", index=False)
    words = ["--impute", "median", "--na-values", "?"]
    train = ["cluster", "a.csv", "--clusters", "3", "--save-model", "--categorical", "kind"]
    assert cli.main([*train, *words]) == 0
    known = [row["cluster"] for row in labels_in("manyview-clusters/labels.csv")]
    frame.loc[5, "kind"] = "other"
    frame.loc[6, "f1"] = "?"
    frame.to_csv("a.csv", index=False)
    capsys.readouterr()
    predict = ["predict", "manyview-clusters/model.zip", "a.csv", "--output", "new.csv", "--force"]
    assert cli.main([*predict, *words]) == 0
    assert "1 cell(s) of column 'kind' have categories that no" in capsys.readouterr().err
    found = [row["cluster"] for row in labels_in("new.csv")]
    assert np.mean(np.array(found) == known) > 0.97
    assert cli.main([*predict, "--na-values", "?"]) == 2
    assert "--impute" in capsys.readouterr().err
    assert cli.main([*predict, *words, "--drop", "kind"]) == 2
    assert "is to be dropped and used" in capsys.readouterr().err


def test_a_decimal_comma_is_recognised(folder, capsys):
    Path("european.csv").write_text("a;b\n" + "0,25;1\n1,5;2\n" * 20)
    assert cli.main(["cluster", "european.csv", "-k", "2"]) == 2
    assert "say --decimal , for decimal commas" in capsys.readouterr().err
    Path("thousands.csv").write_text("a;b\n" + "1,250;1\n1,500;2\n" * 20)
    assert cli.main(["cluster", "thousands.csv", "-k", "2"]) == 2
    assert "--decimal ," not in capsys.readouterr().err
