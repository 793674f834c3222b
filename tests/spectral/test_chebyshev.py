"""The Chebyshev solver: eigenpairs, convergence, warm starts."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from manyview import SpectralAverage
from manyview.datasets import make_latent_views
from manyview.runtime import RowShare
from manyview.spectral import SOFT, kmeans_labels, laplacian_spectrum, soft_embedding
from manyview.spectral import _spectrum as spectral
from manyview.spectral._chebyshev import NullSpace, Operator, chebyshev_eigenpairs
from tests.helpers import oracle


@pytest.fixture(autouse=True)
def for_any_size(monkeypatch):
    monkeypatch.setattr(spectral, "CHEBYSHEV_LIMIT", 0)


def grouped_graph(rng, sizes, inside=12, outside=1.0):
    """A random graph with groups: a gap after as many eigenvalues as there are groups.

    Weights are eighths, which single precision holds exactly.
    """
    n = sum(sizes)
    group = np.repeat(np.arange(len(sizes)), sizes)
    same = group[:, None] == group
    chance = np.where(same, inside / np.array(sizes)[group], outside / n)
    G = np.where(rng.random((n, n)) < chance, rng.integers(1, 9, (n, n)) / 8, 0)
    G = G + G.T
    np.fill_diagonal(G, 0)
    for s in range(n - 1):  # every group is connected
        if same[s, s + 1]:
            G[s, s + 1] = G[s + 1, s] = 1
    return csr_array(G)


def test_blocks_of_several_panels(rng):
    """Blocks wider than the columns that are multiplied at a time: products, and the polynomial."""
    G = grouped_graph(rng, [60, 40])
    degrees = G.toarray().sum(axis=1)
    L, block = np.diag(degrees) - G.toarray(), rng.standard_normal((100, 70))
    bound, edge = 2 * degrees.max(), degrees.mean()
    operator = Operator(degrees, G, bound)
    np.testing.assert_allclose(operator.times(block), L @ block, atol=1e-12)
    values, vectors = np.linalg.eigh(L)
    flipped = (bound + edge - 2 * values) / (bound - edge)
    at_zero = (bound + edge) / (bound - edge)
    p = np.polynomial.Chebyshev.basis(6)
    expected = vectors @ ((p(flipped) / p(at_zero))[:, None] * (vectors.T @ block))
    found = operator.filter(block.copy(), 6, edge, np.float64)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_null_vectors_are_removed(rng):
    components, vector = rng.integers(0, 3, 50), rng.random(50) + 0.1
    block = rng.random((50, 8))
    expected = block.copy()
    for p in range(3):
        own = np.where(components == p, vector, 0) / np.linalg.norm(vector[components == p])
        expected -= own[:, None] * (own @ block)
    NullSpace(components, vector).remove_from(block, RowShare(50))
    np.testing.assert_allclose(block, expected, atol=1e-14)


def test_filter_is_a_chebyshev_polynomial(rng):
    """On a diagonal matrix: 1 at 0, at most 1 / T_d(...) from the edge to the bound."""
    grid = np.linspace(0, 3, 301)
    none = csr_array((301, 301), dtype=np.float32)
    values = Operator(grid, none, 3.0).filter(np.ones((301, 1)), 9, 0.5, np.float64)[:, 0]
    x = (3.5 - 2 * grid) / 2.5
    expected = np.polynomial.chebyshev.Chebyshev.basis(9)(x)
    np.testing.assert_allclose(values, expected / expected[0], atol=1e-12)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("components", [[[150, 150, 100, 120]], [[150, 150], [120], [80, 60, 90]]])
def test_spectrum_equals_that_of_numpy(rng, components, normalized):
    graph = csr_array(block_diag([grouped_graph(rng, sizes) for sizes in components]))
    n_clusters = sum(map(len, components))
    shuffled = rng.permutation(graph.shape[0])
    graph = csr_array(graph[shuffled][:, shuffled])
    found = laplacian_spectrum(graph, n_clusters, rng, normalized=normalized)
    M = graph.toarray()
    d = M.sum(axis=1)
    L = np.diag(d) - M
    if normalized:
        L = L / np.sqrt(d) / np.sqrt(d)[:, None]
    w, vectors = np.linalg.eigh(L)
    assert found.n_components == len(components)
    assert found.converged
    assert 0 < found.residual < 1e-4
    assert found.sum_c == pytest.approx(w[:n_clusters].sum(), abs=1e-5)
    assert found.sum_c1 > found.sum_c + 0.9 * (w[n_clusters] - w[n_clusters - 1])
    F, C = found.embedding, n_clusters
    np.testing.assert_allclose(F.T @ F, np.eye(C), atol=1e-5)  # in single precision
    np.testing.assert_allclose(F @ F.T, vectors[:, :C] @ vectors[:, :C].T, atol=1e-3)


def test_more_components_than_clusters_need_no_solver(rng, monkeypatch):
    monkeypatch.setattr(spectral, "chebyshev_eigenpairs", None)
    graph = csr_array(block_diag([grouped_graph(rng, [n]) for n in (30, 20, 10)]))
    found = laplacian_spectrum(graph, 2, rng)
    assert (found.n_components, found.sum_c, found.sum_c1) == (3, 0.0, 0.0)
    assert set(np.flatnonzero(found.embedding.any(axis=1))) == set(range(50))


def test_as_many_components_as_clusters(rng):
    graph = csr_array(block_diag([grouped_graph(rng, [n]) for n in (30, 20, 40)]))
    found = laplacian_spectrum(graph, 3, rng)
    w, _ = oracle.smallest_eigenpairs(graph.toarray())
    assert found.sum_c == 0
    assert found.sum_c1 > w[3] / 2  # only roughly, but not 0


def operator_of(graph):
    degrees = graph.sum(axis=1)
    weights = csr_array(graph, dtype=np.float32)
    null = NullSpace(np.zeros(len(degrees), dtype=int), np.ones(len(degrees)))
    return Operator(degrees, weights, 2 * degrees.max()), null


def test_double_precision_for_small_tolerances(rng):
    """Single precision can't reach 1e-12."""
    graph = grouped_graph(rng, [150, 150, 100])
    operator, null = operator_of(graph)
    low = chebyshev_eigenpairs(operator, 2, null, None, rng, tolerance=1e-12)
    w, vectors = oracle.smallest_eigenpairs(graph.toarray())
    assert low.converged
    np.testing.assert_allclose(low.values[:2], w[1:3], atol=1e-12)
    F = low.vectors[:, :2]
    np.testing.assert_allclose(F @ F.T, vectors[:, 1:3] @ vectors[:, 1:3].T, atol=1e-9)


