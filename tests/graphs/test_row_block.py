"""Rows of the graphs cut into blocks have exactly what all rows together have."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from manyview import _kernels
from manyview.graphs._row_block import SplitRule
from manyview.graphs._stack import stack_graphs
from manyview.spectral._chebyshev import PRODUCT, Operator, chebyshev_steps
from manyview.spectral._spectrum import degrees_of, laplacian_rows, null_vector

pytest.importorskip("distributed", reason="needs the extra 'dask'")

from manyview.distributed._laplacian import _common_roots, _laplacian, _own_roots, _step
from manyview.distributed._stack import _block, _going, _half, _route, _split, _strongest, _unify

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
        halves = [_half([graph[a:b] for graph in graphs], int(a)) for a, b in cuts]
        self.routes = [[_route(half, int(a), int(b)) for a, b in cuts] for half in halves]
        going = [
            [_going(half, route) for route in routes]
            for half, routes in zip(halves, self.routes, strict=True)
        ]
        coming = zip(*going, strict=True)
        self.blocks = [_block(half, list(came)) for half, came in zip(halves, coming, strict=True)]

    def edges(self, values):
        """What the whole has for its edges, as each block has it."""
        starts = self.whole.indptr[self.bounds]
        return [values[..., a:b] for a, b in pairwise(starts)]

    def arrived(self, values):
        sent = [
            [own[places] for places in routes]
            for own, routes in zip(self.edges(values), self.routes, strict=True)
        ]
        return [np.concatenate(came) for came in zip(*sent, strict=True)]

    def rows(self, values):
        return [values[a:b] for a, b in pairwise(self.bounds)]


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


def test_pattern_and_what_comes_in(cut):
    whole = cut.whole
    assert_blocks(cut, [block.indices for block in cut.blocks], cut.edges(whole.indices))
    assert_blocks(cut, [block.weights for block in cut.blocks], cut.edges(whole.weights))
    names = np.arange(len(whole.indices))
    arrived = cut.arrived(names)
    mirrors = [
        np.where(block.mirror >= 0, came[block.mirror] if len(came) else 0, -1)
        for block, came in zip(cut.blocks, arrived, strict=True)
    ]
    assert_blocks(cut, mirrors, cut.edges(whole.mirror))
    indptr, rows, places = whole.into
    for block, came, (a, b) in zip(cut.blocks, arrived, pairwise(cut.bounds), strict=True):
        own = slice(indptr[a], indptr[b])
        np.testing.assert_array_equal(block.into[0], indptr[a : b + 1] - indptr[a])
        np.testing.assert_array_equal(block.into[1], rows[own])
        np.testing.assert_array_equal(came[block.into[2]], places[own])
        np.testing.assert_array_equal(block.weights_there, whole.weights[:, came])


def test_said_and_mean(cut, parts):
    whole = cut.whole
    assert_blocks(cut, [block.said() for block in cut.blocks], cut.rows(whole.said()))
    assert_blocks(cut, [block.speaks() for block in cut.blocks], cut.rows(whole.speaks()))
    assert_blocks(cut, [block.mean() for block in cut.blocks], cut.edges(whole.mean()))
    own = zip(cut.blocks, cut.edges(parts), strict=True)
    apart = [block.apart(part) for block, part in own]
    assert_blocks(cut, apart, cut.rows(whole.apart(parts)))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_symmetric_rows(cut, values, kind):
    whole = cut.whole.symmetric(values, kind)
    for block, own, came, (a, b) in zip(
        cut.blocks,
        cut.edges(values),
        cut.arrived(values),
        pairwise(cut.bounds),
        strict=True,
    ):
        found, expected = block.symmetric_rows(own, came, kind), whole[a:b]
        assert found.dtype == kind
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found.indptr, expected.indptr)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.data, expected.data)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_unify(cut, parts, rng, kind):
    F = rng.standard_normal((N, 4)).astype(kind)
    shares, pulls, factors = rng.random(V), rng.random(N), rng.random(N)
    whole = cut.whole.unify(parts, F, shares, pulls, factors)
    found = [
        _unify(block, part, F, shares, pull, factor)
        for block, part, pull, factor in zip(
            cut.blocks, cut.edges(parts), cut.rows(pulls), cut.rows(factors), strict=True
        )
    ]
    assert_blocks(cut, found, cut.edges(whole))


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("symmetrize", [False, True])
def test_split(cut, values, parts, rng, exact, symmetrize):
    alpha = 0.5 + rng.random(V)
    rule = SplitRule(
        view_weights=alpha,
        penalty=np.eye(V) + 0.1,
        exact=exact,
        from_unified=rng.random(V),
        from_weights=rng.random((V, V)),
        symmetrize=symmetrize,
    )
    before = parts.copy()
    found = [
        _split(block, own, came, part, rule)
        for block, own, came, part in zip(
            cut.blocks, cut.edges(values), cut.arrived(values), cut.edges(parts), strict=True
        )
    ]
    np.testing.assert_array_equal(parts, before)  # a task must not write on what it was given
    whole = cut.whole.split(values, parts.copy(order="F"), rule)
    assert_blocks(cut, found, cut.edges(whole))


def test_misfits(cut, values, parts):
    whole = cut.whole
    own = zip(cut.blocks, cut.edges(values), cut.edges(parts), strict=True)
    found = [block.row_misfits(U, part) for block, U, part in own]
    assert_blocks(cut, found, cut.rows(whole.row_misfits(values, parts)))
    own = zip(cut.blocks, cut.edges(values), cut.arrived(values), strict=True)
    found = [block.starting_misfits(U, came) for block, U, came in own]
    # Halves from outside of the pattern are added up in the order in which they came.
    np.testing.assert_allclose(
        np.concatenate(found), whole.starting_row_misfits(values), rtol=1e-14
    )


def test_sums_over_blocks(cut, values, parts, rng):
    whole, F = cut.whole, rng.standard_normal((N, 3))
    own = list(zip(cut.blocks, cut.edges(values), cut.edges(parts), strict=True))
    inconsistency = sum(block.inconsistency(part) for block, _, part in own)
    np.testing.assert_allclose(inconsistency, whole.inconsistency(parts), rtol=1e-13)
    variation = sum(block.variation(U, F) for block, U, _ in own)
    np.testing.assert_allclose(variation, whole.variation(values, F), rtol=1e-13)


def test_pieces_that_are_left(cut, parts):
    parts = np.where(parts < np.quantile(parts, 0.9), 0.0, parts)
    strongest = [
        _strongest(block, part) for block, part in zip(cut.blocks, cut.edges(parts), strict=True)
    ]
    roots = [
        _own_roots(rows, N, int(first)) for rows, first in zip(strongest, cut.bounds, strict=False)
    ]
    joined = roots[0]
    for other in roots[1:]:
        joined = _common_roots(joined, other)
    assert len(np.unique(joined)) == cut.whole.n_pieces(parts)


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
    found = [_own_roots(graph[a:b], n, int(a)) for a, b in pairwise(bounds)]
    while len(found) > 1:
        found = [_common_roots(*found[b : b + 2]) for b in range(0, len(found), 2)]
    pieces = np.unique(found[0], return_inverse=True)[1]
    count, expected = connected_components(graph, directed=False)
    assert pieces.max() + 1 == count
    # scipy too numbers them in the order of their first samples.
    np.testing.assert_array_equal(pieces, expected)


def test_joining_does_not_write_on_what_was_given(rng):
    one, other = np.array([0, 0, 2, 3]), np.array([0, 1, 1, 3])
    joined = _common_roots(one, other)
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
