"""Normalised rows -> nearest neighbours, with ties that do not depend on sample order.

A fast search by inner products or cells proposes candidates; their distances are then summed again
from differences. So identical rows are at distance exactly 0, and a distance depends on its two
rows and on nothing else.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.neighbors import NearestNeighbors

from manyview._typing import FloatArray, IntArray
from manyview.graphs import _knn_faiss as approximate
from manyview.inputs import DenseRows, Rows, SparseRows

# Distances within this share of each other are equal up to rounding.
TIE = 1e-12
# Squared distances below this share of the squared norms come from rounding in the rows.
_ZERO = 1e-28
# Squared distances below this share of the squared norms are noise to a search by inner products.
_BLUR = 1e-12
SPARE_CANDIDATES = 10
BLOCK_BYTES = 32 * 2**20

SEARCHES = ("auto", "exact", "approximate")
# New rows for which cells are worth making.
_MANY_NEW = 1000
#: Dense views of more samples than this are searched approximately by default.
EXACT_LIMIT = 20_000


@dataclass(frozen=True)
class NeighborSearch:
    """How a view's neighbours were found.

    Attributes
    ----------
    method : {"exact", "approximate"}
    reason : str
        Why this method.
    recall : float
        Share of the true nearest neighbours found: 1 for "exact", else measured on trial samples.
    n_cells, n_probed : int
        Cells that "approximate" sorted the samples into, and how many it searched for each; 0 for
        "exact".
    seconds : float
    """

    method: str
    reason: str
    recall: float
    n_cells: int
    n_probed: int
    seconds: float

    def __str__(self) -> str:
        how = f"{self.method} neighbours ({self.reason})"
        if self.method == "approximate":
            how += f", {self.n_probed} of {self.n_cells} cells searched, recall {self.recall:.3f}"
        return how


@dataclass(frozen=True)
class Neighbors:
    """The m nearest other samples of every sample, nearest first.

    Attributes
    ----------
    indices, sq_distances : arrays of shape (n_samples, m)
    search : how they were found
    order : array of shape (n_samples,), optional
        Samples in an order in which neighbours are near each other, if the search came across one.
    """

    indices: IntArray
    sq_distances: FloatArray
    search: NeighborSearch
    order: IntArray | None = None


def nearest(rows: Rows, m: int, search: str = "exact", seed: int = 0) -> Neighbors:
    """The `m` nearest other samples of every sample.

    Parameters
    ----------
    search : {"auto", "exact", "approximate"}
        "approximate" goes through faiss; sparse rows have no such search and are always searched
        exactly. "auto" is "approximate" for more than `EXACT_LIMIT` dense rows.
    """
    started = time.perf_counter()
    method, reason = _choose(rows, search)
    recall, n_cells, n_probed, order = 1.0, 0, 0, None
    if method == "approximate" and isinstance(rows, DenseRows):
        index = approximate.build_index(rows.data, m, seed)
        if 2 * index.n_probed > index.n_cells:
            method, reason = "exact", "half of all cells would have to be searched"
        else:
            recall, n_cells, n_probed = index.recall, index.n_cells, index.n_probed
            order = index.order
            indices, distances = _approximate(rows, m, index)
    if method == "exact":
        indices, distances = _exact(rows, m)
    seconds = time.perf_counter() - started
    how = NeighborSearch(method, reason, recall, n_cells, n_probed, seconds)
    return Neighbors(indices, distances, how, order)


def nearest_reference(
    rows: DenseRows | SparseRows, n_known: int, m: int, search: str, seed: int
) -> tuple[IntArray, FloatArray]:
    """For every row from `n_known` on, its `m` nearest among the first `n_known`, nearest first.

    Returns their numbers and squared distances. "auto" is "approximate" where `nearest` would be
    and there are so many new rows that sorting the known ones into cells pays.
    """
    new = np.arange(n_known, rows.n_samples)
    if isinstance(rows, SparseRows):
        proposed = min(n_known, m + SPARE_CANDIDATES)
        candidates = _nearest_sparse(rows, proposed, n_known, n_known)
    else:
        candidates = _dense_known(rows.data, n_known, m, search, seed)
    return rank_candidates(rows, new, candidates, m)


def rank_candidates(
    rows: Rows, targets: IntArray, candidates: IntArray, m: int
) -> tuple[IntArray, FloatArray]:
    """The `m` nearest of each target's candidates, nearest first, with their squared distances.

    Negative candidates are none, and infinitely far.
    """
    candidates.sort(axis=1)
    none = candidates < 0
    candidates[none] = 0
    distances = _distances(rows, rows.sq_norms(), targets, candidates)
    distances[none] = np.inf
    return _keep_nearest(candidates, distances, m)


def nearest_reference_exact(
    rows: DenseRows | SparseRows, n_known: int, m: int
) -> tuple[IntArray, FloatArray]:
    """As `nearest_reference`, and as exact as `nearest` where inner products can't tell rows apart."""
    m = min(m, n_known)
    proposed = min(m + SPARE_CANDIDATES, n_known)
    indices, distances = nearest_reference(rows, n_known, proposed, "exact", 0)
    indices, distances = indices[:, :m].copy(), distances[:, :m].copy()
    if proposed < n_known:
        sizes = rows.sq_norms()
        if isinstance(rows, DenseRows):
            sizes = DenseRows(rows.data - rows.data[:n_known].mean(axis=0)).sq_norms()
        last = distances[:, -1]
        blurred = np.flatnonzero((last > 0) & (last <= _BLUR * sizes[n_known:]))
        _search_again(rows, blurred, indices, distances, n_known)
    return indices, distances


