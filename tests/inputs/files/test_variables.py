"""Which arrays of NPZ and MAT files are views, and which are ids."""

import numpy as np
import pytest
from scipy.io import savemat

from manyview.inputs.files import read_views
from tests.helpers.table_files import IDS, X, read


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


@pytest.mark.parametrize("extra", [{"note": "by hand"}, {"s": {"u": X}}, {"n": 3.0}])
def test_variables_that_are_no_matrices(folder, extra):
    savemat("x.mat", {"X": X, **extra})
    with pytest.raises(ValueError, match=rf"x.mat: '{next(iter(extra))}' cannot be .*x.mat:X"):
        read_views(["x.mat"])
    np.testing.assert_array_equal(read("x.mat:X").matrix, X)


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
