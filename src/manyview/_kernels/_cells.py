"""The search for neighbours in cells. BLAS computes the products; it should have one thread, as
blocks of rows are searched in threads."""

import numpy as np
from numba import njit

from manyview._kernels._distances import (
    Numbers,
    Single,
    differences,
    keep_nearest,
    none_found,
)
from manyview._typing import IntArray

# Rows that are compared with a cell at a time, so that their products stay in the cache.
_AT_ONCE = 1024


@njit(nogil=True, cache=True)
def find_near_cells(
    rows: Single, cells: IntArray, centres: Single, near: IntArray, out: IntArray
) -> None:
    """Write the cells nearest to each row among those near its own cell, nearest first.

    Rows are sorted by their cells; near[c] are other cells near cell c.
    """
    n, count = out.shape
    scores, found = none_found(n, count)
    reach, width = near.shape[1], rows.shape[1]
    away, half_norms = np.empty((reach, width), np.float32), np.empty(reach, np.float32)
    zeros = np.zeros(_AT_ONCE, np.float32)
    start = 0
    while start < n:
        cell, stop = cells[start], start + 1
        while stop < n and cells[stop] == cell and stop - start < _AT_ONCE:
            stop += 1
        differences(centres, near[cell], centres[cell], away, half_norms)
        products = np.dot(rows[start:stop] - centres[cell], away.T)
        asking = np.arange(start, stop)
        keep_nearest(products, zeros, half_norms, 0, asking, count, scores, found)
        for r in range(start, stop):
            for c in range(count):
                out[r, c] = near[cell, found[r, c]]
        start = stop


@njit(nogil=True, cache=True)
def search_cells(
    rows: Single, probed: IntArray, centres: Single, starts: IntArray, inside: Single,
    half_norms: Single, m: int, distances: Single, found: Numbers,
) -> None:  # fmt: skip
    """Keep in `found` the nearest `m` of what a row has and of all in the cells that it probes.

    `inside` are the rows in cells, cell by cell: what differs from the centre. Cell c has those
    from starts[c] on. `distances` are half the squared ones.
    """
    n_cells = len(centres)
    begin = np.zeros(n_cells + 1, np.int64)  # where the rows that probe a cell begin
    for r in range(len(probed)):
        for cell in probed[r]:
            begin[cell + 1] += 1
    begin = np.cumsum(begin)
    probing, position = np.empty(begin[-1], np.int64), begin[:-1].copy()
    for r in range(len(probed)):
        for cell in probed[r]:
            probing[position[cell]] = r
            position[cell] += 1
    room = np.empty(_AT_ONCE * np.diff(starts).max(), np.float32)
    away, halves = np.empty((_AT_ONCE, rows.shape[1]), np.float32), np.empty(_AT_ONCE, np.float32)
    for cell in range(n_cells):
        first, stop = starts[cell], starts[cell + 1]
        for part in range(begin[cell], begin[cell + 1], _AT_ONCE):
            asking = probing[part : min(part + _AT_ONCE, begin[cell + 1])]
            count = len(asking)
            differences(rows, asking, centres[cell], away, halves)
            products = room[: count * (stop - first)].reshape(count, stop - first)
            np.dot(away[:count], inside[first:stop].T, products)
            own = half_norms[first:stop]
            keep_nearest(products, halves, own, first, asking, m, distances, found)
