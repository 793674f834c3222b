"""Approximate nearest neighbours of dense rows: a search in cells that tests itself.

K-means finds the centres of the cells. How many cells have to be searched depends on the data, so
it is measured: as many as have enough of the neighbours that an exhaustive search finds for random
trial samples.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray
from manyview.graphs._cells import (
    Cells,
    Rows,
    half_norms,
    n_probed_for,
    nearest_centre,
    nearest_of_all,
    reach,
    sorted_cells,
    without_own,
)
from manyview.runtime import in_threads, one_blas_thread

#: Share of the true neighbours that must be found for the trial samples. More than the promised
#: 0.98, as trials vary and not all cells are looked at.
TARGET_RECALL = 0.9875
#: The same for new samples: the nearest decide a vote, and mostly the farther ones are missed.
VOTE_RECALL = 0.9
TRIALS = 300
# However good the trials: so few samples cost little, and in small graphs every edge matters.
_MIN_SAMPLES = 1024
_MIN_CELLS = 8
SPARE_CANDIDATES = 4
#: k-means is trained on this many samples per cell.
POINTS_PER_CELL = 16
_KMEANS_ROUNDS = 4
# Distances that are sorted at a time.
_SCORES = 2**19
# Rows that are centred at a time.
_ROWS_AT_ONCE = 2**12
# The cell of a row is looked for in so many groups of cells.
_GROUPS_PROBED = 4


@dataclass(frozen=True)
class CellIndex:
    """Samples in cells, and how many cells are searched per row."""

    data: Rows
    centre: FloatArray  # what was subtracted from every sample
    cells: Cells
    cell: IntArray  # of every sample
    n_probed: int
    recall: float  # share of the nearest neighbours found for the trial samples
    compared: float  # share of all samples that a trial sample was compared with

    @property
    def n_cells(self) -> int:
        return len(self.cells.centres)

    @property
    def order(self) -> IntArray:
        """All samples, cell by cell."""
        return self.cells.samples

    @property
    def is_slow(self) -> bool:
        """Whether so much is searched that an exact search is better."""
        return self.compared > 0.5

    def search_all(self, m: int, take: Callable[[IntArray, IntArray], None]) -> None:
        """Give `take` samples and at least `m` other candidates for each, and itself; -1 where
        there are fewer."""
        wanted = min(m + 1 + SPARE_CANDIDATES, len(self.data))
        self.cells.search_into(take, self.data, self.cell, self.n_probed, wanted)

    @one_blas_thread()
    def search(self, rows: FloatArray, m: int) -> IntArray:
        """At least `m` samples near each of some new rows; -1 where there are fewer."""
        data = (rows - self.centre).astype(np.float32)
        own = nearest_centre(self.cells.centres, data)
        return self.cells.search(
            data, own, self.n_probed, min(m + SPARE_CANDIDATES, len(self.data))
        )


@one_blas_thread()
def build_index(
    data: FloatArray, m: int, seed: int, target_recall: float = TARGET_RECALL
) -> CellIndex:
    """Sort samples into cells and measure how many to search for their `m` neighbours."""
    centre = data.mean(axis=0)
    centred = _centred(data, centre)
    index = index_centres(cell_centres(centred, n_cells_for(len(data)), seed), seed)
    centres, cell = index.centres, index.nearest(centred)
    trials, true = _trials(centred, m, target_recall, np.random.default_rng(seed))
    ranks = cell_ranks(centres, centred[trials], cell[true])
    n_probed = max(n_probed_for(ranks, target_recall), _min_probed(len(data), m, target_recall))
    n_probed = min(n_probed, len(centres))
    cells = sorted_cells(centres, centred, cell, near_cells(centres, n_probed))
    found = cells.search(centred[trials], cell[trials], n_probed, m + 1)
    recall = float((found[:, :, None] == true[:, None]).any(axis=1).mean())
    probed = cells.probed(centred[trials], cell[trials], n_probed)
    compared = np.diff(cells.starts)[probed].sum() / (len(trials) * len(data))
    return CellIndex(centred, centre, cells, cell, n_probed, recall, float(compared))


def _centred(data: FloatArray, centre: FloatArray) -> Rows:
    """data - centre in single precision; all of it in double precision would be large."""
    out = np.empty(data.shape, dtype=np.float32)
    for start in range(0, len(data), _ROWS_AT_ONCE):
        some = slice(start, start + _ROWS_AT_ONCE)
        out[some] = data[some] - centre
    return out


def _trials(
    data: Rows, m: int, target_recall: float, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Some samples, and the `m` others nearest to each."""
    n_trials = TRIALS if target_recall >= TARGET_RECALL else 100
    some = rng.choice(len(data), min(n_trials, len(data)), replace=False)
    found = nearest_of_all(data[some], data, min(m + 1, len(data)))
    return some, without_own(found, some)


