"""Rows of the graphs on several ranks have exactly what all rows together have."""

import queue
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from manyview.graphs import (
    ClusterWeightByView,
    EdgeCounts,
    EdgeWeightByView,
    MeanGraph,
    OwnClusterShare,
    WeightedMean,
    join_connected,
    stack_graphs,
)
from manyview.methods import _fusion_steps as steps
from manyview.methods._doubts import edge_counts
from manyview.runtime import RowShare, _row_share
from manyview.spectral import (
    Operator,
    kmeans_labels,
    label_stability,
    laplacian_spectrum,
    relabel_by_first_sample,
)
from manyview.spectral import _labels as labels_module
from manyview.spectral import _spectrum as spectral
from manyview.spectral._laplacian import laplacian_operator

pytest.importorskip("distributed", reason="needs the extra 'dask'")

from manyview.distributed._build import _components
from manyview.distributed._ranks import Ranks, RankShare
from manyview.distributed._stack import rank_stack

N, V = 61, 3


class ThreadRanks(Ranks):
    """Ranks that are threads, and send by queues."""

    def __init__(self, rank, count, queues):
        self.rank, self.count = rank, count
        self._queues, self._number, self._sending = queues, 0, []

    def _send(self, contents):
        for other, content in contents.items():
            self._queue(self.rank, other).put(content)

    def _receive(self, other):
        return self._queue(other, self.rank).get(timeout=20)

    def _queue(self, sender, receiver):
        return self._queues.setdefault((sender, receiver, self._number), queue.Queue())


def on_ranks(count, function):
    """What function(ranks) gives on each rank."""
    queues, found, errors = {}, [None] * count, []

    def run(rank):
        try:
            found[rank] = function(ThreadRanks(rank, count, queues))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=[rank]) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return found


def random_graph(rng, n, share):
    """Directed, rows summing to 1 or empty."""
    dense = np.where(rng.random((n, n)) < share, rng.random((n, n)), 0.0)
    np.fill_diagonal(dense, 0.0)
    dense[rng.random(n) < 0.1] = 0.0
    sums = dense.sum(axis=1, keepdims=True)
    return csr_array(dense / np.where(sums > 0, sums, 1.0))


class Cut:
    """The same graphs on one machine and on ranks."""

    def __init__(self, graphs, bounds):
        self.whole, self.graphs = stack_graphs(graphs), graphs
        self.bounds = np.array(bounds)

    def own(self, ranks, values):
        """What the whole has for its edges or rows, as a rank has it."""
        a, b = self.bounds[ranks.rank : ranks.rank + 2]
        if len(values) == N:
            return values[a:b]
        start, stop = self.whole.indptr[[a, b]]
        return values[..., start:stop]

    def each(self, function):
        """function(stack, own) on each rank; `own` cuts edges and rows."""

        def run(ranks):
            a, b = self.bounds[ranks.rank : ranks.rank + 2]
            graphs = [graph[a:b] for graph in self.graphs]
            order = np.arange(a, b)
            stack = rank_stack(ranks, graphs, self.bounds, order, np.arange(V), None)
            return function(stack, lambda values: self.own(ranks, values))

        return on_ranks(len(self.bounds) - 1, run)


@pytest.fixture(params=[(0, 20, 45, N), (0, 1, 2, N), (0, N), (0, 8, 16, 24, 32, 40, N)])
def cut(request, rng):
    return Cut([random_graph(rng, N, share) for share in (0.05, 0.1, 0.02)], request.param)


@pytest.fixture
def values(cut, rng):
    """A graph on the pattern, some of its edges 0."""
    return np.where(rng.random(len(cut.whole.indices)) < 0.2, 0.0, rng.random())


