"""Which arrays of NPZ and MAT files are views, and which are ids."""

import os

import numpy as np
import pytest
from scipy.io import savemat

from manyview.inputs.files import read_views
from tests.helpers.table_files import IDS, X, read


@pytest.mark.parametrize("extension", ["npz", "mat"])
def test_labels_beside_the_views_are_left_out_and_named(folder, caplog, extension):
    arrays = {"X": X, "y": np.arange(4)[:, None], "Z": X, "n": np.array(3.0)}
    path = f"x.{extension}"
    savemat(path, arrays) if extension == "mat" else np.savez(path, **arrays)
    tables = read_views([path])
    assert [table.name for table in tables] == ["X", "Z"]
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage() == (
        f"{path}: left out 'y' (a vector of 4 numbers), 'n' (one number): probably labels or "
        f"notes; {path}:y reads 'y' as a view"
    )
    np.testing.assert_array_equal(read(f"{path}:y").matrix, [[0], [1], [2], [3]])
    with pytest.raises(ValueError, match=f"{path} has no array 'W'; expected one of 'X', 'y', 'Z'"):
        read(f"{path}:W")


LEFT_OUT = {
    "text": "by hand",
    "a structure": {"u": X},
    "a cell array": np.array(["a", "bc"], dtype=object),
    "empty": np.empty((0, 0)),
}


@pytest.mark.parametrize("what", LEFT_OUT)
def test_variables_that_are_no_matrices(folder, caplog, what):
    savemat("x.mat", {"X": X, "other": LEFT_OUT[what]})
    np.testing.assert_array_equal(read("x.mat").matrix, X)
    assert f"x.mat: left out 'other' ({what}): probably labels or notes" in caplog.text
    savemat("x.mat", {"other": LEFT_OUT[what]})
    with pytest.raises(
        ValueError, match=r"x.mat: 'other' cannot be told from labels .*x.mat:other"
    ):
        read("x.mat")


def test_names_stored_as_python_objects_are_left_out_unopened(folder, caplog):
    class Trap:
        def __reduce__(self):
            return os.mkdir, ("opened",)

    np.savez("x.npz", X=X, names=np.array([Trap()] * 4))
    np.testing.assert_array_equal(read("x.npz").matrix, X)
    assert "left out 'names' (Python objects)" in caplog.text
    with pytest.raises(ValueError, match=r"x.npz: array 'names' holds Python objects"):
        read("x.npz:names")
    assert os.listdir() == ["x.npz"]


@pytest.mark.parametrize("extension", ["npz", "mat"])
def test_arrays_of_three_dimensions_are_no_labels(folder, extension):
    path, arrays = f"x.{extension}", {"X": X, "cube": np.ones((2, 3, 4))}
    savemat(path, arrays) if extension == "mat" else np.savez(path, **arrays)
    with pytest.raises(ValueError, match=rf"{path}: array 'cube' is no matrix .*{path}:X$"):
        read(path)


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
    with pytest.raises(ValueError, match=r"'data2' is complex .*real numbers, .*c.mat:data1$"):
        read_views(["c.mat"])
    with pytest.raises(ValueError, match=r"'z' holds values of type complex.*real numbers"):
        read("x.mat:z")
    np.testing.assert_array_equal(read("c.mat:data1").matrix, X)


def test_ids_of_archives(folder):
    np.savez("x.npz", u=X, v=X, id=np.array([1.0, 2, 3, 4]))
    savemat("x.mat", {"u": X, "id": np.array(["p", "q", "r", "s"], dtype=object)})
    savemat("chars.mat", {"u": X, "id": np.array(["p1", "q", "r", "s"])})
    savemat("numbers.mat", {"u": X, "id": np.arange(4)})
    assert [t.ids for t in read_views(["x.npz"], id_column="id")] == [("1", "2", "3", "4")] * 2
    assert read("x.npz:v", id_column="id").ids == ("1", "2", "3", "4")
    assert read("x.mat", id_column="id").ids == ("p", "q", "r", "s")
    assert read("chars.mat", id_column="id").ids == ("p1", "q", "r", "s")
    assert read("numbers.mat", id_column="id").ids == ("0", "1", "2", "3")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"u": X}, "x.npz has no array 'id'; expected one of 'u'"),
        ({"u": X, "id": IDS[:3]}, "array 'u' has 4 rows, but 'id' has 3 ids"),
        ({"u": X, "id": X}, r"ids 'id' have shape \(4, 3\); expected one dimension"),
        ({"u": X, "id": ["a", "", "c", "d"]}, "'id' has no id in row 2"),
        ({"u": X, "id": [1.0, np.nan, 3, 4]}, "'id' has no id in row 2"),
    ],
)
def test_ids_of_archives_that_do_not_fit(folder, arrays, message):
    np.savez("x.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        read_views(["x.npz"], id_column="id")
