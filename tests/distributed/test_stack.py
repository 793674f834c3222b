"""Rows of the graphs cut into blocks have exactly what all rows together have."""

from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from manyview import _kernels
from manyview.graphs import (
    PER_ROW,
    EdgeWeightByView,
    MeanGraph,
    OwnClusterShare,
    WeightedMean,
    stack_graphs,
)
from manyview.methods import _fusion_steps as steps
from manyview.spectral._chebyshev import PRODUCT, Operator, chebyshev_steps
from manyview.spectral._laplacian import degrees_of, laplacian_rows, null_vector

pytest.importorskip("distributed", reason="needs the extra 'dask'")

from manyview.distributed._laplacian import _laplacian, _merged_roots, _roots, _step
from manyview.distributed._stack import _block, _call, _outgoing, _pattern, _route, _union

N, V = 61, 3


def random_graph(rng, n, share):
    """Directed, rows summing to 1 or empty."""
    dense = np.where(rng.random((n, n)) < share, rng.random((n, n)), 0.0)
    np.fill_diagonal(dense, 0.0)
    dense[rng.random(n) < 0.1] = 0.0
    sums = dense.sum(axis=1, keepdims=True)
    return csr_array(dense / np.where(sums > 0, sums, 1.0))


class Cut:
    """The same graphs whole and in blocks, and what one block sends to another."""

    def __init__(self, graphs, bounds):
        self.whole = stack_graphs(graphs)
        self.bounds = np.array(bounds)
        cuts = list(pairwise(bounds))
        patterns = [_pattern([graph[a:b] for graph in graphs], int(a)) for a, b in cuts]
        self.routes = [[_route(own, int(a), int(b)) for a, b in cuts] for own in patterns]
        outgoing = [
            [_outgoing(own, route) for route in routes]
            for own, routes in zip(patterns, self.routes, strict=True)
        ]
        incoming = zip(*outgoing, strict=True)
        self.blocks = [_block(own, list(new)) for own, new in zip(patterns, incoming, strict=True)]

    def edges(self, values):
        """What the whole has for its edges, as each block has it."""
        starts = self.whole.indptr[self.bounds]
        return [values[..., a:b] for a, b in pairwise(starts)]

    def incoming(self, values):
        sent = [
            [own[places] for places in routes]
            for own, routes in zip(self.edges(values), self.routes, strict=True)
        ]
        return [np.concatenate(came) for came in zip(*sent, strict=True)]

    def rows(self, values):
        return [values[a:b] for a, b in pairwise(self.bounds)]

    def each(self, step, *graphs):
        """What a step gives for every block, called as a Dask worker calls it."""
        per_row = {
            entry.name: self.rows(getattr(step, entry.name))
            for entry in fields(step)
            if entry.metadata == PER_ROW
        }
        operands = [self.edges(graph) for graph in graphs]
        if step.takes_incoming:
            operands.insert(1, self.incoming(graphs[0]))
        return [
            _call(block, step, list(per_row), [own[b] for own in per_row.values()], *values)
            for b, (block, *values) in enumerate(zip(self.blocks, *operands, strict=True))
        ]


@pytest.fixture(params=[(0, 20, 45, N), (0, 1, 2, N), (0, N), tuple(range(N + 1))])
def cut(request, rng):
    return Cut([random_graph(rng, N, share) for share in (0.05, 0.1, 0.02)], request.param)


@pytest.fixture
def values(cut, rng):
    """A graph on the pattern, some of its edges 0."""
    return np.where(rng.random(len(cut.whole.indices)) < 0.2, 0.0, rng.random())


@pytest.fixture
def parts(cut, rng):
    return np.asfortranarray(cut.whole.weights * rng.random(cut.whole.weights.shape))


