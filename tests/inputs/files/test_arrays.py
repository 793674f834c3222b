"""NPY, NPZ, MAT and Matrix Market files."""

import os
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat
from scipy.sparse import csr_array

from manyview.inputs._sparse import load_mat
from manyview.inputs.files import _mat as _mat
from manyview.inputs.files import read_views
from tests.helpers.goldens import DATA
from tests.helpers.table_files import X, dense, read, write, write_any

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.mark.parametrize("extension", ["npy", "npz", "mat", "mtx"])
def test_features_by_samples(folder, extension):
    write_any(f"x.{extension}", X)
    table = read(f"x.{extension}", transpose=True)
    np.testing.assert_array_equal(dense(table.matrix), X.T)
    if isinstance(table.matrix, np.ndarray):
        assert table.matrix.flags.c_contiguous


def test_nothing_to_transpose(folder):
    write_any("x.csv")
    with pytest.raises(ValueError, match=r"transpose was asked for; expected a file of .npy"):
        read("x.csv", transpose=True)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_sparse_archives(folder, form):
    sparse.save_npz("x.npz", sparse.coo_array(X).asformat(form))
    table = read("x.npz")
    assert isinstance(table.matrix, csr_array)
    assert table.name == "x"
    np.testing.assert_array_equal(table.matrix.toarray(), X)


def test_sparse_indices_out_of_range(folder):
    np.savez(
        "x.npz",
        format=b"csc",
        shape=(3, 2),
        data=np.ones(2),
        indices=np.array([0, 9_000_000]),
        indptr=np.array([0, 1, 2]),
    )
    with pytest.raises(ValueError, match=r"x.npz is not a valid sparse matrix"):
        read("x.npz")


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("indptr", [[0, 2**30, 0], [0, -(2**20), 0], [0, 5, -3]])
def test_sparse_starts_that_do_not_ascend(folder, form, indptr):
    """SciPy's own check passes them, and its conversion then reads far outside of the arrays."""
    np.savez("x.npz", format=form, shape=(2, 2), data=[0.0][:0], indices=[0][:0], indptr=indptr)
    with pytest.raises(ValueError, match=r"x.npz is not a valid sparse matrix"):
        read("x.npz")


def test_two_arrays_of_the_same_name(folder):
    with zipfile.ZipFile("x.npz", "w") as archive:
        for name in ("x.npy", "x"):
            with archive.open(name, "w") as stream:
                np.save(stream, X)
    with pytest.raises(ValueError, match=r"x.npz has two arrays named 'x'"):
        read("x.npz")


def test_an_array_without_a_name(folder):
    with zipfile.ZipFile("x.npz", "w") as archive, archive.open(zipfile.ZipInfo(""), "w") as one:
        one.write(b"nothing")
    with pytest.raises(ValueError, match=r"x.npz: not a readable NPZ"):
        read("x.npz")


def test_headers_that_python_2_wrote(folder):
    np.save("x.npy", np.ones((3, 2)))
    content = Path("x.npy").read_bytes()
    old = write("y.npy", content.replace(b"(3, 2), } ", b"(3L, 2), }"))
    np.testing.assert_array_equal(read(old).matrix, np.ones((3, 2)))


@pytest.mark.parametrize("extension", ["npz", "mat"])
def test_vectors_are_read_only_when_chosen(folder, extension):
    arrays = {"X": X, "y": np.arange(4)[:, None], "Z": X}
    path = f"x.{extension}"
    savemat(path, arrays) if extension == "mat" else np.savez(path, **arrays)
    message = rf"{path}: 'y' cannot be told .*choose arrays with PATH:KEY, .*{path}:X {path}:Z"
    with pytest.raises(ValueError, match=message):
        read_views([path])
    np.testing.assert_array_equal(read(f"{path}:y").matrix, [[0], [1], [2], [3]])
    with pytest.raises(ValueError, match=f"{path} has no array 'W'; expected one of 'X', 'y', 'Z'"):
        read(f"{path}:W")


def test_a_vector_of_one_dimension(folder):
    np.savez("x.npz", y=np.arange(4.0))
    np.testing.assert_array_equal(read("x.npz:y").matrix, [[0], [1], [2], [3]])
    np.save("x.npy", np.arange(4.0))
    with pytest.raises(ValueError, match=r"x.npy has shape \(4,\)"):
        read("x.npy")


