"""How sure the label of a sample is: the share of its neighbours that are in its cluster."""

from __future__ import annotations

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
    """The share of the votes for the cluster that each sample is in; NaN where nobody votes.

    As `vote_shares` of the views' own graphs, or some rows of them from `first` on, without a
    number for every other cluster; `trust` (n_samples, n_views) is how much each voter counts.
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
