"""Eigenpairs, components and bridges."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array

from manyview.graphs._bridges import Bridges, add_bridges, closest_bridges, union_components
from manyview.inputs._scaling import normalize_rows
from manyview.spectral import _spectrum as spectral
from manyview.spectral._spectrum import laplacian_spectrum
from tests.helpers import oracle


def random_graph(rng, n, degree=6):
    G = np.where(rng.random((n, n)) < degree / n, rng.random((n, n)), 0)
    for i in range(n):  # a ring keeps it in one piece
        G[i, (i + 1) % n] = 0.1
    G = (G + G.T) / 2
    np.fill_diagonal(G, 0)
    return csr_array(G)


@pytest.fixture(params=["dense", "lanczos"])
def solver(request, monkeypatch):
    limit = 10_000 if request.param == "dense" else 0
    monkeypatch.setattr(spectral, "DENSE_LIMIT", limit)
    monkeypatch.setattr(spectral, "DENSE_LIMIT_MANY", limit)


@pytest.mark.parametrize("sizes", [[200], [120, 80], [90, 70, 1, 39], [100, 60, 30, 8, 1, 1]])
def test_spectrum_equals_the_twin(rng, solver, sizes):
    """Also in pieces, which are solved one by one; C = 4 lies on either side of their number."""
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
    if len(sizes) <= 4:  # else the embedding is not determined
        np.testing.assert_allclose(F @ F.T, vectors[:, :4] @ vectors[:, :4].T, atol=1e-9)


@pytest.mark.parametrize("sizes", [[200], [120, 80], [90, 70, 40]])
def test_going_on_from_a_similar_graph_is_as_exact(rng, monkeypatch, sizes):
    """The filter starts from a direct solver's vectors, of a graph with more pieces or as many."""
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
def test_a_group_that_comes_loose_is_not_missed(rng, monkeypatch, normalized, n_clusters):
    """Two cliques drift apart while nothing else changes: a low eigenvector that the last round's
    vectors have no share in."""
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


def test_where_going_on_takes_too_long_the_direct_solver_does_it(rng, monkeypatch):
    monkeypatch.setattr(spectral, "DENSE_LIMIT", 0)
    monkeypatch.setattr(spectral, "_PRODUCTS_FROM_EXACT", 1)
    graph, other = random_graph(rng, 200), random_graph(rng, 200)
    found = laplacian_spectrum(graph, 4, rng, start=laplacian_spectrum(other, 4, rng).warm_start)
    w, _ = oracle.smallest_eigenpairs(graph.toarray())
    assert found.converged
    assert found.residual == 0
    assert found.sum_c == pytest.approx(w[:4].sum(), abs=1e-12)


@pytest.mark.parametrize("n", [600, 3000])
def test_long_graphs(rng, n):
    """A ring, whose eigenvalues are known, come in pairs and lie close together."""
    links = np.arange(n), (np.arange(n) + 1) % n
    ring = csr_array((np.ones(n), links), shape=(n, n))
    found = laplacian_spectrum(csr_array(ring + ring.T), 6, rng)
    expected = np.sort(2 - 2 * np.cos(2 * np.pi * np.arange(n) / n))
    assert found.sum_c == pytest.approx(expected[:6].sum(), rel=1e-6)
    assert found.sum_c1 == pytest.approx(expected[:7].sum(), rel=1e-6)


@pytest.mark.parametrize("sizes", [[200], [90, 70, 1, 39]])
def test_normalised_spectrum_equals_the_twin(rng, solver, sizes):
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


def test_bridges_are_a_shortest_tree_between_pieces(rng):
    from scipy.sparse.csgraph import minimum_spanning_tree

    X = np.concatenate([rng.standard_normal((15, 3)) + 20 * c for c in rng.random((5, 3))])
    pieces = np.repeat(np.arange(5), 15)
    order = rng.permutation(75)
    X, pieces = X[order], pieces[order]
    rows = [normalize_rows(X, None), normalize_rows(csr_array(X * 7), None)]
    bridges = closest_bridges(pieces, rows).pairs
    D = oracle.squared_distances(X)
    between = np.array([
        [D[np.ix_(pieces == a, pieces == b)].min() if a != b else 0 for b in range(5)]
        for a in range(5)
    ])  # fmt: skip
    assert bridges.shape == (4, 2)
    assert (pieces[bridges[:, 0]] != pieces[bridges[:, 1]]).all()
    expected = minimum_spanning_tree(between).sum()
    assert D[bridges[:, 0], bridges[:, 1]].sum() == pytest.approx(expected)


def test_bridged_graphs_are_in_one_piece(rng):
    graph = csr_array(block_diag([random_graph(rng, n) for n in (10, 8, 1)]))
    bridged = add_bridges(graph, Bridges(np.array([[0, 12], [18, 3]]), np.array([1.0, 3.0])))
    assert union_components([graph])[0] == 3
    assert union_components([bridged])[0] == 1
    np.testing.assert_allclose(bridged.sum(axis=1), 1)
    assert bridged[18, 3] == 1  # all that row 18 has
    assert bridged[12, 0] > bridged[3, 18] > 0  # the longer bridge is the weaker
