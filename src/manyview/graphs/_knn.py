"""Nearest neighbours of normalised rows, with ties that do not depend on sample order.

A fast search, by inner products or cells, proposes candidates. Their distances are then computed
from differences. So equal rows are at distance exactly 0, and a distance depends only on its two
rows.
"""

import time
from dataclasses import dataclass

import numpy as np
from sklearn.neighbors import NearestNeighbors

from manyview._typing import FloatArray, IntArray
from manyview.graphs import _cell_index as approximate
from manyview.graphs._cells import without_own
from manyview.inputs import DenseRows, Rows, SparseRows, powers_of_two

# Distances that differ by no more than this share are equal up to rounding.
TIE = 1e-12
# Squared distances below this share of the squared norms come from rounding in the rows.
_ZERO = 1e-28
# Squared distances below this share of the squared norms are noise to a search by inner products.
_BLUR = 1e-12
# Rows that agree in so many digits of the largest number are equal: rounding differs by block.
_EQUAL_DIGITS = 12
SPARE_CANDIDATES = 10
BLOCK_BYTES = 32 * 2**20

SEARCHES = ("auto", "exact", "approximate")
# Fewer new rows than this are not worth building an index of cells for.
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
        Cells of the index, and how many of them were searched per sample; 0 for "exact".
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
    """The m nearest other samples of every sample, nearest first."""

    indices: IntArray  # arrays of shape (n_samples, m)
    sq_distances: FloatArray
    search: NeighborSearch  # how they were found
    # (n_samples,): samples in an order in which neighbours are close to each other, if the search
    # made one; or None.
    order: IntArray | None = None


def nearest(rows: Rows, m: int, search: str = "exact", seed: int = 0) -> Neighbors:
    """The `m` nearest other samples of every sample.

    Parameters
    ----------
    search : {"auto", "exact", "approximate"}
        "approximate" searches in cells; sparse rows are always searched exactly. "auto" is
        "approximate" for more than `EXACT_LIMIT` dense rows.
    """
    started = time.perf_counter()
    method, reason = choose_search(rows.n_samples, isinstance(rows, DenseRows), search)
    recall, n_cells, n_probed, order = 1.0, 0, 0, None
    if method == "approximate" and isinstance(rows, DenseRows):
        index = approximate.build_index(rows.data, m, seed)
        if index.is_slow:
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


def choose_search(n: int, dense: bool, search: str) -> tuple[str, str]:
    """Which search, and why."""
    if search == "exact":
        return "exact", "as asked for"
    if not dense:
        return "exact", "sparse features"
    if search == "approximate":
        return "approximate", "as asked for"
    if n <= EXACT_LIMIT:
        return "exact", f"no more than {EXACT_LIMIT} samples"
    return "approximate", f"more than {EXACT_LIMIT} samples"


def nearest_reference(
    rows: DenseRows | SparseRows, n_reference: int, m: int, search: str, seed: int
) -> tuple[IntArray, FloatArray]:
    """For every row from `n_reference` on, its `m` nearest among the first `n_reference` rows.

    Returns their indices and squared distances, nearest first. "auto" is "approximate" where
    `nearest` would be and there are enough new rows.
    """
    if isinstance(rows, SparseRows):
        proposed = min(n_reference, m + SPARE_CANDIDATES)
        candidates = _sparse_candidates(rows, proposed, n_reference, n_reference)
    else:
        reference, new = rows.data[:n_reference], rows.data[n_reference:]
        candidates = _reference_candidates(reference, new, m, search, seed)
    return rank_candidates(rows, np.arange(n_reference, rows.n_samples), candidates, m)


def nearest_reference_exact(
    rows: DenseRows | SparseRows, n_reference: int, m: int
) -> tuple[IntArray, FloatArray]:
    """The same, as exact as `nearest` for rows closer than the rounding of inner products."""
    m = min(m, n_reference)
    proposed = min(m + SPARE_CANDIDATES, n_reference)
    indices, distances = nearest_reference(rows, n_reference, proposed, "exact", 0)
    indices, distances = indices[:, :m].copy(), distances[:, :m].copy()
    if proposed < n_reference:
        _search_blurred_again(rows, indices, distances, n_reference)
    return indices, distances


