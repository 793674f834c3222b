"""The scaled exponential kernel of SNF and NEMO, as wide as both samples' neighbourhoods are."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray
from manyview.graphs._dense_kernels import all_sq_distances
from manyview.graphs._knn import NeighborSearch, nearest
from manyview.graphs._row_block import starts
from manyview.inputs import Rows

# Of the width sigma; the authors of both methods have used no other.
_MU = 0.5
#: Where not all pairs are looked at: candidates per wanted edge.
AFFINITY_REACH = 3
_EPS = float(np.finfo(np.float64).eps)
# Rows at a time, so that what is computed on the way stays in the cache.
_BLOCK = 64


@dataclass(frozen=True)
class Affinity:
    """Similarities of every sample to itself and others: to all, or to the nearest ones."""

    indices: IntArray  # arrays of shape (n_samples, m)
    values: FloatArray
    search: NeighborSearch  # how the neighbours were found
    informative: bool = True  # False if all samples are equal; then each is similar to itself alone

    def strongest(self, values: FloatArray, k: int) -> csr_array:
        """The k entries of each row with the largest values, and those tied with the last."""
        k = min(k, values.shape[1])
        kept = values >= np.partition(values, -k, axis=1)[:, -k, None]
        n, m = values.shape
        places = np.flatnonzero(kept)
        columns = self.indices[places // m, places % m].astype(np.int32)
        lengths = starts(kept.sum(axis=1))
        graph = csr_array((values.ravel()[places], columns, lengths), shape=(n, n))
        graph.sort_indices()
        return graph


def lone_affinity(n: int) -> Affinity:
    """That of a view without information: each sample is similar to itself alone."""
    return _itself_alone(n, 1)


def _itself_alone(n: int, width: int) -> Affinity:
    how = NeighborSearch("exact", "no sample is nearer than another one", 1.0, 0, 0, 0.0)
    if width == 1:
        return Affinity(np.arange(n)[:, None], np.ones((n, 1)), how, informative=False)
    indices = np.broadcast_to(np.arange(n), (n, width))
    return Affinity(indices, np.eye(n), how, informative=False)


def scaled_affinity(
    rows: Rows, k: int, *, squared: bool, all_pairs: bool, search: str, seed: int
) -> Affinity:
    """exp(-d^2 / (2 s^2)) / s, where s is half the mean of d and of both samples' mean distance to
    their k nearest others; with `squared` d is the squared distance.

    Unless `all_pairs` are wanted, only the nearest samples of each one are looked at, 3 k.
    """
    n = rows.n_samples
    if not rows.sq_distances(np.zeros(1, dtype=np.intp), np.arange(n)[None]).any():
        return _itself_alone(n, n if all_pairs else 1)
    if all_pairs:
        how = NeighborSearch("exact", "all pairs are compared", 1.0, 0, 0, 0.0)
        indices, d = np.broadcast_to(np.arange(n), (n, n)), all_sq_distances(rows)
    else:
        near = nearest(rows, min(AFFINITY_REACH * k, n - 1), search, seed)
        how, indices = near.search, np.hstack([np.arange(n)[:, None], near.indices])
        d = np.hstack([np.zeros((n, 1)), near.sq_distances])
    d = d if squared else np.sqrt(d, out=d)
    # Each row has the sample itself, at distance 0.
    blocks = [slice(start, start + _BLOCK) for start in range(0, n, _BLOCK)]
    nearest_k = [np.partition(d[some], k, axis=1)[:, : k + 1].sum(axis=1) for some in blocks]
    means = np.concatenate(nearest_k) / k + _EPS
    for some in blocks:
        _similarities(d[some], means[some, None], means[indices[some]])
    return Affinity(indices, d, how)


def _similarities(d: FloatArray, own: FloatArray, others: FloatArray) -> None:
    """Replace distances by similarities. `own` and `others` are mean distances to neighbours."""
    s = own + others
    s += d
    s /= 3
    s[s <= _EPS] = 0.0
    s += _EPS
    s *= _MU
    d /= s
    d *= d
    d /= -2
    np.exp(d, out=d)
    d /= s
