"""Votes of neighbours for their clusters.

In every view a sample's neighbours vote for their own clusters. A vote counts by how close the
neighbour is, by the weight of the view, and by the trust in the neighbour: the share of its edges
in that view that the other views agree with.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray
from manyview.graphs import neighbor_weights


def vote_shares(
    votes: Sequence[csr_array], labels: IntArray, n_clusters: int, weights: FloatArray
) -> FloatArray:
    """(n_samples, n_clusters): the share of the votes for every cluster.

    `votes` has one matrix (n_samples, n_voters) per view, `labels` are those of the voters,
    `weights` those of the views. Rows sum to 1, or to 0 without votes.
    """
    n = len(labels)
    clusters = csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, n_clusters))
    totals = np.zeros((votes[0].shape[0], n_clusters))
    for own, weight in zip(votes, weights, strict=True):
        totals += weight * (own @ clusters).toarray()
    sums = totals.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(totals, sums, out=totals, where=sums > 0))


def votes_by_distance(sq_distances: FloatArray) -> FloatArray:
    """Votes of the first k of k + 1 nearest neighbours, rows summing to 1.

    As in an "adaptive" graph; equal votes if all neighbours are equally far.
    """
    gain = neighbor_weights(sq_distances, "adaptive")
    gain[~gain.any(axis=1)] = 1.0
    return np.asarray(gain / gain.sum(axis=1, keepdims=True))
