"""Normalised rows -> exact nearest neighbours, with ties that do not depend on sample order.

A fast search by inner products proposes candidates; their distances are then summed again from
differences. So identical rows are at distance exactly 0, and a distance depends on its two rows
and on nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.neighbors import NearestNeighbors

from manyview._typing import FloatArray, IntArray
from manyview.scaling import DenseRows, Rows

# Distances within this share of each other are equal up to rounding.
TIE = 1e-12
# Squared distances below this share of the squared norms come from rounding in the rows.
_ZERO = 1e-28
# Squared distances below this share of the squared norms are noise to a search by inner products.
_BLUR = 1e-12
_SPARE_CANDIDATES = 10
_BLOCK_BYTES = 32 * 2**20


@dataclass(frozen=True)
class Neighbors:
    """The m nearest other samples of every sample, nearest first.

    Attributes
    ----------
    indices, sq_distances : arrays of shape (n_samples, m)
    """

    indices: IntArray
    sq_distances: FloatArray


def nearest(rows: Rows, m: int) -> Neighbors:
    """Exact `m` nearest other samples of every sample."""
    n = rows.n_samples
    proposed = min(n - 1, m + _SPARE_CANDIDATES)
    if isinstance(rows, DenseRows):
        candidates, sizes = _dense_candidates(rows, proposed)
    else:
        candidates, sizes = _blockwise_candidates(rows, proposed)
    candidates.sort(axis=1)
    distances = _distances(rows, np.arange(n), candidates)
    indices, distances = _keep_nearest(candidates, distances, m)
    if proposed < n - 1:
        # Exact duplicates need no second search: nothing is closer than 0.
        last = distances[:, -1]
        blurred = np.flatnonzero((last > 0) & (last <= _BLUR * sizes))
        _search_again(rows, blurred, indices, distances)
    return Neighbors(indices, distances)


def _dense_candidates(rows: DenseRows, m: int) -> tuple[IntArray, FloatArray]:
    """Proposed neighbours, and the squared norms of the rows they were found among."""
    centred = rows.data - rows.data.mean(axis=0)  # same distances, fewer digits lost in products
    search = NearestNeighbors(n_neighbors=m, algorithm="brute").fit(centred)
    found = np.asarray(search.kneighbors(return_distance=False), dtype=np.intp)
    return found, DenseRows(centred).sq_norms()


def _blockwise_candidates(rows: Rows, m: int) -> tuple[IntArray, FloatArray]:
    """The same by ||y||^2 - 2 x'y in blocks of rows: nothing N x N is ever held."""
    n = rows.n_samples
    norms = rows.sq_norms()
    found = np.empty((n, m), dtype=np.intp)
    step = max(1, _BLOCK_BYTES // (8 * n))
    for start in range(0, n, step):
        stop = min(start + step, n)
        score = norms - 2 * rows.inner_products(start, stop)
        score[np.arange(stop - start), np.arange(start, stop)] = np.inf
        found[start:stop] = np.argpartition(score, m - 1, axis=1)[:, :m]
    return found, norms


def _distances(rows: Rows, targets: IntArray, candidates: IntArray) -> FloatArray:
    distances = rows.sq_distances(targets, candidates)
    norms = rows.sq_norms()
    distances[distances <= _ZERO * (norms[targets, None] + norms[candidates])] = 0.0
    return distances


def _keep_nearest(
    candidates: IntArray, distances: FloatArray, m: int
) -> tuple[IntArray, FloatArray]:
    order = np.argsort(distances, axis=1, kind="stable")[:, :m]
    return np.take_along_axis(candidates, order, 1), np.take_along_axis(distances, order, 1)


def _search_again(rows: Rows, targets: IntArray, indices: IntArray, distances: FloatArray) -> None:
    """Replace the neighbours of `targets` by a search through all samples, by differences.

    Needed where even the last neighbour is closer than the rounding error of inner products.
    """
    n, m = indices.shape
    step = max(1, _BLOCK_BYTES // (16 * n))
    for start in range(0, len(targets), step):
        some = targets[start : start + step]
        others = np.arange(n - 1) + (np.arange(n - 1) >= some[:, None])
        found = _keep_nearest(others, _distances(rows, some, others), m)
        indices[some], distances[some] = found
