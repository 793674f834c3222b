"""Files made to do harm: small ones that would fill the memory, ones that point elsewhere.

Each function writes a file into the current folder. Those of `BOMBS` return its name, whether it is
to be read with ids, and what the error must say; those of `TRAPS` its name.
"""

import gzip
import io
import os
import pickle
import re
import stat
import struct
import zipfile
import zlib
from functools import partial

import numpy as np
import pytest
from numpy.lib import format as npy

from tests.helpers.damaged_files import MAT_HEADER, saved
from tests.helpers.table_files import COMPRESS, X, annotated, write

h5py = pytest.importorskip("h5py")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

_MILLION = 10**6
_MANY = 200  # millions of bytes: more than the tests leave, little enough to be made in a second
_MEMORY = "would take .* of memory; expected at most the .* MB available"
_LIMIT = "takes more than .* MB of memory to read"


def _header(shape, dtype="<f8"):
    stream = io.BytesIO()
    entries = {"descr": dtype, "fortran_order": False, "shape": shape}
    npy.write_array_header_1_0(stream, entries)
    return stream.getvalue()


def _millions(name, opened, start, piece):
    """A file of `start` and many millions of bytes of the same piece."""
    block = piece * (_MILLION // len(piece))
    with opened(name) as stream:
        stream.write(start)
        for _ in range(_MANY):
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
    return _zipped_text("x.csv.gz", row, row), "tables", _MEMORY


def many_ids():
    return _zipped_text("x.csv.gz", b"id,b\n", b"sample,2\n"), "ids", _MEMORY


def many_columns():
    return write("x.csv", b"a," * 100_000), "tables", f"columns {_MEMORY}"


def blank_lines():
    return _zipped_text("x.csv.gz", b"\n", b"\n"), "tables", "starts with .* blank lines"


def many_rows_in(end):
    """Text that unfolds, however it is compressed."""
    row = b",".join([b"1"] * 50) + b"\n"
    text = row * (_MANY * _MILLION // len(row))
    return write(f"x.csv{end}", COMPRESS[end](text)), "tables", _MEMORY


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
        cell = b'<row><c t="str"><v>' + b"a" * (_MANY * _MILLION) + b"</v></c></row>"
        archive.writestr(
            "xl/worksheets/sheet1.xml", start + b"<sheetData>" + cell + b"</sheetData>" + end
        )
    return "x.xlsx", "tables", _LIMIT


def unfolding_feather():
    from pyarrow import feather

    table = pa.table({"x": np.zeros(_MANY * _MILLION // 8)})
    feather.write_feather(table, "x.feather", compression="zstd", chunksize=10**9)
    return "x.feather", "tables", f"{_LIMIT}|{_MEMORY}"


def long_market():
    return _zipped_text("x.mtx.gz", b"%%Matrix", b"%"), "tables", _LIMIT


def long_market_numbers():
    start = b"%%MatrixMarket matrix array real general\n2 1\n1\n"
    return _zipped_text("x.mtx.gz", start, b"1"), "tables", _LIMIT


def _market(text):
    return write("x.mtx", f"%%MatrixMarket matrix {text}\n")


def market_of_many_rows():
    text = "coordinate real general\n99999999999 2 1\n1 1 1"
    return _market(text), "tables", _MEMORY


def market_of_many_columns():
    text = "coordinate real general\n2 999999999 1\n1 1 1"
    return _market(text), "tables", _MEMORY


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
    return name, "tables", _MEMORY


def unfolding_array():
    start = _header((_MANY * _MILLION // 800, 100))
    return _archive("x.npz", start, bytes(1000)), "tables", _MEMORY


def lying_array():
    write("x.npz", saved(np.savez, x=X))
    with zipfile.ZipFile("x.npz", "w") as archive:
        archive.writestr("x.npy", _header((10**6, 10**6)) + bytes(800))
    return "x.npz", "tables", "array 'x' of shape"


def array_unfolding_without_limit():
    """`zipfile` decompresses bzip2 without a limit."""
    start = _header((_MANY * _MILLION // 800, 100))
    name = _archive("x.npz", start, bytes(1000), zipfile.ZIP_BZIP2)
    return name, "tables", "compressed in an unusual way"


def long_header():
    start = b"\x93NUMPY\x02\x00" + struct.pack("<I", _MANY * _MILLION)
    return _archive("x.npz", start, b" "), "tables", "not a readable NPZ"


def ids_of_no_bytes():
    with zipfile.ZipFile("x.npz", "w") as archive:
        archive.writestr("x.npy", saved(np.save, X))
        archive.writestr("id.npy", _header((10**12,), "|S0"))
    return "x.npz", "ids", "array 'id' of shape"


def sparse_of_many_rows():
    shape = (10**11, 2)
    np.savez("x.npz", format=b"coo", shape=shape, data=[1.0], row=[0], col=[0])
    return "x.npz", "tables", _MEMORY


def sparse_of_many_columns():
    shape, indptr = (2, 10**11), [0, 1, 1]
    np.savez("x.npz", format=b"csr", shape=shape, data=[1.0], indices=[0], indptr=indptr)
    return "x.npz", "tables", _MEMORY


# MATLAB


def _element(kind, content):
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def _matrix(kind, shape, content=b"", name=b"x"):
    start = _element(6, struct.pack("<II", kind, 0)) + _element(5, struct.pack("<2i", *shape))
    return _element(14, start + _element(1, name) + content)


def _mat(kind, shape, content=b""):
    return write("x.mat", MAT_HEADER + _matrix(kind, shape, content))


def many_cells():
    """SciPy 1.17 needs 8 GB and a minute to find that nothing is there."""
    return _mat(1, (2**15, 2**15)), "tables", _LIMIT


def cells_in_cells():
    inner = _matrix(1, (2**15, 2**15), name=b"")
    return _mat(1, (1, 1), inner), "tables", _LIMIT


def deep_cells():
    content = _matrix(6, (1, 1), _element(9, bytes(8)), b"")
    for _ in range(1000):
        content = _matrix(1, (1, 1), content, b"")
    return _mat(1, (1, 1), content), "tables", "cannot be told from labels"


def many_structures():
    """Their number does not matter: only their kind and shape are looked at."""
    fields = _element(5, struct.pack("<i", 8)) + _element(1, b"a".ljust(8, b"\0"))
    return _mat(2, (2**15, 2**15), fields), "tables", "cannot be told from labels"


def many_numbers():
    content = struct.pack("<II", 9, 2**32 - 8)
    return _mat(6, (2**15, 2**14), content), "tables", _LIMIT


def many_letters():
    return _mat(4, (2**15, 2**15), _element(16, b"a")), "tables", "cannot be told from labels"


def sparse_mat_of_many_rows():
    parts = _element(5, struct.pack("<i", 0)), _element(5, struct.pack("<3i", 0, 1, 1))
    content = b"".join(parts) + _element(9, struct.pack("<d", 1.0))
    return _mat(5, (10**9, 2), content), "tables", _MEMORY


def unfolding_mat():
    n = _MANY * _MILLION
    start = _matrix(6, (n // 800, 100), struct.pack("<II", 9, n))
    start = struct.pack("<II", 14, len(start) - 8 + n) + start[8:]
    unfolding = zlib.compressobj(1)
    pieces = [unfolding.compress(start)]
    pieces += [unfolding.compress(bytes(_MILLION)) for _ in range(_MANY)]
    packed = b"".join([*pieces, unfolding.flush()])
    write("x.mat", MAT_HEADER + struct.pack("<II", 15, len(packed)) + packed)
    return "x.mat", "tables", f"{_LIMIT}|{_MEMORY}"


def old_mat():
    content = struct.pack("<5i", 0, 2**15, 2**15, 0, 2) + b"x\0" + bytes(80)
    return write("x.mat", content), "tables", f"not a readable MAT|{_LIMIT}"


def old_sparse_mat():
    triples = np.array([[1.0, 1, 5], [10**9, 10**9, 0]])
    content = struct.pack("<5i", 2, 2, 3, 0, 2) + b"x\0" + triples.T.tobytes()
    return write("x.mat", content), "tables", _LIMIT


# Columns


def parquet_of_many_rows():
    column = pa.nulls(2 * 10**7, pa.int8())
    pq.write_table(pa.table({"x": column}), "x.parquet")
    return "x.parquet", "tables", f"rows .* declares .* {_MEMORY}"


def parquet_of_long_ids():
    text = pa.array(["a" * _MILLION])
    ids = pa.DictionaryArray.from_arrays(pa.array(np.zeros(400, np.int32)), text)
    pq.write_table(pa.table({"id": ids, "x": np.zeros(400)}), "x.parquet")
    return "x.parquet", "ids", f"ids {_MEMORY}"


# HDF5


def _changed(change):
    annotated().write_h5ad("x.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        change(store)
    return "x.h5ad"


def _with_x(**options):
    def change(store):
        attributes = dict(store["X"].attrs)
        del store["X"]
        store.create_dataset("X", dtype="f8", **options).attrs.update(attributes)

    return _changed(change)


def nothing_of_huge_shape():
    return _with_x(shape=(10**9, 10**9), chunks=(100, 100)), "tables", _MEMORY


def nothing_in_huge_chunks():
    return _with_x(shape=(10**4, 10**4), chunks=(10**4, 10**4)), "tables", _MEMORY


def many_chunks():
    """None of them is stored, and each is looked for.

    The HDF5 of h5py 3.11 needs little for that; then the shape is refused.
    """
    message = f"{_LIMIT}|did not finish|crashed|shape .3000, 3000., but names for 4 rows"
    return _with_x(shape=(3000, 3000), chunks=(1, 1)), "tables", message


def sparse_hdf5_of_many_columns():
    def change(store):
        del store["X"]
        group = store.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0"})
        group.attrs["shape"] = [4, 10**10]
        group.update({"data": np.ones(1), "indices": [0], "indptr": [0, 1, 1, 1, 1]})

    return _changed(change), "tables", _MEMORY


def many_names():
    def change(store):
        del store["obs/_index"]
        store.create_dataset("obs/_index", (10**10,), h5py.string_dtype(), chunks=(1000,))

    return _changed(change), "tables", _LIMIT


def long_names():
    def change(store):
        del store["obs/_index"]
        names = store.create_dataset("obs/_index", (2000,), h5py.string_dtype())
        names[:] = "a" * 10**5

    return _changed(change), "tables", _LIMIT


def unfolding_chunk():
    """A chunk of 32 bytes, by its declaration, that decompresses into many millions."""

    def change(store):
        dataset = store["X"]
        unfolding = zlib.compressobj(1)
        pieces = [unfolding.compress(bytes(_MILLION)) for _ in range(_MANY)]
        dataset.id.write_direct_chunk((0, 0), b"".join([*pieces, unfolding.flush()]))

    _with_x(shape=(4, 3), chunks=(4, 3), compression="gzip")
    try:
        with h5py.File("x.h5ad", "r+") as store:
            change(store)
    except OSError as error:
        pytest.skip(f"this version of HDF5 doesn't write such a file: {error}")
    return "x.h5ad", "tables", "not a readable h5ad file"


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


# What would run, write or read elsewhere


class _Trap:
    def __reduce__(self):
        return os.mkdir, ("opened",)


def pickled_array():
    np.save("x.npy", np.array([[_Trap()]]), allow_pickle=True)
    return "x.npy"


def pickle_alone():
    return write("x.npy", pickle.dumps(_Trap()))


def pickle_in_an_archive():
    with zipfile.ZipFile("x.npz", "w") as archive:
        archive.writestr("x.npy", saved(np.save, X))
        archive.writestr("id.npy", saved(np.save, np.array([_Trap()] * 4)))
        archive.writestr("note.npy", pickle.dumps(_Trap()))
    return "x.npz"


def _archive_of(*names):
    with zipfile.ZipFile("x.npz", "w") as archive:
        for name in names:
            archive.writestr(name, saved(np.save, X))
    return "x.npz"


def paths_that_lead_out():
    return _archive_of("../../evil.npy", "../x.npy", "/tmp/evil.npy", "..\\evil.npy", "a/b.npy")


def links_in_an_archive():
    with zipfile.ZipFile("x.npz", "w") as archive:
        link = zipfile.ZipInfo("x.npy")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    return "x.npz"


def names_of_two_lines():
    return _archive_of("x\ny.npy", "\x1b[31m\r\n.npy")


def a_link_out_of_hdf5():
    def change(store):
        del store["X"]
        store["X"] = h5py.ExternalLink("/etc/passwd", "/X")

    return _changed(change)


def numbers_of_another_file():
    return _with_x(shape=(4, 3), external=[("/etc/passwd", 0, 96)])


TRAPS = {
    trap.__name__.replace("_", " "): trap
    for trap in (
        pickled_array,
        pickle_alone,
        pickle_in_an_archive,
        paths_that_lead_out,
        links_in_an_archive,
        names_of_two_lines,
        a_link_out_of_hdf5,
        numbers_of_another_file,
    )
}
