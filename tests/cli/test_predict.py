"""``manyview predict``, from files to files."""

import csv

import numpy as np
import pandas as pd

from manyview import cli, load_model
from tests.helpers.command import labels_in


def test_predict(files, blobs, tmp_path, capsys):
    words = ["--id", "name"]
    cli.main(["cluster", *files, *words, "--clusters", "3", "--output", "out", "--save-model"])
    known = {row["name"]: row["cluster"] for row in labels_in("out/labels.csv")}
    capsys.readouterr()
    # The model knows views by name, and columns by name in any order; others are ignored.
    frame = pd.read_csv("view2.csv")
    frame.insert(0, "extra", 1.0)
    frame[frame.columns[::-1]].to_csv("new.csv", index=False)
    assert cli.main(["predict", "out/model.zip", "third=new.csv", *words]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert list(rows[0]) == ["name", "cluster", "confidence", "novelty"]
    assert np.mean([row["cluster"] == known[row["name"]] for row in rows]) > 0.95
    assert cli.main(["predict", "out/model.zip", *files, *words, "--output", "new/labels.csv"]) == 0
    assert np.mean([r["cluster"] == known[r["name"]] for r in labels_in("new/labels.csv")]) > 0.99
    assert load_model("out/model.zip").names == ("view0", "view1", "third")


def test_new_tables_in_which_a_view_is_empty(files, capsys):
    words = ["--id", "name"]
    cli.main(["cluster", *files, *words, "--clusters", "3", "--output", "out", "--save-model"])
    frame = pd.read_csv("view0.csv")
    frame.loc[:, frame.columns != "name"] = np.nan
    frame.to_csv("hollow.csv", index=False)
    capsys.readouterr()
    new = ["view0=hollow.csv", "third=view2.csv"]
    assert cli.main(["predict", "out/model.zip", "third=view2.csv", *words]) == 0
    expected = {row["name"]: row for row in csv.DictReader(capsys.readouterr().out.splitlines())}
    shared = frame["name"].isin(list(expected))
    frame[shared].to_csv("hollow.csv", index=False)
    assert cli.main(["predict", "out/model.zip", *new, *words]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    rows = list(csv.DictReader(shown.out.splitlines()))
    assert {row["name"]: row for row in rows} == expected


def test_columns_without_names_give_a_warning(files, capsys):
    words = ["--id", "name"]
    cli.main(["cluster", *files, *words, "--clusters", "3", "--output", "out", "--save-model"])
    frame = pd.read_csv("view0.csv").set_index("name")
    frame.columns = range(frame.shape[1])
    frame.to_csv("numbered.csv")
    capsys.readouterr()
    assert cli.main(["predict", "out/model.zip", "view0=numbered.csv", *words]) == 0
    told = "manyview: warning: columns of view 'view0' have no names; they are taken in the order"
    assert capsys.readouterr().err.startswith(told)


def test_columns_that_the_model_does_not_know_are_ignored_and_named(files, capsys):
    words = ["--id", "name"]
    cli.main(["cluster", *files, *words, "--clusters", "3", "--output", "out", "--save-model"])
    frame = pd.read_csv("view0.csv")
    known = [name for name in frame.columns if name != "name"]
    capsys.readouterr()
    assert cli.main(["predict", "out/model.zip", "view0.csv", *words]) == 0
    expected = capsys.readouterr().out
    # Text, and numbers with empty cells, would be refused in a column that is used.
    frame.assign(note="new", gap=[np.nan, *range(1, len(frame))]).to_csv("more.csv", index=False)
    assert cli.main(["predict", "out/model.zip", "view0=more.csv", *words]) == 0
    shown = capsys.readouterr()
    assert shown.out == expected
    assert "ignored 2 column(s) that the model does not know: 'gap', 'note'" in shown.err
    texts = frame.astype({known[1]: object})
    texts.loc[2, known[1]] = "<0.5"
    texts.drop(columns=known[0]).to_csv("less.csv", index=False)
    assert cli.main(["predict", "out/model.zip", "view0=less.csv", *words]) == 2
    told = f"lacks 2 of the {len(known)} columns of the training samples: {known[0]!r}, "
    told += f"{known[1]!r}; column {known[1]!r} has '<0.5' in row 3;"
    assert told in capsys.readouterr().err
    assert cli.main(["predict", "out/model.zip", "view0.csv"]) == 2
    assert capsys.readouterr().err.endswith("expected --id name\n")