def _dense_known(data: FloatArray, n_known: int, m: int, search: str, seed: int) -> IntArray:
    known, new = data[:n_known], data[n_known:]
    if search == "auto" and len(new) < _MANY_NEW:
        search = "exact"
    if _choose(DenseRows(known), search)[0] == "approximate":
        index = approximate.build_index(known, m, seed, approximate.VOTE_RECALL)
        if 2 * index.n_probed <= index.n_cells:
            found = index.search(new, m)
            short = np.flatnonzero((found >= 0).sum(axis=1) < m)  # cells may have few samples
            if len(short):
                found[short] = _exact_known(known, new[short], found.shape[1])
            return found
    return _exact_known(known, new, min(n_known, m + SPARE_CANDIDATES))


def _exact_known(known: FloatArray, new: FloatArray, m: int) -> IntArray:
    n_known = len(known)
    centre = known.mean(axis=0)  # same distances, fewer digits lost in products
    exact = NearestNeighbors(n_neighbors=m, algorithm="brute").fit(known - centre)
    step = rows_per_call(n_known)
    parts = [
        exact.kneighbors(new[start : start + step] - centre, return_distance=False)
        for start in range(0, len(new), step)
    ]
    return np.concatenate(parts)


def _choose(rows: Rows, search: str) -> tuple[str, str]:
    return choose_search(rows.n_samples, isinstance(rows, DenseRows), search)


def choose_search(n: int, dense: bool, search: str) -> tuple[str, str]:
    """Which search, and why."""
    if search == "exact":
        return "exact", "as asked for"
    if not dense:
        return "exact", "sparse features"
    if search == "approximate":
        if not approximate.is_available():
            raise ImportError(
                "neighbor_search='approximate' needs faiss, which is not installed; "
                "expected: pip install 'manyview[fast]'"
            )
        return "approximate", "as asked for"
    if n <= EXACT_LIMIT:
        return "exact", f"no more than {EXACT_LIMIT} samples"
    if not approximate.is_available():
        warnings.warn(
            f"{n} samples and faiss is not installed: neighbours are searched exactly, in time "
            "that grows with the square of that; pip install 'manyview[fast]' for a faster search",
            stacklevel=2,
        )
        return "exact", "faiss is not installed"
    return "approximate", f"more than {EXACT_LIMIT} samples"


def _approximate(
    rows: DenseRows, m: int, index: approximate.CellIndex
) -> tuple[IntArray, FloatArray]:
    n, norms = rows.n_samples, rows.sq_norms()
    indices, distances = np.empty((n, m), dtype=np.intp), np.empty((n, m))
    for some, candidates in index.blocks(m):
        candidates.sort(axis=1)
        none = (candidates < 0) | (candidates == some[:, None])
        candidates[none] = 0
        gaps = _distances(rows, norms, some, candidates)
        gaps[none] = np.inf
        indices[some], distances[some] = _keep_nearest(candidates, gaps, m)
    _search_again(rows, np.flatnonzero(np.isinf(distances[:, -1])), indices, distances)
    return indices, distances


def _exact(rows: Rows, m: int) -> tuple[IntArray, FloatArray]:
    n = rows.n_samples
    proposed = min(n - 1, m + SPARE_CANDIDATES)
    if isinstance(rows, DenseRows):
        candidates, sizes = _dense_candidates(rows, proposed)
    elif isinstance(rows, SparseRows):
        candidates, sizes = _sparse_candidates(rows, proposed)
    else:
        candidates, sizes = _blockwise_candidates(rows, proposed)
    candidates.sort(axis=1)
    distances = _distances(rows, rows.sq_norms(), np.arange(n), candidates)
    indices, distances = _keep_nearest(candidates, distances, m)
    if proposed < n - 1:
        # Exact duplicates need no second search: nothing is closer than 0.
        last = distances[:, -1]
        blurred = np.flatnonzero((last > 0) & (last <= _BLUR * sizes))
        _search_again(rows, blurred, indices, distances)
    return indices, distances


