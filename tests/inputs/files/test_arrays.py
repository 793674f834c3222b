"""NPY and NPZ files."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csr_array

from tests.helpers.table_files import X, read, write


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


def test_an_archive_of_nothing(folder):
    np.savez("x.npz")
    with pytest.raises(ValueError, match=r"x.npz has no arrays; expected at least one"):
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
