"""Text tables in compressed files and archives, and from standard input."""

import bz2
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from manyview.inputs.files import read_views
from tests.helpers.table_files import COMPRESS, X, pd, read, write

pytest.importorskip("pyarrow")

ROWS = [(i, i / 7) for i in range(300_000)]  # more than a block
TEXT = ("a,b\n" + "".join(f"{a},{b!r}\n" for a, b in ROWS)).encode()


@pytest.mark.parametrize("end", COMPRESS)
def test_compressed_text_is_that_of_the_plain_file(folder, end):
    write(f"x.csv{end}", COMPRESS[end](TEXT))
    table = read(f"x.csv{end}")
    assert (table.name, table.features) == ("x", ("a", "b"))
    np.testing.assert_array_equal(table.matrix, ROWS)


@pytest.mark.parametrize("end", COMPRESS)
def test_one_column_whose_blank_lines_count(folder, end):
    write(f"x.txt{end}", COMPRESS[end](b"a\n1\n\n3\n\n\n"))
    np.testing.assert_array_equal(read(f"x.txt{end}").matrix, [[1], [np.nan], [3]])


def test_streams_after_each_other(folder):
    """As pbzip2 writes them."""
    write("x.csv.bz2", bz2.compress(TEXT[:1000]) + bz2.compress(TEXT[1000:]))
    np.testing.assert_array_equal(read("x.csv.bz2").matrix, ROWS)


def archive(path, method=zipfile.ZIP_DEFLATED, **members):
    with zipfile.ZipFile(path, "w", method) as opened:
        for name, content in members.items():
            opened.writestr(name, content)


def test_the_only_file_of_an_archive(folder):
    archive("x.zip", **{"in/t.tsv": "a\tb\n1\t2\n", "__MACOSX/in/._t.tsv": "?", "in/": ""})
    assert read("x.zip").name == "x"
    np.testing.assert_array_equal(read("x.zip").matrix, [[1, 2]])
    archive("x.zip", **{"a.csv": "1", "b.csv": "1"})
    with pytest.raises(ValueError, match=r"x.zip has 2 files \('a.csv', 'b.csv'\); expected one"):
        read("x.zip")
    archive("x.zip", x="a,b\n1,2\n")  # as pandas writes it
    np.testing.assert_array_equal(read("x.zip").matrix, [[1, 2]])
    archive("x.zip", **{"a.exe": "1"})
    with pytest.raises(ValueError, match=r"x.zip has a file 'a.exe'; expected one of .csv"):
        read("x.zip")
    archive("x.zip")
    with pytest.raises(ValueError, match=r"x.zip has 0 files"):
        read("x.zip")
    archive("x.zip", zipfile.ZIP_LZMA, **{"a.csv": "1"})
    with pytest.raises(ValueError, match=r"x.zip: 'a.csv' is compressed in an unusual way"):
        read("x.zip")


def test_an_archive_with_a_password(folder):
    write("x.zip", COMPRESS[".zip"](b"a\n1\n"))
    content = bytearray(Path("x.zip").read_bytes())
    for start in (b"PK\x03\x04", b"PK\x01\x02"):
        at = content.index(start) + (6 if start.endswith(b"\x04") else 8)
        content[at] |= 1
    write("x.zip", bytes(content))
    with pytest.raises(ValueError, match=r"x.zip: 'in/table.csv' is encrypted"):
        read("x.zip")


def piped(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_standard_input(folder, monkeypatch):
    pd.DataFrame(X).to_parquet("x.parquet")
    for spec, name in (("-", "stdin"), ("n=-", "n")):
        piped(monkeypatch, TEXT)
        table, _ = read_views([spec, "x.parquet"])
        assert table.name == name
        np.testing.assert_array_equal(table.matrix, ROWS)
    piped(monkeypatch, b"a,b\n1,x\n")
    with pytest.raises(ValueError, match=r"^standard input: .* column 'b' has 'x' in row 1"):
        read("-")
    piped(monkeypatch, b"")
    with pytest.raises(ValueError, match=r"^standard input is empty"):
        read("-")
    with pytest.raises(ValueError, match=r"standard input was asked for twice"):
        read_views(["a=-", "b=-"])
