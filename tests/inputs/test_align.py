"""Tables of different rows become views over the same samples."""

from __future__ import annotations

import logging
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from manyview.inputs._align import Table, align


def table(name, matrix, ids=None, features=None):
    matrix = matrix if isinstance(matrix, csr_array) else np.array(matrix, dtype=float)
    return Table(name, matrix, ids, features)


def dense(matrix):
    return matrix.toarray() if isinstance(matrix, csr_array) else matrix


def test_rows_without_ids_are_samples_in_order():
    aligned = align([table("a", [[1, 2], [3, 4]], features=("u", "v")), table("b", [[5], [6]])])
    assert aligned.ids == ("0", "1")
    assert not aligned.has_ids
    assert aligned.present.all()
    assert aligned.features == {"a": ("u", "v"), "b": ("0",)}


def test_ids_join_rows_in_the_order_of_first_appearance():
    aligned = align([table("a", [[1], [2]], ("y", "x")), table("b", [[3], [4]], ("z", "y"))])
    assert aligned.ids == ("y", "x", "z")
    assert aligned.has_ids
    assert aligned.views["a"].tolist() == [[1], [2], [0]]
    assert aligned.views["b"].tolist() == [[4], [0], [3]]
    assert aligned.present.tolist() == [[True, True], [True, False], [False, True]]


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_matrices_that_need_no_change_are_passed_on(form):
    matrix = form(np.eye(3))
    assert align([Table("a", matrix, ("x", "y", "z"), None)]).views["a"] is matrix


def test_sparse_rows_are_placed_like_dense_ones(rng):
    matrix = rng.random((5, 4)) * (rng.random((5, 4)) < 0.4)
    other = table("other", [[1]] * 4, ("u", "c", "a", "v"))
    views = [
        align([other, Table("x", form(matrix), tuple("abcde"), None)])
        for form in (np.asarray, csr_array)
    ]
    assert views[0].ids == views[1].ids == ("u", "c", "a", "v", "b", "d", "e")
    np.testing.assert_array_equal(views[0].views["x"], views[1].views["x"].toarray())
    np.testing.assert_array_equal(views[0].present, views[1].present)
    views[1].views["x"].check_format(full_check=True)


def test_a_row_of_empty_cells_is_a_missing_sample():
    source = table("a", [[1, 2], [np.nan, np.nan]])
    aligned = align([source, table("b", [[1], [2]])])
    assert aligned.present.tolist() == [[True, True], [False, True]]
    assert aligned.views["a"].tolist() == [[1, 2], [0, 0]]
    assert np.isnan(source.matrix[1]).all()  # what was given is as it was


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_shuffled_tables_with_ids_align_to_the_same(data):
    n = data.draw(st.integers(1, 8))
    sparse = data.draw(st.booleans())
    ids = tuple(f"s{i}" for i in range(n))
    rng = np.random.default_rng(n)
    first, second = rng.random((n, 3)), rng.random((n, 2))
    order = data.draw(st.permutations(range(n)))
    kept = order[: data.draw(st.integers(1, n))]
    form = csr_array if sparse else np.asarray
    shuffled = Table("b", form(second[kept]), tuple(ids[i] for i in kept), None)
    aligned = align([Table("a", first, ids, None), shuffled])
    expected = np.zeros_like(second)
    expected[kept] = second[kept]
    assert aligned.ids == ids
    np.testing.assert_array_equal(aligned.views["a"], first)
    np.testing.assert_array_equal(dense(aligned.views["b"]), expected)
    np.testing.assert_array_equal(np.flatnonzero(aligned.present[:, 1]), sorted(kept))


def test_reordering_takes_one_copy_and_little_more():
    n = 50_000
    matrix = np.ones((n, 20))
    matrix[7] = np.nan
    tables = [
        Table("a", np.ones((n, 1)), tuple(map(str, range(n))), None),
        Table("b", matrix, tuple(map(str, reversed(range(n)))), None),
    ]
    tracemalloc.start()
    try:
        align(tables)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.2 * matrix.nbytes + 250 * n  # the ids' dictionaries


def test_views_that_share_no_id_are_told(caplog):
    with caplog.at_level(logging.WARNING, logger="manyview"):
        align([table("a", [[1]], ("x",)), table("b", [[1]], ("X",))])
    assert "view 'b' shares no id with the other views" in caplog.text


NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([], "got no tables"),
        ([table("a", [[1]]), table("a", [[1]])], "view name 'a' comes more than once"),
        (
            [table("a", [[1], [2]], ("x", "x"))],
            "view 'a' has 1 id.s. in more than one row, the first 'x' in 2 rows",
        ),
        ([table("a", [[1], [2]], ("x", " "))], "view 'a' has an empty id in row 2"),
        ([table("a", [[1]], ("x",)), table("b", [[1]])], "'a' came with ids, 'b' without"),
        ([table("a", [[1], [2]]), table("b", [[1]])], "'a' has 2 rows, 'b' has 1 rows"),
        (
            [table("a", np.ones((2, 9))), table("b", np.ones((3, 9)))],
            "'a', 'b' with 9 columns might be transposed",
        ),
        (
            [table("a", np.ones((9, 2))), table("b", np.ones((3, 9)))],
            r"\('b' with 9 columns might be transposed\)",
        ),
        (
            [table("a", [[1, 2], [NAN, 4], [NAN, INF]], ("x", "y", "z"), ("u", "v"))],
            "view 'a' has 3 empty .NaN. or infinite cell.s., the first for sample 'y' in "
            "column 'u'",
        ),
        (
            [table("a", [[1, 2], [INF, INF]])],
            "has 2 empty .NaN. or infinite cell.s., the first for sample '1'",
        ),
        (
            [table("a", csr_array([[0, 1], [0, NAN]]), ("x", "y"), ("u", "v"))],
            "has 1 empty .NaN. or infinite cell.s., the first for sample 'y' in column 'v'",
        ),
        (
            [table("a", [[1], [NAN], [NAN]], ("x", "y", "z"))],
            r"2 sample\(s\) are missing from all views: 'y', 'z'",
        ),
        ([table("a", np.ones((0, 2)))], r"view 'a' has shape \(0, 2\)"),
        ([table("a", [[1]], ("x", "y"))], "view 'a' has 1 rows, but names for 2"),
        ([table("a", [[1]], None, ("x", "y"))], "view 'a' has 1 columns, but names for 2"),
    ],
)
def test_errors_name_what_came(tables, message):
    with pytest.raises(ValueError, match=message):
        align(tables)
