"""Small files that would fill the memory.

Each function of `BOMBS` writes one into the current folder, and returns its name, whether it is to
be read with ids, and what the error must say.
"""

import gzip
import io
import os
import re
import struct
import zipfile
from functools import partial

import numpy as np
import pytest
from numpy.lib import format as npy

from tests.helpers.damaged_files import saved
from tests.helpers.hostile_hdf5 import (
    long_names,
    many_chunks,
    many_names,
    nothing_in_huge_chunks,
    nothing_of_huge_shape,
    sparse_hdf5_of_many_columns,
    unfolding_chunk,
)
from tests.helpers.hostile_limits import LIMIT, MANY, MEMORY, MILLION
from tests.helpers.hostile_mat import (
    cells_in_cells,
    deep_cells,
    many_cells,
    many_letters,
    many_numbers,
    many_structures,
    old_mat,
    old_sparse_mat,
    sparse_mat_of_many_rows,
    unfolding_mat,
)
from tests.helpers.table_files import COMPRESS, X, write

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def _header(shape, dtype="<f8"):
    stream = io.BytesIO()
    entries = {"descr": dtype, "fortran_order": False, "shape": shape}
    npy.write_array_header_1_0(stream, entries)
    return stream.getvalue()


def _millions(name, opened, start, piece):
    """A file of `start` and many millions of bytes of the same piece."""
    block = piece * (MILLION // len(piece))
    with opened(name) as stream:
        stream.write(start)
        for _ in range(MANY):
            stream.write(block)
    return name


def _zipped_text(name, start, piece):
    return _millions(name, partial(gzip.open, mode="wb", compresslevel=1), start, piece)


def _archive(name, start, piece, method=zipfile.ZIP_DEFLATED, **others):
    """An archive of a large array `x` and others."""
    with zipfile.ZipFile(name, "w", method) as archive:
        for other, content in others.items():
            archive.writestr(f"{other}.npy", content)
        _millions("x.npy", partial(archive.open, mode="w"), start, piece)
    return name


# Text


def long_line():
    return _zipped_text("x.csv.gz", b"a", b"a"), "tables", "characters in a line"


def long_second_line():
    return _zipped_text("x.csv.gz", b"a\n", b"1"), "tables", "row is longer than"


def row_of_many_lines():
    return _zipped_text("x.csv.gz", b"a,b\n", b'"\n",'), "tables", "row is longer than"


def many_rows():
    row = b",".join([b"1"] * 50) + b"\n"
    return _zipped_text("x.csv.gz", row, row), "tables", MEMORY


def many_ids():
    return _zipped_text("x.csv.gz", b"id,b\n", b"sample,2\n"), "ids", MEMORY


def many_columns():
    return write("x.csv", b"a," * 100_000), "tables", f"columns {MEMORY}"


def blank_lines():
    return _zipped_text("x.csv.gz", b"\n", b"\n"), "tables", "starts with .* blank lines"


def many_rows_in(end):
    """Text that unfolds, however it is compressed."""
    row = b",".join([b"1"] * 50) + b"\n"
    text = row * (MANY * MILLION // len(row))
    return write(f"x.csv{end}", COMPRESS[end](text)), "tables", MEMORY


many_rows_in_zst, many_rows_in_zip = (partial(many_rows_in, end) for end in (".zst", ".zip"))


def unfolding_sheet():
    import openpyxl

    openpyxl.Workbook().save("x.xlsx")
    with zipfile.ZipFile("x.xlsx") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = members.pop("xl/worksheets/sheet1.xml")
    start, end = re.split(rb"<sheetData ?/>|<sheetData></sheetData>", sheet)
    with zipfile.ZipFile("x.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        cell = b'<row><c t="str"><v>' + b"a" * (MANY * MILLION) + b"</v></c></row>"
        archive.writestr(
            "xl/worksheets/sheet1.xml", start + b"<sheetData>" + cell + b"</sheetData>" + end
        )
    return "x.xlsx", "tables", LIMIT


def unfolding_feather():
    from pyarrow import feather

    table = pa.table({"x": np.zeros(MANY * MILLION // 8)})
    feather.write_feather(table, "x.feather", compression="zstd", chunksize=10**9)
    return "x.feather", "tables", f"{LIMIT}|{MEMORY}"


def long_market():
    return _zipped_text("x.mtx.gz", b"%%Matrix", b"%"), "tables", LIMIT


def long_market_numbers():
    start = b"%%MatrixMarket matrix array real general\n2 1\n1\n"
    return _zipped_text("x.mtx.gz", start, b"1"), "tables", LIMIT


def _market(text):
    return write("x.mtx", f"%%MatrixMarket matrix {text}\n")


def market_of_many_rows():
    text = "coordinate real general\n99999999999 2 1\n1 1 1"
    return _market(text), "tables", MEMORY


def market_of_many_columns():
    text = "coordinate real general\n2 999999999 1\n1 1 1"
    return _market(text), "tables", MEMORY


def market_of_many_entries():
    return _market("coordinate real general\n2 2 999999999\n1 1 1"), "tables", "line of sizes says"


def symmetric_market():
    return _market("array real symmetric\n999999 999999\n1"), "tables", "line of sizes says"


# Arrays


def huge_array():
    content = _header((10**6, 10**6)) + bytes(800)
    return write("x.npy", content), "tables", "not a readable NPY"


def array_of_small_numbers():
    """A file with a hole: it is long, and takes no space on the disk."""
    name = write("x.npy", _header((10**5, 10**4), "|i1"))
    os.truncate(name, os.path.getsize(name) + 10**9)
    return name, "tables", MEMORY


def unfolding_array():
    start = _header((MANY * MILLION // 800, 100))
    return _archive("x.npz", start, bytes(1000)), "tables", MEMORY


def lying_array():
    write("x.npz", saved(np.savez, x=X))
    with zipfile.ZipFile("x.npz", "w") as archive:
        archive.writestr("x.npy", _header((10**6, 10**6)) + bytes(800))
    return "x.npz", "tables", "array 'x' of shape"


def array_unfolding_without_limit():
    """`zipfile` decompresses bzip2 without a limit."""
    start = _header((MANY * MILLION // 800, 100))
    name = _archive("x.npz", start, bytes(1000), zipfile.ZIP_BZIP2)
    return name, "tables", "compressed in an unusual way"


def long_header():
    start = b"\x93NUMPY\x02\x00" + struct.pack("<I", MANY * MILLION)
    return _archive("x.npz", start, b" "), "tables", "not a readable NPZ"


def ids_of_no_bytes():
    with zipfile.ZipFile("x.npz", "w") as archive:
        archive.writestr("x.npy", saved(np.save, X))
        archive.writestr("id.npy", _header((10**12,), "|S0"))
    return "x.npz", "ids", "array 'id' of shape"


def sparse_of_many_rows():
    shape = (10**11, 2)
    np.savez("x.npz", format=b"coo", shape=shape, data=[1.0], row=[0], col=[0])
    return "x.npz", "tables", MEMORY


def sparse_of_many_columns():
    shape, indptr = (2, 10**11), [0, 1, 1]
    np.savez("x.npz", format=b"csr", shape=shape, data=[1.0], indices=[0], indptr=indptr)
    return "x.npz", "tables", MEMORY


# Columns


def parquet_of_many_rows():
    column = pa.nulls(2 * 10**7, pa.int8())
    pq.write_table(pa.table({"x": column}), "x.parquet")
    return "x.parquet", "tables", f"rows .* declared to be there, {MEMORY}"


def parquet_of_long_ids():
    text = pa.array(["a" * MILLION])
    ids = pa.DictionaryArray.from_arrays(pa.array(np.zeros(400, np.int32)), text)
    pq.write_table(pa.table({"id": ids, "x": np.zeros(400)}), "x.parquet")
    return "x.parquet", "ids", f"column 'id' {MEMORY}"


_BOMBS = [long_line, long_second_line, row_of_many_lines, many_rows, many_ids, many_columns]
_BOMBS += [
    blank_lines,
    long_market,
    long_market_numbers,
    market_of_many_rows,
    market_of_many_columns,
]
_BOMBS += [market_of_many_entries, symmetric_market, huge_array, array_of_small_numbers]
_BOMBS += [unfolding_array, lying_array, array_unfolding_without_limit, long_header]
_BOMBS += [ids_of_no_bytes, sparse_of_many_rows, sparse_of_many_columns, many_cells, cells_in_cells]
_BOMBS += [deep_cells, many_structures, many_numbers, many_letters, sparse_mat_of_many_rows]
_BOMBS += [unfolding_mat, old_mat, old_sparse_mat, parquet_of_many_rows, parquet_of_long_ids]
_BOMBS += [nothing_of_huge_shape, nothing_in_huge_chunks, sparse_hdf5_of_many_columns, many_names]
_BOMBS += [long_names, unfolding_chunk, many_chunks, unfolding_sheet, unfolding_feather]
BOMBS = {bomb.__name__.replace("_", " "): bomb for bomb in _BOMBS}
BOMBS |= {
    "many rows in zst": many_rows_in_zst,
    "many rows in zip": many_rows_in_zip,
}