def assert_blocks(cut, found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_pattern_and_incoming_edges(cut):
    whole = cut.whole
    assert_blocks(cut, [block.indices for block in cut.blocks], cut.edges(whole.indices))
    assert_blocks(cut, [block.weights for block in cut.blocks], cut.edges(whole.weights))
    names = np.arange(len(whole.indices))
    incoming = cut.incoming(names)
    reverse = [
        np.where(block.reverse >= 0, new[block.reverse] if len(new) else 0, -1)
        for block, new in zip(cut.blocks, incoming, strict=True)
    ]
    assert_blocks(cut, reverse, cut.edges(whole.reverse))
    indptr, rows, order = whole.incoming
    for block, new, (a, b) in zip(cut.blocks, incoming, pairwise(cut.bounds), strict=True):
        own = slice(indptr[a], indptr[b])
        np.testing.assert_array_equal(block.incoming[0], indptr[a : b + 1] - indptr[a])
        np.testing.assert_array_equal(block.incoming[1], rows[own])
        np.testing.assert_array_equal(new[block.incoming[2]], order[own])
        np.testing.assert_array_equal(block.incoming_weights, whole.weights[:, new])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_steps_on_edges(cut, values, parts, rng, kind):
    whole, before = cut.whole, parts.copy()
    F, per_row = rng.standard_normal((N, 4)).astype(kind), rng.random((2, N))
    B = np.eye(V) + 0.1
    for step, graphs in [
        (MeanGraph(), ()),
        (WeightedMean(rng.random(V)), ()),
        (steps.ProjectRows(F, *per_row, rng.random(V)), (parts,)),
        (steps.SplitExact(0.5 + rng.random(V), B), (values, parts)),
        (steps.SplitLinear(rng.random(V), rng.random((V, V)), True), (values, parts)),
        (steps.SplitLinear(rng.random(V), rng.random((V, V)), False), (values, parts)),
    ]:
        found = cut.each(step, *graphs)
        np.testing.assert_array_equal(parts, before)  # a task must not write on its operands
        copied = [graph.copy(order="F") for graph in graphs]
        assert_blocks(cut, found, cut.edges(whole.edges(step, *copied)))


def test_steps_on_rows(cut, values, parts, rng):
    whole = cut.whole
    share = OwnClusterShare(rng.integers(0, 3, N), rng.random((N, V)), rng.random(V))
    for step, graphs in [
        (EdgeWeightByView(), ()),
        (share, ()),
        (steps.RowResiduals(), (values, parts)),
        (steps.InconsistentWeightByView(), (parts,)),
    ]:
        assert_blocks(cut, cut.each(step, *graphs), cut.rows(whole.rows(step, *graphs)))
    # Halves from outside of the pattern are added up in the order of the incoming edges.
    step = steps.InitialRowResiduals()
    found = np.concatenate(cut.each(step, values))
    np.testing.assert_allclose(found, whole.rows(step, values), rtol=1e-14)


def test_steps_that_are_summed(cut, values, parts, rng):
    F = rng.standard_normal((N, 3))
    for step, graph in [
        (steps.InconsistencyProducts(), parts),
        (steps.EmbeddingVariation(F), values),
    ]:
        total = cut.whole.total(step, graph)
        np.testing.assert_allclose(sum(cut.each(step, graph)), total, rtol=1e-13)


def test_a_stack_does_not_write_on_its_own_graphs(cut, values, rng):
    before = cut.whole.weights.copy()
    step = steps.SplitExact(0.5 + rng.random(V), np.eye(V) + 0.1)
    assert (cut.whole.edges(step, values, cut.whole.view_graphs) != before).any()
    np.testing.assert_array_equal(cut.whole.weights, before)


def test_components_of_consistent_parts(cut, parts):
    parts = np.where(parts < np.quantile(parts, 0.9), 0.0, parts)
    union = [_union(block, part) for block, part in zip(cut.blocks, cut.edges(parts), strict=True)]
    roots = [_roots(rows, N, int(first)) for rows, first in zip(union, cut.bounds, strict=False)]
    joined = roots[0]
    for other in roots[1:]:
        joined = _merged_roots(joined, other)
    assert len(np.unique(joined)) == cut.whole.n_components(parts)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_symmetric_rows(cut, values, kind):
    whole = cut.whole.symmetric(values, kind)
    for block, own, came, (a, b) in zip(
        cut.blocks,
        cut.edges(values),
        cut.incoming(values),
        pairwise(cut.bounds),
        strict=True,
    ):
        found, expected = block.symmetric_rows(own, came, kind), whole[a:b]
        assert found.dtype == kind
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found.indptr, expected.indptr)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.data, expected.data)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("normalized", [False, True])
def test_steps_of_the_solver(cut, values, rng, normalized, precision):
    """Rows of products and of filters, each step from the rows of all blocks."""
    graph = cut.whole.symmetric(values, precision)
    null, bound = null_vector(degrees_of(graph), normalized)
    scaling = null if normalized else None
    whole = laplacian_rows(graph.copy(), degrees_of(graph), scaling, bound, 0)
    cuts = list(pairwise(cut.bounds))
    parts = [_laplacian(graph[a:b], scaling, bound, int(a)) for a, b in cuts]
    block = rng.standard_normal((N, 8))

    def stepped(steps, block):
        before = now = cut.rows(block)
        for step in steps:
            after = [_step(part, now, own, step) for part, own in zip(parts, before, strict=True)]
            before, now = now, after
        return np.concatenate(now)

    np.testing.assert_array_equal(stepped([PRODUCT], block), whole.times(block))
    steps = chebyshev_steps(9, 0.3 * bound, bound)
    filtered = whole.filter(block, 9, 0.3 * bound, precision)
    np.testing.assert_array_equal(stepped(steps, block.astype(precision)), filtered)


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
    n_blocks=st.integers(1, 6),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=100, deadline=None)
def test_components_of_blocks(n, n_edges, n_blocks, seed):
    """Edges stored in one direction only, wherever their row lies."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, n_edges))
    graph = csr_array((np.ones(n_edges), (i, j)), shape=(n, n))
    bounds = np.sort(np.concatenate([[0, n], rng.integers(0, n + 1, n_blocks - 1)]))
    found = [_roots(graph[a:b], n, int(a)) for a, b in pairwise(bounds)]
    while len(found) > 1:
        found = [_merged_roots(*found[b : b + 2]) for b in range(0, len(found), 2)]
    pieces = np.unique(found[0], return_inverse=True)[1]
    count, expected = connected_components(graph, directed=False)
    assert pieces.max() + 1 == count
    # scipy too numbers them in the order of their first samples.
    np.testing.assert_array_equal(pieces, expected)


def test_joining_does_not_write_on_what_was_given(rng):
    one, other = np.array([0, 0, 2, 3]), np.array([0, 1, 1, 3])
    joined = _merged_roots(one, other)
    np.testing.assert_array_equal(joined, [0, 0, 0, 3])
    np.testing.assert_array_equal(one, [0, 0, 2, 3])
    np.testing.assert_array_equal(other, [0, 1, 1, 3])


@given(st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=40))
@settings(max_examples=50, deadline=None)
def test_roots_are_the_lowest_of_their_pieces(edges):
    i, j = np.array(edges, dtype=np.intp).reshape(-1, 2).T
    graph = csr_array((np.ones(len(i)), (i, j)), shape=(30, 30))
    roots = np.arange(30, dtype=np.int32)
    _kernels.unite_edges(graph.indptr, graph.indices, 0, roots)
    pieces = connected_components(graph, directed=False)[1]
    lowest = [np.flatnonzero(pieces == piece)[0] for piece in pieces]
    np.testing.assert_array_equal(roots, lowest)
