"""Normalisation, neighbours and graphs: exactness, ties, order."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview.graphs._knn import nearest
from manyview.graphs._weights import complete_graph, neighbor_graph, precomputed_graph
from manyview.inputs._scaling import normalize_rows
from tests.helpers import oracle


def adaptive(matrix, k=15, how="zscore", weighting="adaptive"):
    rows = normalize_rows(matrix, how)
    return neighbor_graph(nearest(rows, k + 1), weighting, rows.sq_norms()).toarray()


def text_like(rng, n=120, width=40):
    """Counts with many zero rows, duplicates and scaled copies: ties everywhere."""
    X = rng.poisson(0.08, (n, width)).astype(float)
    X[: n // 5] = 0
    X[n // 5 : n // 4] = X[-1]
    X[n // 4 : n // 3] = 3 * X[-2]
    X[n // 3 : n // 3 + 4] = 1.0  # constant, though not zero
    return X


def test_constant_rows_become_zero_and_overflow_does_not_happen(rng):
    X = rng.standard_normal((6, 5))
    X[0] = 0.1
    for scale in (1.0, 1e-300, 1e300):
        rows = normalize_rows(X * scale, "zscore").data
        np.testing.assert_allclose(rows, oracle.zscore_rows(X), atol=1e-14)
        assert not rows[0].any()


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_neighbors_are_the_nearest(rng, make):
    X = rng.standard_normal((80, 7))
    near = nearest(normalize_rows(make(X), "zscore"), 9)
    D = oracle.squared_distances(oracle.zscore_rows(X))
    np.fill_diagonal(D, np.inf)
    np.testing.assert_array_equal(near.indices, np.argsort(D, axis=1)[:, :9])
    np.testing.assert_allclose(near.sq_distances, np.sort(D, axis=1)[:, :9], rtol=1e-12)


def test_neighbors_closer_than_the_rounding_of_inner_products(rng):
    """Far from the origin and all but equal: only differences can tell these apart."""
    X = 1e3 + np.arange(60)[:, None] ** 1.5 * np.array([[1e-9, 2e-9, -1e-9]])
    X = np.concatenate([X, rng.standard_normal((20, 3))])
    near = nearest(normalize_rows(X, None), 3)
    D = oracle.squared_distances(X)
    np.fill_diagonal(D, np.inf)
    np.testing.assert_allclose(near.sq_distances * 1024**2, np.sort(D, axis=1)[:, :3], rtol=1e-9)


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_graph_with_ties_equals_the_twin_in_any_order(rng, make):
    X = text_like(rng)
    expected = oracle.adaptive_graph(oracle.zscore_rows(X), 15)
    np.testing.assert_allclose(adaptive(make(X)), expected, atol=1e-12)
    order = rng.permutation(len(X))
    np.testing.assert_allclose(adaptive(make(X[order])), expected[np.ix_(order, order)], atol=1e-12)


def test_rows_without_information_are_empty(rng):
    X = text_like(rng)
    S = adaptive(X)
    sums = S.sum(axis=1)
    assert ((np.abs(sums - 1) < 1e-12) | (sums == 0)).all()
    zero_rows = ~X.any(axis=1)
    assert zero_rows.any()
    assert (sums[zero_rows] == 0).all()  # more than 16 of them, all at distance 0
    assert not S.diagonal().any()


@pytest.mark.parametrize("weighting", ["binary", "cosine", "heat"])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_other_weightings(rng, weighting, make):
    X = rng.standard_normal((50, 6))
    Z = oracle.zscore_rows(X)
    D = oracle.squared_distances(Z)
    np.fill_diagonal(D, np.inf)
    near = np.sort(D, axis=1)[:, [5]] > D
    np.fill_diagonal(D, 0)
    plain = {
        "binary": np.ones_like(D),
        "cosine": np.maximum(Z @ Z.T / 5, 0),
        "heat": np.exp(-D / (2 * D[near].mean())),
    }[weighting] * near
    expected = plain / plain.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(adaptive(make(X), 5, weighting=weighting), expected, atol=1e-12)


@pytest.mark.parametrize("weighting", ["binary", "cosine", "heat"])
def test_complete_graph(rng, weighting):
    X = rng.standard_normal((20, 6))
    S = complete_graph(normalize_rows(X, "unit"), weighting).toarray()
    np.testing.assert_allclose(S.sum(axis=1), 1)
    assert not S.diagonal().any()
    if weighting == "binary":
        np.testing.assert_allclose(S, (1 - np.eye(20)) / 19)
    else:  # closer samples weigh more
        Z = X / np.linalg.norm(X, axis=1, keepdims=True)
        closest = np.argmax(Z @ Z.T - 2 * np.eye(20), axis=1)
        np.testing.assert_array_equal(S.argmax(axis=1), closest)


def test_given_graph_is_scaled_only_where_it_is_too_heavy():
    G = np.array([[0, 0.5, 0.2], [3, 0, 1], [0, 0, 0]])
    S = precomputed_graph(G, np.arange(len(G)))
    np.testing.assert_allclose(S.toarray(), [[0, 0.5, 0.2], [0.75, 0, 0.25], [0, 0, 0]])
    assert G[1, 0] == 3
