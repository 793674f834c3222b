"""Votes of neighbours: equal to a plain loop."""

import numpy as np
from scipy.sparse import csr_array

from manyview.graphs import own_cluster_share
from manyview.predict._voting import vote_shares, votes_by_distance


def plain_shares(graphs, labels, n_clusters, weights, trust):
    """As `vote_shares`, with votes weighted by the trust in the voter."""
    out = np.zeros((graphs[0].shape[0], n_clusters))
    for v, graph in enumerate(graphs):
        for i, row in enumerate(graph.toarray()):
            for j, value in enumerate(row):
                out[i, labels[j]] += weights[v] * value * trust[j, v]
    sums = out.sum(axis=1, keepdims=True)
    return out / np.where(sums > 0, sums, 1)


def test_vote_shares_and_confidence(rng):
    graphs = [csr_array(rng.random((9, 12)) * (rng.random((9, 12)) < 0.4)) for _ in range(3)]
    labels, weights, trust = rng.integers(0, 4, 12), rng.random(3), rng.random((12, 3))
    found = vote_shares(graphs, labels, 4, weights)
    everyone = np.ones_like(trust)
    np.testing.assert_allclose(
        found, plain_shares(graphs, labels, 4, weights, everyone), atol=1e-14
    )
    square = [csr_array(rng.random((12, 12)) * (rng.random((12, 12)) < 0.4)) for _ in range(3)]
    shares = plain_shares(square, labels, 4, weights, trust)
    own = own_cluster_share(square, labels, weights, trust)
    np.testing.assert_allclose(own, shares[np.arange(12), labels], atol=1e-14)


def test_samples_without_votes():
    empty = [csr_array((2, 3))]
    labels, trust = np.array([0, 1, 1]), np.ones((3, 1))
    assert not vote_shares(empty, labels, 2, np.ones(1)).any()
    assert np.isnan(own_cluster_share([csr_array((3, 3))], labels, np.ones(1), trust)).all()


def test_votes_by_distance():
    found = votes_by_distance(np.array([[0.0, 1.0, 4.0], [2.0, 2.0, 2.0], [0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(found, [[4 / 7, 3 / 7], [0.5, 0.5], [0.5, 0.5]])
