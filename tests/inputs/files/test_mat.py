"""MAT files, as the other process reads them."""

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat
from scipy.sparse import csr_array

from manyview.inputs.files import read_views
from tests.helpers.goldens import DATA
from tests.helpers.table_files import (
    X,
    dense,
    read,
    write,
)

h5py = pytest.importorskip("h5py")


KINDS = {
    **{kind: X[[0, 1, 3]].astype(kind) for kind in ("i1", "i2", "i4", "i8", "f4", "f8")},
    **{kind: np.abs(X[[0, 1, 3]]).astype(kind) for kind in ("u1", "u2", "u4", "u8")},
    "truths": X > 0,
    "sparse": sparse.csc_array(X),
    "sparse_truths": sparse.csc_array(X > 0),
}


@pytest.mark.parametrize("compressed", [False, True])
def test_numbers_of_all_kinds_in_mat_files(folder, compressed):
    savemat("x.mat", KINDS, do_compression=compressed)
    tables = read_views(["x.mat"])
    assert [table.name for table in tables] == list(KINDS)
    for table, kind in zip(tables, KINDS, strict=True):
        expected = KINDS[kind].toarray() if "sparse" in kind else KINDS[kind]
        assert isinstance(table.matrix, csr_array) == ("sparse" in kind)
        np.testing.assert_array_equal(dense(table.matrix), expected)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.arange(8.0).reshape(2, 2, 2), r"array 'x' .* shape \(2, 2, 2\)"),
        (np.empty((0, 3)), r"array 'x' has shape \(0, 3\)"),
        (np.array([""]), "array 'x' holds values of type char"),
        (
            np.array([X, "ab", np.empty((0, 0))], dtype=object),
            "array 'x' holds values of type cell",
        ),
    ],
)
def test_variables_that_cannot_be_chosen(folder, value, message):
    savemat("x.mat", {"x": value, "y": X})
    with pytest.raises(ValueError, match=rf"x.mat: {message}.*; expected"):
        read("x.mat:x")
    np.testing.assert_array_equal(read("x.mat:y").matrix, X)


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


def test_names_and_shapes_of_other_kinds(folder):
    numbers = element(9, np.arange(4.0).tobytes())
    write_mat("x.mat", variable("x", 6, (2, 2), numbers, kind_of_name=16, kind_of_shape=6))
    np.testing.assert_array_equal(read("x.mat").matrix, [[0, 2], [1, 3]])
    write_mat("x.mat", variable("x", 6, (2, -2), numbers, kind_of_shape=6))
    with pytest.raises(ValueError, match=r"x.mat: not a readable MAT .*negative"):
        read("x.mat")
    write_mat("x.mat", variable("x", 6, (2, -2), numbers))
    with pytest.raises(ValueError, match=r"x.mat: not a readable MAT .*shape \(2, -2\)"):
        read("x.mat")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda _: zlib.compress(NUMBERS + bytes(8)), "Did not fully consume"),
        # Without its last 4 bytes, the checksum, it is read: SciPy stops at the last number. All
        # numbers are there, but a change of them is not found, as in elements not compressed.
        (lambda folded: folded[:-8], "cut short"),
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