def _min_probed(n: int, m: int, target_recall: float) -> int:
    n_cells = n_cells_for(n)
    if target_recall >= TARGET_RECALL:
        return min_probed(n, n_cells)
    return max(4, math.ceil(m * n_cells / n))


def n_cells_for(n: int) -> int:
    return int(max(1, min(n, round(4 * n**0.5))))


def min_probed(n: int, n_cells: int) -> int:
    """Cells that are searched at least, however good the trials."""
    return max(_MIN_CELLS, math.ceil(_MIN_SAMPLES * n_cells / n))


@one_blas_thread()
def cell_centres(rows: Rows, n_cells: int, seed: int) -> Rows:
    """Centres of at most `n_cells` cells: a few rounds of k-means on some of the rows."""
    rng, n_cells = np.random.default_rng(seed), min(n_cells, len(rows))
    count = min(len(rows), POINTS_PER_CELL * n_cells)
    some = rows[rng.choice(len(rows), count, replace=False)]
    return kmeans_centres(some, n_cells, _KMEANS_ROUNDS)


def kmeans_centres(rows: Rows, n_centres: int, n_rounds: int) -> Rows:
    """Centres after some rounds of k-means that start with the first rows.

    A cell that is empty begins anew at a row of one of the largest.
    """
    centres, each = rows[:n_centres], np.arange(len(rows))
    for _ in range(n_rounds):
        nearest = nearest_centre(centres, rows)
        members = csr_array(
            (np.ones(len(rows), np.float32), (nearest, each)), shape=(len(centres), len(rows))
        )
        sizes = np.bincount(nearest, minlength=len(centres))
        centres = (members @ rows) / np.maximum(sizes, 1)[:, None].astype(np.float32)
        empty = np.flatnonzero(sizes == 0)
        largest = np.argsort(-sizes, kind="stable")[: len(centres) - len(empty)]
        largest = np.resize(largest, len(empty))
        centres[empty] = rows[members.indices[members.indptr[largest]]]
    return centres


def near_cells(centres: Rows, n_probed: int) -> IntArray:
    """The other cells nearest to each, in any order: as many as a search of `n_probed` cells
    chooses from."""
    count, own = reach(n_probed, len(centres)) + 1, np.arange(len(centres))
    found, halves = np.empty((len(centres), count), dtype=np.intp), half_norms(centres)
    step = max(1, _SCORES // len(centres))

    def search(start: int) -> None:
        scores = halves - centres[start : start + step] @ centres.T
        found[start : start + step] = np.argpartition(scores, count - 1, axis=1)[:, :count]

    in_threads(search, range(0, len(centres), step), centres.nbytes * count)
    return without_own(found, own)


def cell_ranks(centres: Rows, rows: Rows, cells: IntArray) -> IntArray:
    """For each row the ranks of some cells by their distance from it, nearest 0."""
    scores = half_norms(centres) - rows @ centres.T
    own = np.take_along_axis(scores, cells, axis=1)
    pairs = zip(scores, own, strict=True)
    return np.array([(row < limits[:, None]).sum(axis=1) for row, limits in pairs])


@dataclass(frozen=True)
class CentreIndex:
    """Centres of cells in groups, in which the nearest one is looked for: close cells follow each
    other."""

    centres: Rows
    groups: Cells

    @one_blas_thread()
    def nearest(self, rows: Rows) -> IntArray:
        """The cell of each row: the nearest of those in the groups near the row."""
        if len(self.groups.centres) <= _GROUPS_PROBED:
            return nearest_centre(self.centres, rows)
        group = nearest_centre(self.groups.centres, rows)
        return self.groups.search(rows, group, _GROUPS_PROBED, 1)[:, 0]


@one_blas_thread()
def index_centres(centres: Rows, seed: int) -> CentreIndex:
    """Sort centres into groups, and groups by the tree of those that are joined first."""
    rng = np.random.default_rng(seed)
    n_groups = max(1, round(len(centres) ** 0.5))
    middles = kmeans_centres(rng.permutation(centres), n_groups, 2 * _KMEANS_ROUNDS)
    if n_groups > 1:
        middles = middles[leaves_list(linkage(middles, "ward"))]
    filled, group = np.unique(nearest_centre(middles, centres), return_inverse=True)
    order = np.argsort(group, kind="stable")
    middles, centres, group = middles[filled], centres[order], group[order]
    groups = sorted_cells(middles, centres, group, near_cells(middles, _GROUPS_PROBED))
    return CentreIndex(centres, groups)
