"""Patterns: union, symmetrisation, order and components equal those of NumPy and scipy."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from manyview.graphs import (
    _components,
    breadth_first_depth,
    component_labels,
    gathered,
    stack_graphs,
)
from manyview.graphs._row_block import reordered


def test_union_and_reverse_edges(problem):
    stack, S = problem.stack, problem.S
    for v in range(3):
        np.testing.assert_array_equal(problem.dense(stack.weights[v]), S[v])
        reverse = np.where(S.any(axis=0), S[v].T, 0.0)  # (j, i) where the pattern has (i, j)
        found = problem.dense(gathered(stack.weights[v], stack.reverse))
        np.testing.assert_array_equal(found, reverse)


def test_symmetrisation(problem):
    stack, S = problem.stack, problem.S
    for v in range(3):
        symmetric = stack.symmetric(stack.weights[v])
        np.testing.assert_array_equal(symmetric.toarray(), (S[v] + S[v].T) / 2)
        assert symmetric.data.all()
        assert symmetric.has_sorted_indices


def test_edges_that_cancel_are_none():
    """u_ij = -u_ji: no edge is counted, and none is written."""
    U = csr_array(np.array([[0.0, 1, 2], [-1, 0, 0], [0, 0, 0]]))
    stack = stack_graphs([csr_array(abs(U))])
    assert stack.symmetric(U.data).toarray().tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert stack.symmetric(U.data).nnz == 2


def test_order_of_rows_and_columns(problem, rng):
    order = rng.permutation(40)
    graph = csr_array(problem.S[0])
    graph.data[:5] = 0
    found = reordered(graph, order)
    np.testing.assert_array_equal(found.toarray(), graph.toarray()[np.ix_(order, order)])
    assert found.data.all()
    assert found.has_sorted_indices


def symmetric_pattern(n, edges):
    graph = csr_array((np.ones(len(edges)), np.array(edges).T), shape=(n, n))
    return csr_array(graph + graph.T)


def test_breadth_first_depth():
    graph = symmetric_pattern(6, [[0, 2], [2, 4], [4, 1], [1, 5], [0, 1]])  # 3 has no edges
    assert breadth_first_depth(graph) == 2


@pytest.mark.parametrize("n_edges", [10, 40, 120])
def test_components(rng, monkeypatch, n_edges):
    monkeypatch.setattr(_components, "_SMALL", 0)
    graph = symmetric_pattern(80, rng.integers(0, 80, (n_edges, 2)))
    found = component_labels(graph)
    np.testing.assert_array_equal(found, connected_components(graph)[1])