@pytest.fixture
def parts(cut, rng):
    return np.asfortranarray(cut.whole.weights * rng.random(cut.whole.weights.shape))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_steps_on_edges(cut, values, parts, rng, kind):
    whole = cut.whole
    F, pull, factor = rng.standard_normal((N, 4)).astype(kind), *rng.random((2, N))
    B, shares, one, two = np.eye(V) + 0.1, *rng.random((2, V)), rng.random((V, V))
    weights = 0.5 + rng.random(V)

    def some(own, whole=False):
        looked_up = F if whole else own(F)
        return [
            (MeanGraph(), ()),
            (WeightedMean(shares), ()),
            (steps.ProjectRows(looked_up, own(pull), own(factor), shares), (parts,)),
            (steps.SplitExact(weights, B), (values, parts)),
            (steps.SplitLinear(one, two, True), (values, parts)),
            (steps.SplitLinear(one, two, False), (values, parts)),
        ]

    for number, (step, graphs) in enumerate(some(lambda rows: rows, True)):
        expected = whole.edges(step, *(graph.copy(order="F") for graph in graphs))

        def run(stack, own, number=number):
            step, graphs = some(own)[number]
            return stack.edges(step, *(own(graph).copy(order="F") for graph in graphs))

        found = np.concatenate(cut.each(run), axis=-1)
        np.testing.assert_array_equal(found, expected)


def test_steps_on_rows(cut, values, parts, rng):
    whole = cut.whole
    labels, trust, weights = rng.integers(0, 3, N), rng.random((N, V)), rng.random(V)
    for make, graphs in [
        (lambda own: EdgeWeightByView(), ()),
        (lambda own: OwnClusterShare(own(labels), own(trust), weights), ()),
        (lambda own: steps.RowResiduals(), (values, parts)),
        (lambda own: steps.InconsistentWeightByView(), (parts,)),
        (lambda own: steps.InitialRowResiduals(), (values,)),
    ]:

        def run(stack, own, make=make, graphs=graphs):
            return stack.rows(make(own), *map(own, graphs))

        expected = whole.rows(make(lambda rows: rows), *graphs)
        # Halves from outside of the pattern are added up in the order of the incoming edges.
        np.testing.assert_allclose(np.concatenate(cut.each(run)), expected, rtol=1e-14)


def test_steps_that_are_summed(cut, values, parts, rng):
    F, labels = rng.standard_normal((N, 3)), rng.integers(0, 3, N)
    for make, graphs in [
        (lambda own: steps.InconsistencyProducts(), [parts]),
        (lambda own: steps.EmbeddingVariation(own(F)), [values]),
        (lambda own: ClusterWeightByView(own(labels), 3), []),
        (lambda own: EdgeCounts(), []),
    ]:

        def run(stack, own, make=make, graphs=graphs):
            return stack.total(make(own), *map(own, graphs))

        total = cut.whole.total(make(lambda rows: rows), *graphs)
        for found in cut.each(run):
            np.testing.assert_allclose(found, total, rtol=1e-13)


def test_edge_counts_are_those_of_the_graphs(cut):
    counts = cut.whole.total(EdgeCounts())
    shared, rows = edge_counts(cut.graphs)
    np.testing.assert_array_equal(counts, np.column_stack([shared, rows]))


def test_a_stack_does_not_write_on_its_own_graphs(cut, values):
    step = steps.SplitExact(np.array([0.6, 0.7, 0.8]), np.eye(V) + 0.1)
    before = cut.whole.weights.copy()
    assert (cut.whole.edges(step, values, cut.whole.view_graphs) != before).any()
    np.testing.assert_array_equal(cut.whole.weights, before)

    def run(stack, own):
        kept = stack.view_graphs.copy()
        stack.edges(step, own(values), stack.view_graphs)
        return np.array_equal(kept, stack.view_graphs)

    assert all(cut.each(run))


def test_components_of_consistent_parts(cut, parts):
    parts = np.where(parts < np.quantile(parts, 0.9), 0.0, parts)
    expected = cut.whole.n_components(parts)
    assert set(cut.each(lambda stack, own: stack.n_components(own(parts)))) == {expected}


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("normalized", [False, True])
def test_products_and_filters(cut, values, rng, normalized, precision):
    """Each step from the rows that neighbours have on other ranks."""
    graph, block = cut.whole.symmetric(values, precision), rng.standard_normal((N, 8))
    whole, null = laplacian_operator(graph, normalized, precision)
    edge = 0.3 * whole.bound

    def run(stack, own):
        operator, null = stack.symmetric(own(values), precision).laplacian(normalized)
        rows = own(block)
        return null, operator.times(rows), operator.filter(rows, 9, edge, precision)

    filtered = whole.filter(block.copy(), 9, edge, precision)  # which may write over it
    expected = null, whole.times(block), filtered
    for found, wanted in zip(zip(*cut.each(run), strict=True), expected, strict=True):
        np.testing.assert_array_equal(np.concatenate(found), wanted)