def _dense_candidates(rows: DenseRows, m: int) -> tuple[IntArray, FloatArray]:
    """Proposed neighbours, and the squared norms of the rows they were found among."""
    centred = rows.data - rows.data.mean(axis=0)  # same distances, fewer digits lost in products
    search = NearestNeighbors(n_neighbors=m + 1, algorithm="brute").fit(centred)
    n = len(centred)
    found = np.empty((n, m), dtype=np.intp)
    step = rows_per_call(n)
    for start in range(0, n, step):
        own = np.arange(start, min(start + step, n))
        some = search.kneighbors(centred[own], return_distance=False)
        is_own = some == own[:, None]
        is_own[~is_own.any(axis=1), -1] = True  # among many equals it may not find itself
        found[own] = some[~is_own].reshape(len(own), m)
    return found, DenseRows(centred).sq_norms()


def rows_per_call(n: int) -> int:
    """Rows a call of a compiled search over n samples: about a second, so that Ctrl-C is heard."""
    return max(256, 2**29 // n)


def _sparse_candidates(rows: SparseRows, m: int) -> tuple[IntArray, FloatArray]:
    """The same through an inverted file of the features: no row ever becomes dense."""
    return _nearest_sparse(rows, m, 0, rows.n_samples), rows.sq_norms()


def _nearest_sparse(rows: SparseRows, m: int, first: int, n_searched: int) -> IntArray:
    """For every row from `first` on the m nearest others among the first `n_searched`."""
    from manyview import _kernels

    n, norms, sums = rows.n_samples, rows.sq_norms(), rows.sums()
    csr, csc = rows.matrix, rows.matrix[:n_searched].tocsc()
    found = np.empty((n - first, m), dtype=np.intp)
    step = rows_per_call(n_searched)
    for start in range(first, n, step):
        stop = min(start + step, n)
        found[start - first : stop - first] = _kernels.sparse_candidates(
            csr.indptr, csr.indices, csr.data, csc.indptr, csc.indices, csc.data,
            rows.scale, rows.shift, sums, norms, csr.shape[1], m, start, stop, n_searched,
        )  # fmt: skip
    return found


def _blockwise_candidates(rows: Rows, m: int) -> tuple[IntArray, FloatArray]:
    """The same by ||y||^2 - 2 x'y in blocks of rows: nothing N x N is ever held."""
    n = rows.n_samples
    norms = rows.sq_norms()
    found = np.empty((n, m), dtype=np.intp)
    step = max(1, BLOCK_BYTES // (8 * n))
    for start in range(0, n, step):
        stop = min(start + step, n)
        score = norms - 2 * rows.inner_products(slice(start, stop))
        score[np.arange(stop - start), np.arange(start, stop)] = np.inf
        found[start:stop] = np.argpartition(score, m - 1, axis=1)[:, :m]
    return found, norms


def _distances(
    rows: Rows, norms: FloatArray, targets: IntArray, candidates: IntArray
) -> FloatArray:
    distances = rows.sq_distances(targets, candidates)
    distances[distances <= _ZERO * (norms[targets, None] + norms[candidates])] = 0.0
    return distances


def _keep_nearest(
    candidates: IntArray, distances: FloatArray, m: int
) -> tuple[IntArray, FloatArray]:
    order = np.argsort(distances, axis=1, kind="stable")[:, :m]
    return np.take_along_axis(candidates, order, 1), np.take_along_axis(distances, order, 1)


def _search_again(
    rows: Rows,
    targets: IntArray,
    indices: IntArray,
    distances: FloatArray,
    n_known: int | None = None,
) -> None:
    """Replace the neighbours of `targets` by a search through all samples, by differences.

    Needed where even the last neighbour is closer than the rounding error of inner products. With
    `n_known` given it goes through the first so many rows, and targets are counted from there on.
    """
    m = indices.shape[1]
    n = rows.n_samples if n_known is None else n_known
    norms = rows.sq_norms()
    step = max(1, BLOCK_BYTES // (16 * n))
    for start in range(0, len(targets), step):
        some = targets[start : start + step]
        if n_known is None:
            own, others = some, np.arange(n - 1) + (np.arange(n - 1) >= some[:, None])
        else:
            own, others = n + some, np.tile(np.arange(n), (len(some), 1))
        found = _keep_nearest(others, _distances(rows, norms, own, others), m)
        indices[some], distances[some] = found