ODD = {
    "complex": np.ones((2, 2), dtype=complex),
    "object": np.array([[1, "x"], [2, 3]], dtype=object),
    "structured": np.zeros((2, 2), dtype=[("u", float)]),
    "datetime": np.zeros((2, 2), dtype="datetime64[s]"),
    "text": np.array([["a", "b"], ["c", "d"]]),
}


@pytest.mark.parametrize("kind", ODD)
def test_arrays_that_are_not_numbers(folder, kind):
    np.save("x.npy", ODD[kind])
    np.savez("x.npz", x=ODD[kind])
    with pytest.raises(ValueError, match=r"x.npy"):
        read("x.npy")
    with pytest.raises(ValueError, match=r"x.npz.*(type|objects|shape)"):
        read("x.npz:x")


def test_pickles_are_never_opened(folder):
    class Trap:
        def __reduce__(self):
            return os.mkdir, ("opened",)

    np.save("x.npy", np.array([[Trap()]]), allow_pickle=True)
    np.savez("x.npz", x=np.array([[Trap()]]))
    for path in ("x.npy", "x.npz", "x.npz:x"):
        with pytest.raises(ValueError, match=r"x.np"):
            read(path)
    assert not os.path.exists("opened")


def test_small_types_and_foreign_byte_order(folder):
    for dtype in ("?", "i1", "u8", ">f4", ">i2", "f2", "g"):
        np.save("x.npy", np.asfortranarray(np.eye(3).astype(dtype)))
        matrix = read("x.npy").matrix
        assert matrix.dtype == np.dtype("=f8")
        np.testing.assert_array_equal(matrix, np.eye(3))


def test_wrong_extensions(folder):
    np.savez("x.npz", x=X)
    os.rename("x.npz", "x.npy")
    with pytest.raises(ValueError, match=r"x.npy"):
        read("x.npy")
    np.save("y.npy", X)
    os.rename("y.npy", "y.npz")
    with pytest.raises(ValueError, match=r"y.npz is a single array"):
        read("y.npz")


def test_cell_arrays_and_sparse_variables(folder):
    cells = np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = X, sparse.csc_array(X[:, :2])
    savemat("x.mat", {"data": cells, "s": sparse.csc_array(X)})
    tables = read_views(["x.mat"])
    assert [table.name for table in tables] == ["data1", "data2", "s"]
    assert [isinstance(table.matrix, csr_array) for table in tables] == [False, True, True]
    np.testing.assert_array_equal(tables[1].matrix.toarray(), X[:, :2])
    assert [table.name for table in read_views(["n=x.mat:data"])] == ["n.data1", "n.data2"]
    assert read("x.mat:data2").name == "data2"


@pytest.mark.parametrize("extra", [{"note": "by hand"}, {"s": {"u": X}}, {"n": 3.0}])
def test_variables_that_are_no_matrices(folder, extra):
    savemat("x.mat", {"X": X, **extra})
    with pytest.raises(ValueError, match=rf"x.mat: '{next(iter(extra))}' cannot be .*x.mat:X"):
        read_views(["x.mat"])
    np.testing.assert_array_equal(read("x.mat:X").matrix, X)


MATLAB = {
    **{kind: X[[0, 1, 3]].astype(kind) for kind in ("i1", "i2", "i4", "i8", "f4", "f8")},
    **{kind: np.abs(X[[0, 1, 3]]).astype(kind) for kind in ("u1", "u2", "u4", "u8", "?")},
    "one": np.array([[7]], dtype="u1"),
    "row": np.arange(3.0),
    "empty": np.empty((0, 3)),
    "cube": np.arange(8.0).reshape(2, 2, 2),
    "sparse": sparse.csc_array(X),
    "sparse of truths": sparse.csc_array(X > 0),
    "text": np.array(["ab", "cd", "e\u00e9"]),
    "no text": np.array([""]),
    "cells": np.array([X, "ab", np.empty((0, 0))], dtype=object),
}


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("kind", MATLAB)
def test_variables_are_as_scipy_reads_them(folder, kind, compressed):
    savemat("x.mat", {"x": MATLAB[kind], "after": X}, do_compression=compressed)
    expected = load_mat("x.mat")
    with open("x.mat", "rb") as stream:
        found = _mat._variables(Path("x.mat"), stream)
    assert list(found) == ["x", "after"]
    for name, value in found.items():
        assert_same(value, expected[name])


def assert_same(found, expected):
    assert found.shape == expected.shape
    if found.dtype == object:
        for one, other in zip(found.ravel(), expected.ravel(), strict=True):
            assert_same(one, other)
    else:
        found, expected = (v.toarray() if sparse.issparse(v) else v for v in (found, expected))
        np.testing.assert_array_equal(found, expected)


