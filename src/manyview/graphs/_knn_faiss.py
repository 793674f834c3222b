"""Approximate nearest neighbours of dense rows: an inverted file index of faiss that tests itself.

k-means centres divide the space into cells: each row belongs to the cell of its nearest centre.
Neighbours of a row are searched in the cells whose centres are nearest to it. How many cells that
takes depends on the data, so it is measured: the number rises until the search finds enough of the
neighbours that an exhaustive search finds for random trial samples.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from manyview._typing import FloatArray, IntArray

#: Share of the true neighbours that must be found for the trial samples. More than the promised
#: 0.98, as trials vary.
TARGET_RECALL = 0.985
#: The same for new samples: the nearest decide a vote, and mostly the farther ones are missed.
VOTE_RECALL = 0.9
TRIALS = 300
# However good the trials: so few samples cost little, and in small graphs every edge matters.
_MIN_SAMPLES = 1024
_MIN_CELLS = 8
SPARE_CANDIDATES = 4
#: Rows per call of the search.
BLOCK = 8192
#: k-means is trained on this many samples per cell.
POINTS_PER_CELL = 40
_KMEANS_ROUNDS = 5


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

    data: NDArray[np.float32]
    centre: FloatArray  # what was subtracted from every sample
    index: Any
    order: IntArray  # all samples, cell by cell: rows searched together then use the same memory
    recall: float  # share of the nearest neighbours found for the trial samples

    @property
    def n_cells(self) -> int:
        return int(self.index.nlist)

    @property
    def n_probed(self) -> int:
        return int(self.index.nprobe)

    @property
    def is_slow(self) -> bool:
        """Whether so many cells are searched that an exact search is better."""
        return 2 * self.n_probed > self.n_cells

    def blocks(self, m: int) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield samples and at least `m` other candidates for each; -1 where there are fewer."""
        for start in range(0, len(self.order), BLOCK):
            some = self.order[start : start + BLOCK]
            yield some, search_cells(self.index, self.data[some], m + 1)

    def search(self, rows: FloatArray, m: int) -> IntArray:
        """At least `m` samples near each of some new rows; -1 where there are fewer."""
        data = (rows - self.centre).astype(np.float32)
        order = np.argsort(self.index.quantizer.search(data, 1)[1][:, 0], kind="stable")
        found = np.empty((len(data), min(m + SPARE_CANDIDATES, len(self.data))), dtype=np.intp)
        for start in range(0, len(data), BLOCK):
            some = order[start : start + BLOCK]
            found[some] = search_cells(self.index, data[some], m)
        return found


def build_index(
    data: FloatArray, m: int, seed: int, target_recall: float = TARGET_RECALL
) -> CellIndex:
    """Sort samples into cells and measure how many to search for their `m` neighbours."""
    centre = data.mean(axis=0)
    centred = (data - centre).astype(np.float32)
    index = cell_index(cell_centres(centred, n_cells_for(len(data)), seed), centred)
    with _one_blas_thread():
        recall = _tune_n_probed(index, centred, m, target_recall, np.random.default_rng(seed))
    return CellIndex(centred, centre, index, _samples_by_cell(index, seed), recall)


def n_cells_for(n: int) -> int:
    return int(max(1, min(n, round(4 * n**0.5))))


def min_probed(n: int, n_cells: int) -> int:
    """Cells that are searched at least, however good the trials."""
    return max(_MIN_CELLS, math.ceil(_MIN_SAMPLES * n_cells / n))


def cell_centres(sample: NDArray[np.float32], n_cells: int, seed: int) -> NDArray[np.float32]:
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


def nearest_cells(centres: NDArray[np.float32], rows: NDArray[np.float32], count: int) -> IntArray:
    """The `count` nearest cells of each row."""
    import faiss

    with _one_blas_thread():
        return np.asarray(faiss.knn(rows, centres, count)[1])


def cell_index(centres: NDArray[np.float32], rows: NDArray[np.float32]) -> Any:
    """Rows sorted into cells with known centres."""
    import faiss

    width = centres.shape[1]
    flat = faiss.IndexFlatL2(width)
    with _one_blas_thread():
        flat.add(centres)
        index = faiss.IndexIVFFlat(flat, width, len(centres))
        index.add(rows)
    return index


def search_cells(index: Any, rows: NDArray[np.float32], m: int) -> IntArray:
    """At least `m` candidates near each row; -1 where there are fewer."""
    with _one_blas_thread():
        found = index.search(rows, min(m + SPARE_CANDIDATES, index.ntotal))[1]
    return np.asarray(found)


def cell_order(centres: NDArray[np.float32], seed: int) -> IntArray:
    """Cells in an order in which close ones are close to each other: by groups of centres."""
    import faiss

    with _one_blas_thread():
        groups = faiss.Kmeans(
            centres.shape[1], max(1, round(len(centres) ** 0.5)), seed=seed % 2**31,
            min_points_per_centroid=1,
        )  # fmt: skip
        groups.train(centres)
        group = groups.index.search(centres, 1)[1][:, 0]
    return np.argsort(group, kind="stable")


def _tune_n_probed(
    index: Any, data: NDArray[np.float32], m: int, target_recall: float, rng: np.random.Generator
) -> float:
    """Set how many cells are searched; return the recall on trial samples."""
    import faiss

    n = len(data)
    careful = target_recall >= TARGET_RECALL
    n_trials = TRIALS if careful else 100
    trial = data[rng.choice(n, min(n_trials, n), replace=False)]
    wanted = min(m + 1, n)
    farthest = faiss.knn(trial, data, wanted)[0][:, -1:] * (1 + 1e-5)
    least = min_probed(n, index.nlist) if careful else max(4, math.ceil(m * index.nlist / n))
    index.nprobe = min(least, index.nlist)
    while True:
        found = index.search(trial, wanted)[0]
        # The sample itself is always found and does not count.
        recall = float(((found <= farthest).sum(axis=1) - 1).mean() / (wanted - 1))
        if recall >= target_recall or index.nprobe == index.nlist:
            return min(recall, 1.0)
        index.nprobe = min(index.nlist, index.nprobe + max(1, index.nprobe // 8))


def _samples_by_cell(index: Any, seed: int) -> IntArray:
    """All samples, cell by cell, in the order of `cell_order`."""
    import faiss

    cells = index.invlists
    members = [
        faiss.rev_swig_ptr(cells.get_ids(cell), cells.list_size(cell)).copy()
        for cell in cell_order(index.quantizer.reconstruct_n(0, index.nlist), seed).tolist()
        if cells.list_size(cell)
    ]
    return np.concatenate(members)
