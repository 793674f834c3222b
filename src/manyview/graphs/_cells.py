"""Rows in cells, and the search for neighbours in the cells near a row.

k-means centres divide the space into cells: each row belongs to the cell of its nearest centre.
Neighbours of a row are searched in the cells nearest to it. Cell by cell, one matrix product
compares all rows that search a cell with all rows in it, which is many times faster than going
through the cells of each row.
"""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyview._typing import IntArray
from manyview.runtime import in_threads, n_threads, one_blas_thread

# Rows that are searched together: enough for large products, few enough for the cache and for all
# threads to be done at about the same time.
_BLOCK = 2**13
# Rows that are compared with others at a time.
_COMPARED = 2**12
# The rows of a search through all others are searched in so many pieces.
_PIECES = 4
# Scores of rows and centres that a thread computes at a time.
_SCORES = 2**20
# The cells nearest to a row are looked for among so many times as many, nearest to its own cell.
_REACH = 10

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
        self.search_into(found.__setitem__, rows, cells, n_probed, m)
        return found

    def search_into(
        self,
        take: Callable[[IntArray, IntArray], None],
        rows: Rows,
        cells: IntArray,
        n_probed: int,
        m: int,
        probed: IntArray | None = None,
    ) -> None:
        """The same for some rows after the other: `take` gets which ones, and what was found, in
        one of several threads. `probed` are the cells to search, if they are known."""

        def search(part: IntArray) -> None:
            own = rows[part]
            if probed is None:
                near = self.probed(own, cells[part], n_probed)
            else:
                near = probed[part].astype(np.intp, copy=False)
            take(part, self._search_sorted(own, near, m))

        order = _stable_order(cells, len(self.centres))
        parts = np.split(order, np.arange(_BLOCK, len(order), _BLOCK))
        # Results do not depend on the number of threads: the parts are always the same.
        with one_blas_thread(), ThreadPoolExecutor(n_threads()) as threads:
            deque(threads.map(search, parts), maxlen=0)

    def probed(self, rows: Rows, cells: IntArray, n_probed: int) -> IntArray:
        """(n_rows, n_probed): the cells nearest to each row, its own first; rows sorted by cell."""
        from manyview import _kernels

        out = np.empty((len(rows), n_probed), dtype=np.intp)
        out[:, 0] = cells
        if n_probed == 1:
            return out
        others = np.empty((len(rows), n_probed - 1), dtype=np.intp)
        _kernels.find_near_cells(rows, cells, self.centres, self.near, others)
        out[:, 1:] = others
        return out

    def _search_sorted(self, rows: Rows, probed: IntArray, m: int) -> IntArray:
        from manyview import _kernels

        distances, found = _kernels.none_found(len(rows), m)
        # A row's own cell has most of its neighbours. Then few others are nearer than those found.
        for columns in (probed[:, :1], probed[:, 1:]):
            _kernels.search_cells(
                rows, np.ascontiguousarray(columns), self.centres, self.starts, self.rows,
                self.half_norms, m, distances, found,
            )  # fmt: skip
        found = found[:, :m]
        return np.where(found >= 0, self.samples[found], -1)


def nearest_of_all(rows: Rows, others: Rows, m: int) -> IntArray:
    """The `m` of the others nearest to each of a few rows, nearest first, by looking at all."""
    from manyview import _kernels

    distances, found = _kernels.none_found(len(rows), m)
    halves = half_norms(rows)

    def search(asking: IntArray) -> None:
        for start in range(0, len(others), _COMPARED):
            some = others[start : start + _COMPARED]
            given = rows[asking] @ some.T, halves[asking], half_norms(some), start
            _kernels.keep_nearest(*given, asking, m, distances, found)

    with one_blas_thread():
        in_threads(search, np.array_split(np.arange(len(rows)), _PIECES), others.nbytes)
    return found[:, :m].astype(np.intp)


def nearest_centre(centres: NDArray[Any], rows: NDArray[Any]) -> IntArray:
    """The nearest of the centres to each row. BLAS should have one thread: pieces of the rows have
    others."""
    from manyview import _kernels

    halves, found = half_norms(centres), np.empty(len(rows), dtype=np.intp)
    step = max(1, min(_COMPARED, _SCORES // len(centres)))
    starts = range(0, len(rows), step)

    def find(some: Sequence[int]) -> None:
        room = np.empty((step, len(centres)), dtype=np.result_type(rows, centres))
        for start in some:
            own = rows[start : start + step]
            products = np.matmul(own, centres.T, out=room[: len(own)])
            if products.dtype == np.float32:
                _kernels.nearest_one(products, halves, found[start : start + step])
            else:
                found[start : start + step] = (products - halves).argmax(axis=1)

    if len(starts) <= 1:
        find(starts)
        return found
    pieces = np.array_split(starts, min(len(starts), _PIECES * n_threads()))
    with ThreadPoolExecutor(n_threads()) as threads:
        deque(threads.map(find, pieces), maxlen=0)
    return found


def _stable_order(cells: IntArray, n_cells: int) -> IntArray:
    """Positions in the order of their cells; numpy sorts numbers of 16 bits in linear time."""
    short = np.uint16 if n_cells <= 2**16 else np.intp
    return np.asarray(np.argsort(cells.astype(short, copy=False), kind="stable"))


def half_norms(rows: Any) -> Any:
    """Half of the squared norm of each row."""
    return np.einsum("ij,ij->i", rows, rows) / 2


def sorted_cells(centres: Rows, rows: Rows, cells: IntArray, near: IntArray) -> Cells:
    """Rows whose cells are known, sorted by them."""
    order = _stable_order(cells, len(centres))
    starts = np.searchsorted(cells[order], np.arange(len(centres) + 1))
    inside = rows[order] - centres[cells[order]]
    return Cells(centres, near, inside, half_norms(inside), order, starts)


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