@pytest.mark.parametrize("cut", [(0, 16, 40, N), (0, 8, N)], indirect=True)
@pytest.mark.parametrize("trial", [20, 100])
def test_eigenvectors_labels_and_stability(cut, values, monkeypatch, trial):
    """Ranks with whole segments have the bits of one machine."""
    monkeypatch.setattr(_row_share, "_SHORTEST", 8)
    monkeypatch.setattr(spectral, "CHEBYSHEV_LIMIT", 0)
    monkeypatch.setattr(labels_module, "TRIAL_SAMPLES", trial)
    joined = np.maximum(values, 0.01)

    def run(stack, own):
        graph = stack.symmetric(own(joined), np.float32)
        rng = np.random.default_rng(0)
        found = laplacian_spectrum(graph, 4, rng, normalized=True)
        labels = kmeans_labels(found.embedding, 3, 0, by_distance=True, share=stack.share)
        return found.embedding, labels, label_stability(graph, found, labels, 0, 2)

    expected = run(cut.whole, lambda rows: rows)
    for found, wanted in zip(zip(*cut.each(run), strict=True), expected, strict=True):
        np.testing.assert_array_equal(np.concatenate(found), wanted)


def test_filter_is_its_polynomial(rng):
    """p(0) = 1, and small on all of [edge, bound]."""
    eigenvalues = np.linspace(0, 2, 50)
    operator = Operator(eigenvalues, csr_array((50, 50)), 2.0)
    found = operator.filter(np.eye(50), 12, 0.4, np.float64)
    np.testing.assert_allclose(found, np.diag(np.diag(found)), atol=0)
    p = np.diag(found)
    assert p[0] == pytest.approx(1)
    inside = np.cosh(12 * np.arccosh((2.0 + 0.4) / (2.0 - 0.4)))
    assert np.abs(p[eigenvalues >= 0.4]).max() <= 1.0001 / inside
    x = (2 * eigenvalues - 2.4) / 1.6
    expected = np.polynomial.chebyshev.chebval(x, np.eye(13)[12])
    np.testing.assert_allclose(p, expected / expected[0], atol=1e-12)


@given(
    n=st.integers(1, 40),
    n_edges=st.integers(0, 60),
    n_ranks=st.integers(1, 5),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_components_on_ranks(n, n_edges, n_ranks, seed):
    """Edges stored in one direction only, wherever their row lies."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, n_edges))
    graph = csr_array((np.ones(n_edges), (i, j)), shape=(n, n))
    cuts = rng.choice(np.arange(1, n), min(n_ranks, n) - 1, replace=False)
    bounds = np.concatenate([[0], np.sort(cuts), [n]]).astype(np.int64)

    def run(ranks):
        a, b = bounds[ranks.rank : ranks.rank + 2]
        return _components(ranks, graph[a:b], bounds)

    found = np.concatenate(on_ranks(len(bounds) - 1, run))
    # scipy too numbers them in the order of their first samples.
    np.testing.assert_array_equal(found, connected_components(graph, directed=False)[1])


def test_labels_by_first_samples(rng):
    bounds, labels = np.array([0, 10, 25, 40]), rng.permutation(np.arange(40) % 7)
    samples = rng.permutation(40)

    def run(ranks):
        own = slice(*bounds[ranks.rank : ranks.rank + 2])
        return relabel_by_first_sample(labels[own], RankShare(ranks, bounds), samples[own])

    expected = relabel_by_first_sample(labels, RowShare(40), samples)
    np.testing.assert_array_equal(np.concatenate(on_ranks(3, run)), expected)
    by_sample = np.empty(40, dtype=int)
    by_sample[samples] = expected
    firsts = [np.flatnonzero(by_sample == label)[0] for label in range(7)]
    assert firsts == sorted(firsts)


@given(st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=40))
@settings(max_examples=50, deadline=None)
def test_roots_are_the_lowest_of_their_pieces(edges):
    i, j = np.array(edges, dtype=np.intp).reshape(-1, 2).T
    graph = csr_array((np.ones(len(i)), (i, j)), shape=(30, 30))
    roots = np.arange(30, dtype=np.int32)
    join_connected(graph, roots)
    pieces = connected_components(graph, directed=False)[1]
    lowest = [np.flatnonzero(pieces == piece)[0] for piece in pieces]
    np.testing.assert_array_equal(roots, lowest)
