"""Approximate nearest neighbours of dense rows: a search in cells that tests itself.

faiss finds the centres of the cells by k-means. How many cells have to be searched depends on the
data, so it is measured: as many as have enough of the neighbours that an exhaustive search finds
for random trial samples.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from manyview._typing import FloatArray, IntArray
from manyview.graphs._cells import (
    Cells,
    Rows,
    n_probed_for,
    nearest_centre,
    nearest_of_all,
    reach,
    sorted_cells,
    without_own,
)

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
POINTS_PER_CELL = 24
_KMEANS_ROUNDS = 4


def is_available() -> bool:
    """Whether faiss is installed."""
    return find_spec("faiss") is not None


def _one_blas_thread() -> Any:
    """A limit that makes results independent of the number of threads.

    faiss is imported first: it has its own BLAS, and limits hold only for loaded libraries.
    """
    import faiss  # noqa: F401

    return threadpool_limits(1, "blas")


@dataclass(frozen=True)
class CellIndex:
    """Samples in cells, and how many cells are searched per row."""

    data: Rows
    centre: FloatArray  # what was subtracted from every sample
    cells: Cells
    cell: IntArray  # of every sample
    n_probed: int
    recall: float  # share of the nearest neighbours found for the trial samples

    @property
    def n_cells(self) -> int:
        return len(self.cells.centres)

    @property
    def order(self) -> IntArray:
        """All samples, cell by cell."""
        return self.cells.samples

    @property
    def is_slow(self) -> bool:
        """Whether so many cells are searched that an exact search is better."""
        return 2 * self.n_probed > self.n_cells

    def blocks(self, m: int) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield samples and at least `m` other candidates for each; -1 where there are fewer."""
        wanted = min(m + 1 + SPARE_CANDIDATES, len(self.data))
        return self.cells.blocks(self.data, self.cell, self.n_probed, wanted)

    def search(self, rows: FloatArray, m: int) -> IntArray:
        """At least `m` samples near each of some new rows; -1 where there are fewer."""
        data = (rows - self.centre).astype(np.float32)
        with _one_blas_thread():
            own = nearest_centre(self.cells.centres, data)
        return self.cells.search(
            data, own, self.n_probed, min(m + SPARE_CANDIDATES, len(self.data))
        )


def build_index(
    data: FloatArray, m: int, seed: int, target_recall: float = TARGET_RECALL
) -> CellIndex:
    """Sort samples into cells and measure how many to search for their `m` neighbours."""
    centre = data.mean(axis=0)
    centred = (data - centre).astype(np.float32)
    centres = cell_centres(centred, n_cells_for(len(data)), seed)
    centres = centres[cell_order(centres, seed)]
    with _one_blas_thread():
        cell = nearest_centre(centres, centred)
    trials, true = _trials(centred, m, target_recall, np.random.default_rng(seed))
    ranks = cell_ranks(centres, centred[trials], cell[true])
    n_probed = max(n_probed_for(ranks, target_recall), _min_probed(len(data), m, target_recall))
    n_probed = min(n_probed, len(centres))
    cells = sorted_cells(centres, centred, cell, near_cells(centres, n_probed))
    found = cells.search(centred[trials], cell[trials], n_probed, m + 1)
    recall = float((found[:, :, None] == true[:, None]).any(axis=1).mean())
    return CellIndex(centred, centre, cells, cell, n_probed, recall)


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


def cell_centres(sample: Rows, n_cells: int, seed: int) -> Rows:
    """Centres of at most `n_cells` cells, from a sample of the rows."""
    import faiss

    width = sample.shape[1]
    with _one_blas_thread():
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(width), width, min(n_cells, len(sample)))
        index.cp.seed = seed % 2**31
        index.cp.niter = _KMEANS_ROUNDS
        index.cp.min_points_per_centroid = 1
        index.cp.max_points_per_centroid = POINTS_PER_CELL
        index.train(sample)
        return np.asarray(index.quantizer.reconstruct_n(0, index.nlist))


def nearest_cells(centres: Rows, rows: Rows, count: int) -> IntArray:
    """The `count` nearest cells of each row."""
    import faiss

    with _one_blas_thread():
        return np.asarray(faiss.knn(rows, centres, count)[1])


def near_cells(centres: Rows, n_probed: int) -> IntArray:
    """The other cells nearest to each, as many as a search of `n_probed` cells chooses from."""
    own = np.arange(len(centres))
    return without_own(nearest_cells(centres, centres, reach(n_probed, len(own)) + 1), own)


def cell_ranks(centres: Rows, rows: Rows, cells: IntArray) -> IntArray:
    """For each row the ranks of some cells by their distance from it, nearest 0."""
    order = nearest_cells(centres, rows, len(centres))
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(len(centres))[None], axis=1)
    return np.take_along_axis(ranks, cells, axis=1)


def cell_order(centres: Rows, seed: int) -> IntArray:
    """Cells in an order in which close ones are close to each other: by groups of centres, groups
    by the tree of those that are joined first."""
    import faiss
    from scipy.cluster.hierarchy import leaves_list, linkage

    with _one_blas_thread():
        groups = faiss.Kmeans(
            centres.shape[1], max(1, round(len(centres) ** 0.5)), seed=seed % 2**31,
            min_points_per_centroid=1,
        )  # fmt: skip
        groups.train(centres)
        group = groups.index.search(centres, 1)[1][:, 0]
    if groups.k > 1:
        place = np.argsort(leaves_list(linkage(groups.centroids, "ward")))
        group = place[group]
    return np.argsort(group, kind="stable")
