"""Weights of neighbour graphs: equal to plain NumPy, whatever the order of the samples."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview.graphs import nearest
from manyview.graphs._weights import (
    EdgeRules,
    complete_graph,
    edge_rules,
    neighbor_graph,
    precomputed_graph,
)
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


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_graph_with_ties_in_any_order(rng, make):
    X = text_like(rng)
    expected = oracle.adaptive_graph(oracle.zscore_rows(X), 15)
    np.testing.assert_allclose(adaptive(make(X)), expected, atol=1e-12)
    order = rng.permutation(len(X))
    np.testing.assert_allclose(adaptive(make(X[order])), expected[np.ix_(order, order)], atol=1e-12)


def test_rows_with_more_ties_than_neighbours_are_empty(rng):
    X = text_like(rng)
    S = adaptive(X)
    sums = S.sum(axis=1)
    assert ((np.abs(sums - 1) < 1e-12) | (sums == 0)).all()
    zero_rows = ~X.any(axis=1)
    assert zero_rows.any()
    assert (sums[zero_rows] == 0).all()  # more than 16, all at distance 0
    assert not S.diagonal().any()


@pytest.mark.parametrize("scaling", ["standard", "tfidf"])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_equal_samples_are_neighbours_in_tables_and_words(rng, make, scaling):
    """Without it a table of few different rows would have hardly any edges."""
    few = rng.integers(1, 6, (4, 5)).astype(float)
    X = few[rng.integers(0, 4, 200)]
    rows = normalize_rows(make(X), None)
    near = nearest(rows, 12)
    plain = neighbor_graph(near, "adaptive", rows.sq_norms())
    assert plain.nnz == 0
    S = neighbor_graph(near, "adaptive", rows.sq_norms(), edge_rules(scaling)).toarray()
    same = (X[:, None] == X).all(axis=-1)
    np.fill_diagonal(same, False)
    expected = np.where(same & (np.cumsum(same, axis=1) <= 11), 1 / 11, 0)  # the first ones
    np.testing.assert_allclose(S, expected, atol=1e-15)
    assert edge_rules("zscore") == edge_rules("sqrt") == EdgeRules()


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


def test_precomputed_graph_is_scaled_where_rows_sum_to_more_than_1():
    G = np.array([[0, 0.5, 0.2], [3, 0, 1], [0, 0, 0]])
    S = precomputed_graph(G, np.arange(len(G)))
    np.testing.assert_allclose(S.toarray(), [[0, 0.5, 0.2], [0.75, 0, 0.25], [0, 0, 0]])
    assert G[1, 0] == 3
