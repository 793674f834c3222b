"""Approximate nearest neighbours of dense rows: an inverted file of faiss that checks itself.

Samples are sorted into cells by k-means; neighbours are looked for in the cells nearest to a
sample. How many cells that takes depends on the data, so it is measured: the search is widened
until it finds what an exhaustive one finds for a random few samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from manyview._typing import FloatArray, IntArray

#: Share of the true neighbours that the search must find on its trial samples. A little more than
#: the 0.98 that is promised, because a trial has its own luck.
TARGET_RECALL = 0.985
#: The same for new samples: the nearest decide a vote, and what is missed are the last of them.
VOTE_RECALL = 0.9
TRIALS = 300
# However good the trial: so few samples are looked at in no time, and small graphs miss each edge.
_LEAST_SAMPLES = 1024
_LEAST_CELLS = 8
SPARE_CANDIDATES = 4
#: Rows a call of the search.
BLOCK = 8192
#: k-means needs only a rough idea of where the samples are.
POINTS_PER_CELL = 40
_KMEANS_ROUNDS = 5


def is_available() -> bool:
    """Whether faiss is installed."""
    return find_spec("faiss") is not None


def _one_blas_thread() -> Any:
    """What is found must not depend on how many threads share a product.

    Loaded here: a limit does not hold for a BLAS that is loaded later, and faiss has its own.
    """
    import faiss  # noqa: F401 (what counts is that its BLAS is there)

    return threadpool_limits(1, "blas")


@dataclass(frozen=True)
class CellIndex:
    """Samples in cells, and how many cells a search goes through.

    Attributes
    ----------
    centre : what was subtracted from every sample
    order : every sample once, cell by cell, so that a search finds memory warm
    recall : share of the nearest neighbours found for the trial samples
    """

    data: NDArray[np.float32]
    centre: FloatArray
    index: Any
    order: IntArray
    recall: float

    @property
    def n_cells(self) -> int:
        return int(self.index.nlist)

    @property
    def n_probed(self) -> int:
        return int(self.index.nprobe)

    def blocks(self, m: int) -> Any:
        """Yield samples and `m` or a few more candidates for each; -1 where there are none."""
        wanted = min(m + 1 + SPARE_CANDIDATES, len(self.data))  # 1 for the sample itself
        for start in range(0, len(self.order), BLOCK):
            some = self.order[start : start + BLOCK]
            with _one_blas_thread():
                found = self.index.search(self.data[some], wanted)[1]
            yield some, found

    def search(self, rows: FloatArray, m: int) -> IntArray:
        """`m` samples, or a few more, near each of other rows; -1 where fewer were found."""
        wanted = min(m + SPARE_CANDIDATES, len(self.data))
        data = (rows - self.centre).astype(np.float32)
        # Rows of the same cell one after the other, so that the search finds memory warm.
        order = np.argsort(self.index.quantizer.search(data, 1)[1][:, 0], kind="stable")
        found = np.empty((len(data), wanted), dtype=np.intp)
        for start in range(0, len(data), BLOCK):
            some = order[start : start + BLOCK]
            with _one_blas_thread():
                found[some] = self.index.search(data[some], wanted)[1]
        return found


def build_index(
    data: FloatArray, m: int, seed: int, target_recall: float = TARGET_RECALL
) -> CellIndex:
    """Sort samples into cells and find out how many to search for their `m` neighbours."""
    with _one_blas_thread():
        return _built_index(data, m, seed, target_recall)


def _built_index(data: FloatArray, m: int, seed: int, target_recall: float) -> CellIndex:
    import faiss

    n, width = data.shape
    centre = data.mean(axis=0)
    centred = (data - centre).astype(np.float32)
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(width), width, n_cells_for(n))
    _set_up(index.cp, seed)
    index.train(centred)
    index.add(centred)
    recall = _widen(index, centred, m, target_recall, np.random.default_rng(seed))
    return CellIndex(centred, centre, index, _cell_order(index, seed), recall)


def n_cells_for(n: int) -> int:
    return int(max(1, min(n, round(4 * n**0.5))))


def min_probed(n: int, n_cells: int) -> int:
    """Cells to look at, however good a trial."""
    return max(_LEAST_CELLS, math.ceil(_LEAST_SAMPLES * n_cells / n))


def _set_up(kmeans: Any, seed: int) -> None:
    kmeans.seed = seed % 2**31
    kmeans.niter = _KMEANS_ROUNDS
    kmeans.min_points_per_centroid = 1
    kmeans.max_points_per_centroid = POINTS_PER_CELL


def cell_centres(sample: NDArray[np.float32], n_cells: int, seed: int) -> NDArray[np.float32]:
    """Centres of at most so many cells, from a sample of the rows."""
    import faiss

    with _one_blas_thread():
        width = sample.shape[1]
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(width), width, min(n_cells, len(sample)))
        _set_up(index.cp, seed)
        index.train(sample)
        return np.asarray(index.quantizer.reconstruct_n(0, index.nlist))


def nearest_cells(centres: NDArray[np.float32], rows: NDArray[np.float32], count: int) -> IntArray:
    """The numbers of the cells nearest to each row."""
    import faiss

    flat = faiss.IndexFlatL2(centres.shape[1])
    with _one_blas_thread():
        flat.add(centres)
        return np.asarray(flat.search(rows, count)[1])


def cell_index(centres: NDArray[np.float32], rows: NDArray[np.float32]) -> Any:
    """Rows in cells that are known already; those of other rows stay empty."""
    import faiss

    width = centres.shape[1]
    flat = faiss.IndexFlatL2(width)
    with _one_blas_thread():
        flat.add(centres)
        index = faiss.IndexIVFFlat(flat, width, len(centres))
        index.add(rows)
    return index


def search_cells(index: Any, rows: NDArray[np.float32], m: int, n_probed: int) -> IntArray:
    """`m` others, or a few more, near each row in the cells nearest to it; -1 where fewer are."""
    index.nprobe = n_probed
    with _one_blas_thread():
        found = index.search(rows, min(m + 1 + SPARE_CANDIDATES, index.ntotal))[1]
    return np.asarray(found)


def _widen(
    index: Any, data: NDArray[np.float32], m: int, target_recall: float, rng: np.random.Generator
) -> float:
    """Set how many cells are searched; the recall that this has on trial samples."""
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


def _cell_order(index: Any, seed: int) -> IntArray:
    """Samples cell by cell, near cells near each other."""
    import faiss

    cells = index.invlists
    members = [
        faiss.rev_swig_ptr(cells.get_ids(cell), cells.list_size(cell)).copy()
        for cell in cell_order(index.quantizer.reconstruct_n(0, index.nlist), seed).tolist()
        if cells.list_size(cell)
    ]
    return np.concatenate(members)


def cell_order(centres: NDArray[np.float32], seed: int) -> IntArray:
    """Cells in groups of neighbouring ones."""
    import faiss

    with _one_blas_thread():
        groups = faiss.Kmeans(
            centres.shape[1], max(1, round(len(centres) ** 0.5)), seed=seed % 2**31,
            min_points_per_centroid=1,
        )  # fmt: skip
        groups.train(centres)
        group = groups.index.search(centres, 1)[1][:, 0]
    return np.argsort(group, kind="stable")
