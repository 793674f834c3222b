"""Which cluster a sample's neighbours are in: for new samples, and for how sure a label is.

In every view a sample's neighbours vote for their clusters. A vote counts by how close the
neighbour is, by the weight of the view, and by how much of the neighbour's own edges in that view
the other views agree with.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray
from manyview.graphs import TIE


def vote_shares(
    votes: Sequence[csr_array], labels: IntArray, n_clusters: int, weights: FloatArray
) -> FloatArray:
    """The share of the votes that every cluster gets.

    Parameters
    ----------
    votes : a matrix for every view, a row a voted-on sample and a column a voter
    labels : array of shape (n_voters,)
    weights : array of shape (n_views,)

    Returns
    -------
    array of shape (n_samples, n_clusters)
        Rows sum to 1, or to 0 where nobody votes.
    """
    n = len(labels)
    clusters = csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, n_clusters))
    totals = np.zeros((votes[0].shape[0], n_clusters))
    for own, weight in zip(votes, weights, strict=True):
        totals += weight * (own @ clusters).toarray()
    sums = totals.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(totals, sums, out=totals, where=sums > 0))


def vote_weights(sq_distances: FloatArray) -> FloatArray:
    """Weights of the first k of k + 1 nearest neighbours, rows summing to 1.

    In proportion to how much closer each is than the last, as in the views' graphs; equal where
    all are equally far, for a sample that has to be put somewhere.
    """
    boundary = sq_distances[:, -1:]
    gain = boundary - sq_distances[:, :-1]
    gain[gain <= TIE * boundary] = 0.0
    gain[~gain.any(axis=1)] = 1.0
    return np.asarray(gain / gain.sum(axis=1, keepdims=True))
