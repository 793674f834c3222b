"""Neighbours in cells: those of a search through all rows, if all cells are searched."""

import numba
import numpy as np
import pytest

from manyview.graphs import _cells
from manyview.graphs._cells import (
    n_probed_for,
    nearest_centre,
    nearest_of_all,
    sorted_cells,
    without_own,
)


def nearest_to(centres, rows, count):
    return np.argsort(((rows[:, None] - centres) ** 2).sum(axis=2), axis=1, kind="stable")[
        :, :count
    ]


def made(rng, n=400, width=5, n_cells=12, n_empty=2):
    rows = rng.standard_normal((n, width)).astype(np.float32)
    centres = np.concatenate([rows[:n_cells], np.full((n_empty, width), 50, np.float32)])
    near = without_own(nearest_to(centres, centres, len(centres)), np.arange(len(centres)))
    cells = nearest_to(centres, rows, 1)[:, 0]
    return rows, cells, sorted_cells(centres, rows, cells, near)


@pytest.mark.parametrize("block", [7, 100, 1000])
def test_all_cells_have_all_neighbours(rng, monkeypatch, block):
    monkeypatch.setattr(_cells, "_BLOCK", block)
    rows, cells, index = made(rng)
    found = index.search(rows, cells, len(index.centres), 6)
    np.testing.assert_array_equal(found, nearest_to(rows, rows, 6))
    new = rng.standard_normal((50, 5)).astype(np.float32)
    found = index.search(new, nearest_to(index.centres, new, 1)[:, 0], len(index.centres), 6)
    np.testing.assert_array_equal(found, nearest_to(rows, new, 6))


def test_some_cells_have_their_own_nearest(rng):
    rows, cells, index = made(rng)
    found = index.search(rows, cells, 3, 6)
    probed = nearest_to(index.centres, rows, 3)
    for i in range(len(rows)):
        inside = np.flatnonzero(np.isin(cells, probed[i]))
        expected = inside[nearest_to(rows[inside], rows[i : i + 1], 6)[0]]
        np.testing.assert_array_equal(found[i][: len(expected)], expected)
        assert (found[i][len(expected) :] == -1).all()


def test_fewer_than_wanted(rng):
    rows, cells, index = made(rng, n=30)
    found = index.search(rows, cells, 1, 25)
    sizes = np.bincount(cells)[cells]
    np.testing.assert_array_equal((found >= 0).sum(axis=1), np.minimum(sizes, 25))


def test_far_from_the_origin(rng):
    """Products are of differences from the centre of a cell: nothing is lost by cancellation."""
    rows, cells, index = made(rng)
    far = (1000 * rows.astype(float)).round() / 1000 + 2000
    moved = sorted_cells((index.centres + 2000), far.astype(np.float32), cells, index.near)
    found = moved.search(far.astype(np.float32), cells, len(index.centres), 6)
    same = (found[:, :, None] == nearest_to(far, far, 6)[:, None]).any(axis=1).mean()
    assert same > 0.98  # single precision has 4 digits behind the point there


def test_threads_do_not_matter(rng, monkeypatch):
    monkeypatch.setattr(_cells, "_BLOCK", 64)
    rows, cells, index = made(rng, n=2000)
    before, found = numba.get_num_threads(), []
    for n_threads in {1, before}:
        numba.set_num_threads(n_threads)
        found.append(index.search(rows, cells, 4, 10))
    numba.set_num_threads(before)
    np.testing.assert_array_equal(found[0], found[-1])


@pytest.mark.parametrize("compared", [7, 100, 1000])
def test_nearest_of_all_and_nearest_centre(rng, monkeypatch, compared):
    monkeypatch.setattr(_cells, "_COMPARED", compared)
    rows, few = (rng.standard_normal((n, 5)).astype(np.float32) for n in (300, 20))
    np.testing.assert_array_equal(nearest_of_all(few, rows, 6), nearest_to(rows, few, 6))
    np.testing.assert_array_equal(nearest_centre(few, rows), nearest_to(few, rows, 1)[:, 0])


def test_how_many_cells():
    ranks = np.array([[0, 0, 1, 5], [0, 2, 0, 9]])
    assert [n_probed_for(ranks, recall) for recall in (0.5, 0.6, 0.8, 1.0)] == [1, 2, 6, 10]
