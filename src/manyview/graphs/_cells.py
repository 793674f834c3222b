"""Rows in cells, and the search for neighbours in the cells near a row.

k-means centres divide the space into cells: each row belongs to the cell of its nearest centre.
Neighbours of a row are searched in the cells nearest to it. Cell by cell, one matrix product
compares all rows that search a cell with all rows in it, which is many times faster than going
through the cells of each row.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from manyview._typing import IntArray

# Rows that are searched together: enough for large products, few enough for the cache.
_BLOCK = 2**15
# The cells nearest to a row are looked for among so many times as many, nearest to its own cell.
_REACH = 16

Rows = NDArray[np.float32]


@dataclass(frozen=True)
class Cells:
    """Rows sorted by their cells, and the cells nearest to each cell."""

    centres: Rows
    near: IntArray  # (n_cells, reach): the other cells nearest to each
    rows: Rows  # sorted by cell; what differs from the centre of the cell
    half_norms: NDArray[np.float32]  # half of the squared norms of these
    samples: IntArray  # which row each of them was
    starts: IntArray  # (n_cells + 1,): where each cell begins among them

    def search(self, rows: Rows, cells: IntArray, n_probed: int, m: int) -> IntArray:
        """About the `m` samples nearest to each row, in `n_probed` cells; -1 where there are fewer.

        `cells` is the cell of each row.
        """
        found = np.empty((len(rows), m), dtype=np.intp)
        for some, theirs in self.blocks(rows, cells, n_probed, m):
            found[some] = theirs
        return found

    def blocks(
        self, rows: Rows, cells: IntArray, n_probed: int, m: int
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """The same for some rows after the other: which ones, and what was found."""
        import numba

        order = np.argsort(cells, kind="stable")
        parts = np.split(order, np.arange(_BLOCK, len(order), _BLOCK))
        n_threads = numba.get_num_threads()
        # Results do not depend on the number of threads: the parts are always the same.
        with threadpool_limits(1, "blas"), ThreadPoolExecutor(n_threads) as threads:
            for start in range(0, len(parts), n_threads):
                some = parts[start : start + n_threads]
                asked = [(rows[part], cells[part], n_probed, m) for part in some]
                found = threads.map(lambda args: self._search_sorted(*args), asked)
                yield from zip(some, found, strict=True)

    def probed(self, rows: Rows, cells: IntArray, n_probed: int) -> IntArray:
        """(n_rows, n_probed): the cells nearest to each row, its own first; rows sorted by cell."""
        out = np.empty((len(rows), n_probed), dtype=np.intp)
        out[:, 0] = cells
        if n_probed == 1:
            return out
        for cell, own in _runs(cells):
            others = self.near[cell]
            away = self.centres[others] - self.centres[cell]
            scores = (away**2).sum(axis=1) / 2 - (rows[own] - self.centres[cell]) @ away.T
            out[own, 1:] = others[np.argpartition(scores, n_probed - 2, axis=1)[:, : n_probed - 1]]
        return out

    def _search_sorted(self, rows: Rows, cells: IntArray, n_probed: int, m: int) -> IntArray:
        from manyview import _kernels

        found = np.full((len(rows), m), -1, dtype=np.intp)
        distances = np.full((len(rows), m), np.inf, dtype=np.float32)
        probed = self.probed(rows, cells, n_probed)
        # A row's own cell has most of its neighbours. Then few others are nearer than those found.
        for columns in (probed[:, :1], probed[:, 1:]):
            order = np.argsort(columns, axis=None, kind="stable")
            for cell, part in _runs(columns.ravel()[order]):
                inside = slice(self.starts[cell], self.starts[cell + 1])
                asking = order[part] // columns.shape[1]
                away = rows[asking] - self.centres[cell]
                halves = (away**2).sum(axis=1) / 2, self.half_norms[inside]
                products = away @ self.rows[inside].T
                _kernels.keep_nearest(products, *halves, inside.start, asking, distances, found)
        return np.where(found >= 0, self.samples[found], -1)


def sorted_cells(centres: Rows, rows: Rows, cells: IntArray, near: IntArray) -> Cells:
    """Rows whose cells are known, sorted by them."""
    order = np.argsort(cells, kind="stable")
    starts = np.searchsorted(cells[order], np.arange(len(centres) + 1))
    inside = rows[order] - centres[cells[order]]
    return Cells(centres, near, inside, (inside**2).sum(axis=1) / 2, order, starts)


def reach(n_probed: int, n_cells: int) -> int:
    """How many other cells `Cells.near` should have."""
    return min(_REACH * n_probed, n_cells - 1)


def n_probed_for(ranks: IntArray, recall: float) -> int:
    """How many cells to search, from the ranks of the cells of true neighbours, nearest cell 0."""
    last = int(np.ceil(recall * ranks.size)) - 1
    return int(np.partition(ranks.ravel(), last)[last]) + 1


def without_own(found: IntArray, own: IntArray) -> IntArray:
    """Each row of `found` without its own number, or without the last if it is not there, as may
    be among many equal rows."""
    is_own = found == own[:, None]
    is_own[~is_own.any(axis=1), -1] = True
    return np.asarray(found[~is_own].reshape(len(found), found.shape[1] - 1))


def _runs(values: IntArray) -> Iterator[tuple[int, slice]]:
    """Each of some sorted values, and where it is."""
    bounds = np.flatnonzero(np.diff(values)) + 1
    ends = [*bounds.tolist(), len(values)]
    for start, end in zip([0, *bounds.tolist()], ends, strict=True):
        if start < end:
            yield int(values[start]), slice(start, end)