def element(kind, content, order="<"):
    return struct.pack(f"{order}II", kind, len(content)) + content + bytes(-len(content) % 8)


def variable(name, flags, shape, *content, kind_of_name=1, kind_of_shape=5):
    """The bytes of a variable; the lowest byte of its flags is its class."""
    parts = [
        element(6, struct.pack("<II", flags, 0)),
        element(kind_of_shape, struct.pack(f"<{len(shape)}i", *shape)),
        element(kind_of_name, name.encode()),
    ]
    return element(14, b"".join([*parts, *content]))


def write_mat(path, *variables):
    return write(path, b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + b"".join(variables))


NUMBERS = variable("x", 6, (2, 2), element(9, np.arange(4.0).tobytes()))
TEXTS = {
    "not UTF-8": element(16, b"\x80 am broken"),
    "half of a pair": element(17, b"\x3d\xd8a\0"),
    "a pair": element(17, "\U0001f600".encode("utf-16-le")),
    "a pair in UTF-8": element(16, "\U0001f600".encode()),
    "too short": element(1, b"a"),
    "numbers": element(9, np.ones(2).tobytes()),
}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("in_cell", [False, True])
def test_odd_text_leaves_the_numbers_readable(folder, kind, in_cell):
    text = variable("" if in_cell else "note", 4, (1, 2), TEXTS[kind])
    write_mat("x.mat", variable("note", 1, (1, 1), text) if in_cell else text, NUMBERS)
    np.testing.assert_array_equal(read("x.mat:x").matrix, [[0, 2], [1, 3]])
    with pytest.raises(ValueError, match=r"x.mat: array 'note' holds values of type"):
        read("x.mat:note")
    with pytest.raises(ValueError, match=r"x.mat: ids 'note' cannot be read"):
        read("x.mat:x", id_column="note")


@pytest.mark.parametrize("kind", [1, 2, 9])
def test_sparse_truths_that_matlab_calls_doubles(folder, kind):
    truths = np.array([[1, 0], [1, 1], [0, 1]])
    rows, starts = (element(5, struct.pack(f"<{len(i)}i", *i)) for i in ([0, 1, 1, 2], [0, 2, 4]))
    write_mat("x.mat", variable("x", 5 | 1 << 9, (3, 2), rows, starts, element(kind, b"\1" * 4)))
    np.testing.assert_array_equal(dense(read("x.mat").matrix), truths)
    np.testing.assert_array_equal(load_mat("x.mat")["x"].toarray(), truths)


def test_names_and_shapes_of_other_kinds(folder):
    numbers = element(9, np.arange(4.0).tobytes())
    write_mat("x.mat", variable("x", 6, (2, 2), numbers, kind_of_name=16, kind_of_shape=6))
    np.testing.assert_array_equal(read("x.mat").matrix, [[0, 2], [1, 3]])
    write_mat("x.mat", variable("x", 6, (2, -2), numbers, kind_of_shape=6))
    with pytest.raises(ValueError, match=r"x.mat: not a readable MAT .*shape \(2, -2\)"):
        read("x.mat")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda _: zlib.compress(NUMBERS + bytes(8)), "more is compressed"),
        (lambda folded: folded[:-4], "no end"),
        (lambda folded: folded[:-1] + bytes([folded[-1] ^ 1]), "incorrect data check"),
    ],
)
def test_the_end_of_what_is_compressed(folder, damage, message):
    def write_folded(folded):
        return write_mat("x.mat", struct.pack("<II", 15, len(folded)) + folded)

    folded = zlib.compress(NUMBERS)
    np.testing.assert_array_equal(read(write_folded(folded)).matrix, [[0, 2], [1, 3]])
    with pytest.raises(ValueError, match=rf"x.mat: not a readable MAT file.*{message}"):
        read(write_folded(damage(folded)))


def test_complex_numbers_of_matlab(folder):
    cells = np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = X, X * 1j
    savemat("x.mat", {"z": X * 1j})
    savemat("y.mat", {"z": X * 1j, "x": X})
    savemat("c.mat", {"data": cells})
    with pytest.raises(ValueError, match=r"'z' is complex \(.*\); expected real numbers$"):
        read("x.mat")
    with pytest.raises(ValueError, match=r"'z' is complex .*real numbers, or choose .*y.mat:x$"):
        read_views(["y.mat"])
    with pytest.raises(ValueError, match=r"'data2' is complex .*expected real numbers$"):
        read_views(["c.mat"])
    with pytest.raises(ValueError, match=r"'z' holds values of type complex.*real numbers"):
        read("x.mat:z")
    np.testing.assert_array_equal(read("c.mat:data1").matrix, X)


