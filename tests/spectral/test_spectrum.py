"""Eigenpairs of Laplacians, by direct solvers."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array

from manyview.spectral import _spectrum as spectral
from manyview.spectral import laplacian_spectrum
from tests.helpers import oracle
from tests.helpers.random_graphs import random_graph


@pytest.fixture(params=["dense", "lanczos"])
def solver(request, monkeypatch):
    limit = 10_000 if request.param == "dense" else 0
    monkeypatch.setattr(spectral, "DENSE_LIMIT", limit)
    monkeypatch.setattr(spectral, "DENSE_LIMIT_MANY", limit)


@pytest.mark.parametrize("sizes", [[200], [120, 80], [90, 70, 1, 39], [100, 60, 30, 8, 1, 1]])
def test_spectrum_equals_that_of_numpy(rng, solver, sizes):
    """Also with several components, fewer or more than C = 4."""
    graph = csr_array(block_diag([random_graph(rng, n) for n in sizes]))
    shuffled = rng.permutation(200)
    graph = csr_array(graph[shuffled][:, shuffled])
    found = laplacian_spectrum(graph, 4, rng)
    w, vectors = oracle.smallest_eigenpairs(graph.toarray())
    assert found.n_components == len(sizes)
    assert found.sum_c == pytest.approx(w[:4].sum(), abs=1e-12)
    assert found.sum_c1 == pytest.approx(w[:5].sum(), abs=1e-12)
    F = found.embedding
    np.testing.assert_allclose(F.T @ F, np.eye(4), atol=1e-10)
    if len(sizes) <= 4:  # else the embedding is not unique
        np.testing.assert_allclose(F @ F.T, vectors[:, :4] @ vectors[:, :4].T, atol=1e-9)


@pytest.mark.parametrize("sizes", [[200], [120, 80], [90, 70, 40]])
def test_warm_start_is_as_exact(rng, monkeypatch, sizes):
    """From the vectors of a direct solver, of a graph with as many or fewer components."""
    monkeypatch.setattr(spectral, "DENSE_LIMIT", 0)
    graph = csr_array(block_diag([random_graph(rng, n) for n in sizes]))
    bridge = csr_array(([0.05, 0.05], ([0, 199], [199, 0])), shape=(200, 200))
    for before in (graph, csr_array(graph + bridge), csr_array(1.1 * graph)):
        start = laplacian_spectrum(before, 4, rng).warm_start
        found = laplacian_spectrum(graph, 4, rng, start=start)
        w, vectors = oracle.smallest_eigenpairs(graph.toarray())
        assert found.sum_c == pytest.approx(w[:4].sum(), abs=1e-12)
        assert found.sum_c1 == pytest.approx(w[:5].sum(), abs=1e-8)
        F = found.embedding
        np.testing.assert_allclose(F @ F.T, vectors[:, :4] @ vectors[:, :4].T, atol=1e-9)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("n_clusters", [4, 5, 13])
def test_warm_start_finds_a_group_that_became_disconnected(
    rng, monkeypatch, normalized, n_clusters
):
    """Two cliques separate while nothing else changes: no vector of the start has a share in the
    new eigenvector."""
    monkeypatch.setattr(spectral, "DENSE_LIMIT", 0)

    def chain(count, size, link):
        G = np.kron(np.eye(count), np.ones((size, size)) - np.eye(size)) / (size - 1)
        for end in range(size - 1, count * size - 1, size):
            G[end, end + 1] = G[end + 1, end] = link
        return csr_array(G)

    start = None
    for link in (0.9, 0.5, 0.1, 0.001, 1e-5):
        graph = csr_array(block_diag([chain(12, 10, 0.01), chain(2, 50, link)]))
        found = laplacian_spectrum(graph, n_clusters, rng, normalized=normalized, start=start)
        alone = laplacian_spectrum(graph, n_clusters, rng, normalized=normalized)
        np.testing.assert_allclose(found.values, alone.values, atol=1e-9)
        start = found.warm_start


def test_direct_solver_after_a_slow_warm_start(rng, monkeypatch):
    monkeypatch.setattr(spectral, "DENSE_LIMIT", 0)
    monkeypatch.setattr(spectral, "_PRODUCTS_FROM_EXACT", 1)
    graph, other = random_graph(rng, 200), random_graph(rng, 200)
    found = laplacian_spectrum(graph, 4, rng, start=laplacian_spectrum(other, 4, rng).warm_start)
    w, _ = oracle.smallest_eigenpairs(graph.toarray())
    assert found.converged
    assert found.residual == 0
    assert found.sum_c == pytest.approx(w[:4].sum(), abs=1e-12)


@pytest.mark.parametrize("n", [600, 3000])
def test_graphs_with_a_large_diameter(rng, n):
    """A ring: its eigenvalues are known, come in pairs and are close together."""
    links = np.arange(n), (np.arange(n) + 1) % n
    ring = csr_array((np.ones(n), links), shape=(n, n))
    found = laplacian_spectrum(csr_array(ring + ring.T), 6, rng)
    expected = np.sort(2 - 2 * np.cos(2 * np.pi * np.arange(n) / n))
    assert found.sum_c == pytest.approx(expected[:6].sum(), rel=1e-6)
    assert found.sum_c1 == pytest.approx(expected[:7].sum(), rel=1e-6)


@pytest.mark.parametrize("sizes", [[200], [90, 70, 1, 39]])
def test_normalised_spectrum_equals_that_of_numpy(rng, solver, sizes):
    graph = csr_array(block_diag([random_graph(rng, n) for n in sizes]))
    found = laplacian_spectrum(graph, 4, rng, normalized=True)
    M = graph.toarray()
    d = M.sum(axis=1)
    root = np.where(d > 0, 1 / np.sqrt(np.where(d > 0, d, 1)), 0)
    w, vectors = np.linalg.eigh(np.diag((d > 0) * 1.0) - root[:, None] * M * root)
    assert found.sum_c1 == pytest.approx(w[:5].sum(), abs=1e-12)
    F = found.embedding
    np.testing.assert_allclose(F @ F.T, vectors[:, :4] @ vectors[:, :4].T, atol=1e-9)


def test_as_many_clusters_as_samples(rng):
    found = laplacian_spectrum(random_graph(rng, 12), 12, rng)
    assert np.isinf(found.sum_c1)
    np.testing.assert_allclose(found.embedding @ found.embedding.T, np.eye(12), atol=1e-12)