def rank_candidates(
    rows: Rows, targets: IntArray, candidates: IntArray, m: int, norms: FloatArray | None = None
) -> tuple[IntArray, FloatArray]:
    """The `m` nearest of each target's candidates, nearest first, with their squared distances.

    Negative candidates stand for none: their distance is infinite. `candidates` are overwritten.
    `norms` are the squared norms of all rows, if known.
    """
    candidates.sort(axis=1)
    none = candidates < 0
    candidates[none] = 0
    norms = rows.sq_norms() if norms is None else norms
    distances = rows.sq_distances(targets, candidates)
    distances[distances <= _ZERO * (norms[targets, None] + norms[candidates])] = 0.0
    distances[none] = np.inf
    order = np.argsort(distances, axis=1, kind="stable")[:, :m]
    return np.take_along_axis(candidates, order, 1), np.take_along_axis(distances, order, 1)


def rank_dense(
    rows: DenseRows, targets: IntArray, candidates: IntArray, m: int, norms: FloatArray
) -> tuple[IntArray, FloatArray]:
    """As `rank_candidates`, for dense rows by one compiled loop, which runs in any thread; a target
    is not its own neighbour."""
    from manyview import _kernels

    indices = np.empty((len(targets), m), dtype=np.intp)
    distances = np.empty((len(targets), m))
    _kernels.rank_dense(rows.data, norms, _ZERO, targets, candidates, indices, distances)
    return indices, distances


