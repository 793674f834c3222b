"""Categories become columns of 0 and 1, empty cells medians."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from manyview.inputs import Table, align, aligned_tables, imputed, one_hot, prepared

CELLS = st.floats(-5, 5) | st.just(np.nan)


@given(arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=CELLS))
def test_medians_fill_what_is_empty_and_nothing_else(matrix):
    before = matrix.copy()
    rows = ~np.isnan(matrix).all(axis=1)
    gaps = np.isnan(matrix) & rows[:, None]
    table = Table("a", matrix, None, None)
    if gaps.any() and np.isnan(matrix[rows]).all(axis=0).any():
        with pytest.raises(ValueError, match="so it has no median"):
            imputed(table)
        return
    done = imputed(table)
    np.testing.assert_array_equal(matrix, before)
    np.testing.assert_array_equal(done.matrix[~gaps], matrix[~gaps])
    assert done.preparation.imputed_cells == gaps.sum()
    if gaps.any():
        medians = np.nanmedian(matrix[rows], axis=0)
        np.testing.assert_allclose(done.matrix[gaps], np.broadcast_to(medians, matrix.shape)[gaps])
        # What models rely on: the medians stay what they were.
        np.testing.assert_allclose(np.median(done.matrix[rows], axis=0), medians)


def test_sparse_and_infinite():
    matrix = csr_array(np.array([[np.nan, 1.0], [2.0, 0.0], [0.0, 3.0]]))
    done = imputed(Table("a", matrix, None, None))
    assert done.matrix.toarray().tolist() == [[1, 1], [2, 0], [0, 3]]
    with pytest.raises(ValueError, match=r"view 'a' has 1 empty \(NaN\) or infinite cell"):
        imputed(Table("a", np.array([[np.nan, np.inf], [1, 2]]), None, None))


def test_partly_empty_rows_name_the_option():
    table = Table("a", np.array([[1.0, np.nan], [1, 2]]), None, None)
    with pytest.raises(ValueError, match=r"sample '0' in column '1'.*impute='median' .--impute"):
        align([table])
    assert align(prepared([table], "median")).views["a"].tolist() == [[1, 2], [1, 2]]
    with pytest.raises(ValueError, match="impute='mean'; expected one of 'median'"):
        prepared([table], "mean")


def test_unknown_categories_count_as_none(caplog):
    table = Table("a", np.empty((4, 0)), None, (), categorical={"c": ["x", "z", None, "y"]})
    done = one_hot(table, {"c": ("y", "x")})
    assert done.features == ("c=x", "c=y")
    np.testing.assert_array_equal(done.matrix, [[1, 0], [0, 0], [np.nan] * 2, [0, 1]])
    assert "1 cell(s) of column 'c'" in caplog.text
    assert "'z'" in caplog.text


def test_columns_that_are_no_categories():
    with pytest.raises(ValueError, match="a different value in each of its 3 rows"):
        one_hot(Table("a", np.empty((3, 0)), None, (), categorical={"c": ["x", "y", "z"]}))
    with pytest.raises(ValueError, match="column 'c' is empty"):
        one_hot(Table("a", np.empty((2, 0)), None, (), categorical={"c": [None, None]}))
    with pytest.raises(ValueError, match="column 'c=x' beside a category"):
        one_hot(Table("a", np.ones((2, 1)), None, ("c=x",), categorical={"c": ["x", "x"]}))


FRAME = pd.DataFrame(
    {
        "size": [1.5, 2, 3],
        "kind": pd.Categorical(["u", "v", "u"]),
        "new": pd.array([True, None, False], dtype="boolean"),
        "code": [1.0, 2, 1],
    }
)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categories_of_data_frames(library):
    frame = FRAME
    if library == "polars":
        pl = pytest.importorskip("polars")
        columns = {"size": [1.5, 2, 3], "kind": ["u", "v", "u"], "new": [True, None, False]}
        frame = pl.DataFrame(columns | {"code": [1.0, 2, 1]})
    names = ["kind", "new", "code"]
    aligned = aligned_tables([frame, np.ones((3, 1))], categorical=names, impute="median")
    assert aligned.features["view0"] == (
        "size", "kind=u", "kind=v", "new=False", "new=True", "code=1", "code=2",
    )  # fmt: skip
    expected = [[1.5, 1, 0, 0, 1, 1, 0], [2, 0, 1, 0.5, 0.5, 0, 1], [3, 1, 0, 1, 0, 1, 0]]
    np.testing.assert_array_equal(aligned.views["view0"], expected)
    assert aligned.preparation("view0").imputed_cells == 2
    with pytest.raises(ValueError, match="categorical has 'sort', but no view has such a column"):
        aligned_tables([frame[["size"]]], categorical=["sort"])
    with pytest.raises(ValueError, match="expected a list of names"):
        aligned_tables([frame], categorical="kind")


def test_masked_rows_have_no_say_in_medians():
    views = [np.array([[1.0], [np.nan], [100]]), np.ones((3, 1))]
    views[0] = np.hstack([views[0], np.ones((3, 1))])
    present = np.array([[True, True], [True, True], [False, True]])
    aligned = aligned_tables(views, None, present, impute="median")
    assert aligned.views["view0"][1, 0] == 1
