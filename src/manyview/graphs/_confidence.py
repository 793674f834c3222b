"""Confidence of labels: the share of a sample's neighbours that are in its own cluster."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray


def own_cluster_share(
    graphs: Sequence[csr_array],
    labels: IntArray,
    weights: FloatArray,
    trust: FloatArray,
    first: int = 0,
) -> FloatArray:
    """The share of the votes for each sample's own cluster; NaN for samples without votes.

    Neighbours vote for their clusters, by edge weight, view weight and `trust` in the voter
    (n_samples, n_views). `graphs` are the views' graphs, or rows of them from `first` on.
    """
    n = graphs[0].shape[0]
    total, agreed = np.zeros(n), np.zeros(n)
    for graph, weight, own in zip(graphs, weights / weights.sum(), trust.T, strict=True):
        rows = np.repeat(np.arange(n), np.diff(graph.indptr))
        votes = weight * graph.data * own[graph.indices]
        same = labels[first + rows] == labels[graph.indices]
        total += np.bincount(rows, votes, minlength=n)
        agreed += np.bincount(rows[same], votes[same], minlength=n)
    return np.asarray(np.divide(agreed, total, out=np.full(n, np.nan), where=total > 0))