def rows_per_call(n: int) -> int:
    """Rows per call of a compiled search over n samples: about a second, so that Ctrl-C works."""
    return max(256, 2**29 // n)


def _reference_candidates(
    reference: FloatArray, new: FloatArray, m: int, search: str, seed: int
) -> IntArray:
    if search == "auto" and len(new) < _MANY_NEW:
        search = "exact"
    if choose_search(len(reference), True, search)[0] == "approximate":
        index = approximate.build_index(reference, m, seed, approximate.VOTE_RECALL)
        if not index.is_slow:
            found = index.search(new, m)
            short = np.flatnonzero((found >= 0).sum(axis=1) < m)  # cells may have few samples
            if len(short):
                found[short] = _dense_candidates(reference, new[short], found.shape[1])
            return found
    return _dense_candidates(reference, new, min(len(reference), m + SPARE_CANDIDATES))


def _dense_candidates(
    reference: FloatArray, rows: FloatArray, m: int, *, skip_own: bool = False
) -> IntArray:
    """The m nearest reference rows of every row, by inner products; itself excluded on demand."""
    centre = reference.mean(axis=0)  # same distances, fewer digits lost in products
    search = NearestNeighbors(n_neighbors=m + skip_own, algorithm="brute").fit(reference - centre)
    found = np.empty((len(rows), m), dtype=np.intp)
    step = rows_per_call(len(reference))
    for start in range(0, len(rows), step):
        some = slice(start, start + step)
        block = search.kneighbors(rows[some] - centre, return_distance=False)
        if skip_own:
            block = without_own(block, np.arange(start, start + len(block)))
        found[some] = block
    return found


def _approximate(
    rows: DenseRows, m: int, index: approximate.CellIndex
) -> tuple[IntArray, FloatArray]:
    n, norms = rows.n_samples, rows.sq_norms()
    indices, distances = np.empty((n, m), dtype=np.intp), np.empty((n, m))

    def take(some: IntArray, candidates: IntArray) -> None:
        indices[some], distances[some] = rank_dense(rows, some, candidates, m, norms)

    index.search_all(m, take)
    _search_again(rows, np.flatnonzero(np.isinf(distances[:, -1])), indices, distances)
    return indices, distances


def _exact(rows: Rows, m: int) -> tuple[IntArray, FloatArray]:
    n = rows.n_samples
    proposed = min(n - 1, m + SPARE_CANDIDATES)
    if isinstance(rows, DenseRows):
        candidates = _dense_candidates(rows.data, rows.data, proposed, skip_own=True)
    elif isinstance(rows, SparseRows):
        candidates = _sparse_candidates(rows, proposed, 0, n)
    else:
        candidates = _blockwise_candidates(rows, proposed)
    indices, distances = rank_candidates(rows, np.arange(n), candidates, m)
    if proposed < n - 1:
        _search_blurred_again(rows, indices, distances)
    return indices, distances


def _sparse_candidates(rows: SparseRows, m: int, first: int, n_searched: int) -> IntArray:
    """For every row from `first` on, the m nearest others among the first `n_searched`.

    Goes through an inverted index of the features: no row ever becomes dense.
    """
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


def _blockwise_candidates(rows: Rows, m: int) -> IntArray:
    """As `_dense_candidates`, by ||y||^2 - 2 x'y in blocks of rows, for several views joined."""
    n, norms = rows.n_samples, rows.sq_norms()
    found = np.empty((n, m), dtype=np.intp)
    step = max(1, BLOCK_BYTES // (8 * n))
    for start in range(0, n, step):
        stop = min(start + step, n)
        score = norms - 2 * rows.inner_products(slice(start, stop))
        score[np.arange(stop - start), np.arange(start, stop)] = np.inf
        found[start:stop] = np.argpartition(score, m - 1, axis=1)[:, :m]
    return found


def _search_blurred_again(
    rows: Rows, indices: IntArray, distances: FloatArray, n_reference: int | None = None
) -> None:
    """Search again where even the last neighbour is closer than the rounding of inner products."""
    norms = rows.sq_norms()
    if isinstance(rows, DenseRows):  # inner products were those of centred rows
        norms = DenseRows(rows.data - rows.data[:n_reference].mean(axis=0)).sq_norms()
    last = distances[:, -1]
    blurred = np.flatnonzero((last > 0) & (last <= _BLUR * norms[n_reference:]))
    _search_again(rows, blurred, indices, distances, n_reference)
    equal = np.flatnonzero(last == 0)
    if len(equal) and isinstance(rows, DenseRows):
        _take_first_equals(rows.data, equal, indices, n_reference)


def _take_first_equals(
    data: FloatArray, targets: IntArray, indices: IntArray, n_reference: int | None
) -> None:
    """Replace the neighbours of `targets`, all equal to them, by the first ones that are.

    Which of more than m equal rows a search finds depends on the number of threads.
    """
    m = indices.shape[1]
    own = targets if n_reference is None else n_reference + targets
    rounded = np.round(data / powers_of_two(np.abs(data).max()), _EQUAL_DIGITS) + 0.0
    group = np.unique(rounded, axis=0, return_inverse=True)[1].ravel()
    sizes = np.bincount(group[:n_reference], minlength=group.max() + 1)
    members = np.argsort(group[:n_reference], kind="stable")
    many = sizes[group[own]] > m
    begin = (np.cumsum(sizes) - sizes)[group[own[many]]]
    first = members[begin[:, None] + np.arange(m + 1)]
    indices[targets[many]] = without_own(first, own[many])


def _search_again(
    rows: Rows,
    targets: IntArray,
    indices: IntArray,
    distances: FloatArray,
    n_reference: int | None = None,
) -> None:
    """Replace the neighbours of `targets` by those of a search through all rows, by differences.

    With `n_reference` it goes through the first so many rows, and targets count from there on.
    """
    m, norms = indices.shape[1], rows.sq_norms()
    n = rows.n_samples if n_reference is None else n_reference
    step = max(1, BLOCK_BYTES // (16 * n))
    for start in range(0, len(targets), step):
        some = targets[start : start + step]
        if n_reference is None:
            own, others = some, np.arange(n - 1) + (np.arange(n - 1) >= some[:, None])
        else:
            own, others = n + some, np.tile(np.arange(n), (len(some), 1))
        indices[some], distances[some] = rank_candidates(rows, own, others, m, norms)