@pytest.mark.parametrize("link", [1e-3, 1e-9])
def test_eigenvalues_that_single_precision_blurs(rng, link):
    """Two groups that hardly hang together: their eigenvalue is not taken for 0."""
    blocks = [grouped_graph(rng, [200, 200]), grouped_graph(rng, [300])]
    graph = csr_array(block_diag(blocks))
    ends = np.array([3, 500]), np.array([500, 3])
    graph = csr_array(graph + csr_array((np.full(2, link), ends), shape=graph.shape))
    found = laplacian_spectrum(graph, 3, rng)
    M = graph.toarray()
    w = np.linalg.eigvalsh(np.diag(M.sum(axis=1)) - M)
    assert found.n_components == 1
    assert found.converged
    assert found.values[1] == pytest.approx(w[1], rel=0.05, abs=1e-6)
    assert found.values[1] > 0.95 * w[1]
    kind = np.float64 if link < 1e-6 else np.float32
    assert found.warm_start.vectors.dtype == kind


@pytest.mark.parametrize("normalized", [False, True])
def test_graph_of_pairs(rng, normalized):
    """All eigenvalues are 0 or the bound: there is nothing that a filter could damp."""
    graph = csr_array(block_diag([np.ones((2, 2)) - np.eye(2)] * 20))
    found = laplacian_spectrum(graph, 22, rng, normalized=normalized)
    np.testing.assert_allclose(found.values, np.repeat([0, 2], [20, 3]), atol=1e-6)


def test_warm_start_saves_products(rng):
    graph = grouped_graph(rng, [150, 150, 100])
    operator, null = operator_of(graph)
    cold = chebyshev_eigenpairs(operator, 2, null, None, rng)
    warm = chebyshev_eigenpairs(operator, 2, null, cold, rng)
    assert warm.n_products < cold.n_products / 2
    fewer = chebyshev_eigenpairs(operator, 1, null, cold, rng)  # a component was cut off
    more = chebyshev_eigenpairs(operator, 12, null, cold, rng)
    assert fewer.vectors.shape[1] <= cold.vectors.shape[1] < more.vectors.shape[1]


def test_warning_without_convergence(rng, monkeypatch):
    """Seven eigenvectors of a graph without groups: no gap, and few products."""

    def hasty(*args, **options):
        return chebyshev_eigenpairs(*args, **{**options, "max_products": 20})

    monkeypatch.setattr(spectral, "chebyshev_eigenpairs", hasty)
    graph = grouped_graph(rng, [800])
    found = laplacian_spectrum(graph, 7, rng)
    assert not found.converged
    data = make_latent_views(300, 3, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"did not converge \(residual .*e-0\d\)"):
        SpectralAverage(9, random_state=0).fit(data.views)


def test_graph_with_a_large_diameter_goes_to_another_solver(rng):
    n = 4000
    links = np.arange(n), (np.arange(n) + 1) % n
    ring = csr_array((np.ones(n), links), shape=(n, n))
    found = laplacian_spectrum(csr_array(ring + ring.T), 6, rng)
    expected = np.sort(2 - 2 * np.cos(2 * np.pi * np.arange(n) / n))
    assert found.converged
    assert found.sum_c == pytest.approx(expected[:6].sum(), rel=1e-6)


def test_a_soft_embedding_needs_fewer_products_for_the_same_clusters():
    """The vectors near the unwanted ones hardly count in it."""
    data = make_latent_views(6000, 6, random_state=0)
    graphs = SpectralAverage(6, scaling="auto", random_state=0).fit(data.views).view_graphs_
    graph = csr_array(sum(graph + graph.T for graph in graphs))

    def clusters(tolerance):
        start = np.random.default_rng(0)
        found = laplacian_spectrum(graph, 12, start, normalized=True, soft_tolerance=tolerance)
        embedding = soft_embedding(found.embedding, found.values, 6)
        return kmeans_labels(embedding, 6, 0, by_distance=True), found.warm_start.n_products

    (exact, many), (soft, few) = clusters(None), clusters(SOFT)
    assert adjusted_rand_score(exact, soft) > 0.99
    assert few < 0.7 * many
