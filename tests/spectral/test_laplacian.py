"""Laplacians: matrix, operator and dense components equal those of NumPy."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array

from manyview.spectral import laplacian
from manyview.spectral._laplacian import dense_laplacian, laplacian_operator
from tests.helpers.random_graphs import random_graph


@pytest.fixture
def graph(rng):
    """Two components, and a sample without edges."""
    return csr_array(block_diag([random_graph(rng, 20), random_graph(rng, 15), [[0.0]]]))


def plain_laplacian(graph, normalized):
    M = graph.toarray()
    degrees = M.sum(axis=1)
    L = np.diag(degrees) - M
    root = np.sqrt(np.where(degrees > 0, degrees, 1))
    return L / root / root[:, None] if normalized else L


@pytest.mark.parametrize("normalized", [False, True])
def test_matrix_and_bound(graph, normalized):
    L, bound = laplacian(graph, normalized)
    expected = plain_laplacian(graph, normalized)
    np.testing.assert_allclose(L.toarray(), expected, atol=1e-14)
    assert np.linalg.eigvalsh(expected)[-1] <= bound


@pytest.mark.parametrize("normalized", [False, True])
def test_operator_and_null_vector(graph, normalized, rng):
    before = graph.copy()
    operator, null = laplacian_operator(graph, normalized, np.float64)
    expected, block = plain_laplacian(graph, normalized), rng.standard_normal((36, 8))
    np.testing.assert_allclose(operator.times(block), expected @ block, atol=1e-13)
    np.testing.assert_allclose(expected @ null, 0, atol=1e-13)
    assert abs(graph - before).nnz == 0


@pytest.mark.parametrize("normalized", [False, True])
def test_dense_laplacian_of_a_component(graph, normalized):
    samples, number = np.arange(20, 35), np.zeros(36, dtype=int)
    number[samples] = np.arange(15)
    found = dense_laplacian(graph, samples, number, normalized)
    expected = plain_laplacian(graph, normalized)[20:35, 20:35]
    np.testing.assert_allclose(found, expected, atol=1e-14)