def test_big_endian_matlab_files(folder):
    start = element(6, struct.pack(">II", 6, 0), ">") + element(5, struct.pack(">2i", 2, 2), ">")
    name = struct.pack(">HH", 1, 1) + b"x\0\0\0"  # the short form
    numbers = element(3, struct.pack(">4h", 1, 2, 3, -4), ">")
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI"
    write("x.mat", header + element(14, start + name + numbers, ">"))
    np.testing.assert_array_equal(read("x.mat").matrix, [[1, 3], [2, -4]])


@pytest.mark.parametrize("kind", ["matrix", "sparse"])
def test_matlab_files_of_version_4(folder, kind):
    savemat("x.mat", {"x": X if kind == "matrix" else sparse.csc_array(X)}, format="4")
    np.testing.assert_array_equal(dense(read("x.mat").matrix), X)
    wrong = struct.pack("<5i", 2, 2, 3, 0, 2) + b"x\0" + np.full((2, 3), np.nan).tobytes()
    with pytest.raises(ValueError, match=r"z.mat: not a readable MAT file"):
        read(write("z.mat", wrong))
    write("y.mat", b"\0")
    with pytest.raises(ValueError, match=r"y.mat: not a readable MAT file"):
        read("y.mat")


def test_two_variables_of_the_same_name(folder):
    savemat("x.mat", {"x": X})
    content = Path("x.mat").read_bytes()
    write("x.mat", content + content[128:])
    with pytest.raises(ValueError, match=r"x.mat: .*two variables are named 'x'"):
        read("x.mat")


def test_the_papers_files(paper_data, folder):
    expected = paper_data("NGs").views
    tables = read_views([f"{DATA}/NGs.mat:data"], transpose=True)
    assert len(tables) == len(expected)
    for table, matrix in zip(tables, expected, strict=True):
        np.testing.assert_array_equal(dense(table.matrix), dense(csr_array(matrix)))


def test_new_matlab_files(folder):
    import h5py

    with h5py.File("x.mat", "w", userblock_size=512) as store:
        store["x"] = X
    with open("x.mat", "r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")
    with pytest.raises(ValueError, match=r"x.mat is a MATLAB 7.3 .* '-v7'"):
        read("x.mat")


MARKETS = {
    "array real general\n2 2\n1\n2\n3\n4\n": [[1, 3], [2, 4]],
    "array real symmetric\n2 2\n1\n2\n3\n": [[1, 2], [2, 3]],
    "array real skew-symmetric\n2 2\n2\n": [[0, -2], [2, 0]],
    "coordinate integer general\n% a note\n\n2 2 2\n1 1 1\n1 1 2": [[3, 0], [0, 0]],
    "coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n": [[0, 1], [1, 1]],
    "coordinate real skew-symmetric\n2 2 1\n2 1 4\n": [[0, -4], [4, 0]],
    "coordinate real general\n2 2 0\n": [[0, 0], [0, 0]],
    "coordinate real general\n2 2 1\n\n1 2 7\n\n": [[0, 7], [0, 0]],
    f"coordinate real general\n1 2 1\n1 1 0.{'3' * 30}\n": [[1 / 3, 0]],
}


@pytest.mark.parametrize("text", MARKETS)
def test_kinds_of_matrix_market(folder, text):
    write("x.mtx", "%%MatrixMarket matrix " + text)
    np.testing.assert_array_equal(dense(read("x.mtx").matrix), MARKETS[text])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n", "no Matrix Market banner"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n", "complex"),
        ("%%MatrixMarket matrix coordinate real general\n", "no line of sizes"),
        ("%%MatrixMarket matrix coordinate real general\n2 2\n", "2 sizes"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n", "exceeds"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 5\n", "negative"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1.5 1 5\n", "whole"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\nnan 1 5\n", "whole"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1e30 1 5\n", "whole"),
        ("%%MatrixMarket matrix array real symmetric\n2 3\n1\n2\n3\n", "2 rows and 3 columns"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n", "sizes says"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 5x\n", "convert"),
        ("%%MatrixMarket matrix array real general\n999999999 99999999\n1\n", "x.mtx"),
    ],
)
def test_matrix_market_that_is_none(folder, text, message):
    write("x.mtx", text)
    with pytest.raises(ValueError, match=rf"x.mtx.*{message}|{message}"):
        read("x.mtx")
