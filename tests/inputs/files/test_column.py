"""One column of a text file."""

import io
import sys
from pathlib import Path

import pytest

from manyview.inputs.files import read_column
from tests.helpers.table_files import COMPRESS

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
    assert read_column(f"{path}:b") == (path, "b", ["x", None, "z"])
    assert read_column(f"{path}:b", "a")[2] == {"1": "x", "2": None, "3": "z"}


def test_a_column_of_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,x\n")))
    assert read_column("-:b@a")[2] == {"1": "x"}


def test_one_column_keeps_its_empty_cells(folder):
    Path("y.csv").write_text("kind\nx\n\nz\n\n")
    assert read_column("y.csv:kind")[2] == ["x", None, "z"]
    Path("y.txt").write_text("1\n2\n2\n")
    assert read_column("y.txt:0")[2] == ["1", "2", "2"]


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
        read_column("f.csv:b")


def test_rows_without_an_id_are_refused(folder):
    Path("f.csv").write_text("a,b\n1,x\n,y\n")
    with pytest.raises(ValueError, match=r"f\.csv has no id in row 2"):
        read_column("f.csv:b", "a")
