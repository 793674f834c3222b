"""Files with what is known of samples beside the views."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from manyview.inputs import align
from manyview.inputs.files import ReadOptions, read_column, read_metadata, read_views
from tests.helpers.table_files import COMPRESS, pd, write

PLAIN = ReadOptions()

TEXTS = {
    "plain": "a,b\n1,x\n2,\n3,z\n",
    "quoted": '"a","b"\n1,"x"\n2,NA\n3,"z"\n',
    "semicolons and spaces": "a; b\n1; x\n2;\n3;z \n",
    "Windows": "\ufeffa,b\r\n1,x\r\n2,\r\n3,z\r\n\r\n",
    "blank start": "\n\na,b\n1,x\n2,\n3,z\n",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("ending", ["", *COMPRESS])
def test_cells_of_a_column(name, ending, folder):
    path = Path(f"file.csv{ending}")
    content = TEXTS[name].encode()
    path.write_bytes(COMPRESS[ending](content) if ending else content)
    assert read_column(f"{path}:b", PLAIN) == (path, "b", ["x", None, "z"])
    assert read_column(f"{path}:b", ReadOptions("a"))[2] == {"1": "x", "2": None, "3": "z"}


def test_a_column_of_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,x\n")))
    assert read_column("-:b@a", PLAIN)[2] == {"1": "x"}


def test_one_column_keeps_its_empty_cells(folder):
    Path("y.csv").write_text("kind\nx\n\nz\n\n")
    assert read_column("y.csv:kind", PLAIN)[2] == ["x", None, "z"]
    Path("y.txt").write_text("1\n2\n2\n")
    assert read_column("y.txt:0", PLAIN)[2] == ["1", "2", "2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1,x\n2\n", "row 2 has 1 fields; expected 2"),
        (b"a,b\n1,\xff\n", "f.csv"),
        (b"", "f.csv is an empty file"),
        (b"a,b\n", "no rows"),
        (b"a,c\n1,2\n", "f.csv has no column 'b'; expected f.csv:COLUMN with one of 'a', 'c'"),
    ],
)
def test_damaged_files(content, message, folder):
    Path("f.csv").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_column("f.csv:b", PLAIN)


def test_rows_without_an_id_are_refused(folder):
    Path("f.csv").write_text("a,b\n1,x\n,y\n")
    with pytest.raises(ValueError, match=r"f\.csv has no id in row 2"):
        read_column("f.csv:b", ReadOptions("a"))


def test_columns_of_metadata_are_numbers_or_texts(folder):
    write("m.csv", "id;age;kind\n007;3;x\n8;;\n")
    table = read_metadata("m.csv", ReadOptions("id"))
    assert table.index == ("007", "8")
    np.testing.assert_array_equal(table["age"], [3, np.nan])
    assert table["kind"].tolist() == ["x", None]
    assert read_metadata("m.csv@id", PLAIN).columns == ["age", "kind"]
    with pytest.raises(ValueError, match="no column 'cell' for the ids"):
        read_metadata("m.csv@cell", ReadOptions("id"))


def test_text_is_read_with_the_options_of_views_and_without_an_extra(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    write("m.csv", "# of 2020\nStadt;Größe\nKöln;?\nBonn;1,5\n".encode("latin-1"))
    options = ReadOptions(encoding="latin-1", comment="#", na_values=("?",), decimal=",")
    table = read_metadata("m.csv", options)
    assert table["Stadt"].tolist() == ["Köln", "Bonn"]
    np.testing.assert_array_equal(table["Größe"], [np.nan, 1.5])
    assert read_column("m.csv:Stadt", options)[2] == ["Köln", "Bonn"]


@pytest.mark.parametrize("kind", ["parquet", "feather", "xlsx", "folder"])
def test_metadata_in_other_files(kind, folder):
    frame = pd.DataFrame({"id": ["u", "v"], "day": pd.to_datetime(["2020-01-02", None])})
    frame["city"], frame["age"] = ["Oslo", None], [None, 3.5]
    path = f"m.{kind}"
    if kind == "xlsx":
        frame.to_excel(path, index=False)
    elif kind == "feather":
        frame.to_feather(path)
    else:
        if kind == "folder":
            Path(path).mkdir()
        frame.to_parquet(f"{path}/1.parquet" if kind == "folder" else path)
    table = read_metadata(f"{path}@id", PLAIN)
    assert table.index == ("u", "v")
    np.testing.assert_array_equal(table["age"], [np.nan, 3.5])
    assert table["city"].tolist() == ["Oslo", None]
    assert table["day"].tolist() == [table["day"][0], None]
    assert table["day"][0].startswith("2020-01-02")


def test_one_table_is_metadata(folder):
    np.save("m.npy", np.eye(3))
    with pytest.raises(ValueError, match=r"m\.npy is no table; expected a file of \.csv"):
        read_metadata("m.npy", PLAIN)
    with pd.ExcelWriter("m.xlsx") as writer:
        for sheet in ("one", "two"):
            pd.DataFrame({"a": [1]}).to_excel(writer, sheet_name=sheet, index=False)
    with pytest.raises(ValueError, match=r"m\.xlsx has 2 sheets; expected one, chosen as m\.xlsx:"):
        read_metadata("m.xlsx", PLAIN)
    assert read_metadata("m.xlsx:two", PLAIN).columns == ["a"]


@pytest.mark.parametrize("n_before", [0, 300_000])  # in the first or in a later block of rows
def test_columns_left_out_as_text_are_kept_beside_the_views(folder, n_before):
    before = "".join(f"{i},Oslo,1,2\n" for i in range(n_before))
    write("x.csv", f"id,city,crp,a\n{before}u,Oslo,2,3\nv,,<3,4\n")
    write("y.csv", "id,a,city,kind\nv,1,Rome,x\n")
    names = {"id_column": "id", "drop": ["kind"], "drop_non_numeric": True}
    tables = align(read_views(["x.csv", "y.csv"], **names))
    assert list(tables.texts) == ["city", "crp", "y.city"]
    assert tables.texts["city"] == ["Oslo"] * (n_before + 1) + [None]
    assert tables.texts["crp"][-2:] == ["2", "<3"]
    assert tables.texts["y.city"] == [None] * (n_before + 1) + ["Rome"]


def test_row_numbers_and_lists_are_not_kept(folder):
    write("x.csv", ",a\nu,1\nv,2\n")
    pd.DataFrame({"a": [1, 2], "b": [[1.0], [2.0]]}, index=["u", "v"]).to_parquet("y.parquet")
    for table in read_views(["x.csv", "y.parquet"], drop_non_numeric=True):
        assert table.preparation.dropped
        assert not table.texts
