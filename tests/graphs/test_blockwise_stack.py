"""The stack that is made block by block gives what the whole one gives, bit by bit."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.sparse import random_array

from manyview import ConsensusGraph
from manyview.datasets import make_latent_views
from manyview.graphs import (
    BY_ROW,
    ClusterWeightByView,
    EdgeWeightByView,
    RowBlock,
    Step,
    ViewGraphs,
    WeightedMean,
)
from manyview.graphs import _blockwise_stack as blockwise
from manyview.graphs import _build as build
from manyview.graphs._bridges import union_components


@dataclass(frozen=True)
class TimesFactor(Step):
    """Every edge times a factor of its row."""

    factor: object = field(metadata=BY_ROW)

    def __call__(self, block: RowBlock, U):
        factor = np.broadcast_to(self.factor, block.n_rows)
        return U * np.repeat(factor, np.diff(block.indptr))


@pytest.fixture(scope="module")
def graphs():
    kept = []
    data = make_latent_views(3000, 4, random_state=0)

    class Keeping(ConsensusGraph):
        def _separate_graphs(self, backend, views):
            kept.append(super()._separate_graphs(backend, views))
            return kept[-1]

    Keeping(4, neighbor_search="approximate", random_state=0).fit(data.views)
    return kept[0]


@pytest.fixture
def stacks(graphs: ViewGraphs, monkeypatch):
    monkeypatch.setattr(build, "BLOCKWISE_ABOVE", 0)
    monkeypatch.setattr(blockwise, "_ROWS", 1)
    monkeypatch.setattr(blockwise, "_LEAST_SAMPLES", 1)
    whole, blocks = graphs.whole_stack(), graphs.stack()
    assert isinstance(blocks, blockwise.BlockwiseStack)
    assert graphs.row_order is not None
    return whole, blocks


def test_same_rows_edges_and_sums(stacks, rng):
    whole, blocks = stacks
    mean = WeightedMean(np.array([1.0, 2.0, 0.5]))
    U, own = whole.edges(mean), blocks.edges(mean)
    np.testing.assert_array_equal(own.data, U)
    np.testing.assert_array_equal(own.indices, whole.indices)
    np.testing.assert_array_equal(own.indptr, whole.indptr)
    for factor in (0.3, rng.random(3000)):
        step = TimesFactor(factor)
        np.testing.assert_array_equal(blocks.edges(step, own).data, whole.edges(step, U))
    by_view = EdgeWeightByView()
    np.testing.assert_array_equal(blocks.rows(by_view), whole.rows(by_view))
    step = ClusterWeightByView(rng.integers(4, size=3000), 4)
    np.testing.assert_allclose(blocks.total(step), whole.total(step), rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_matrices(stacks, dtype):
    whole, blocks = stacks
    mean = WeightedMean(np.array([1.0, 0.0, 0.5]))  # stored zeros
    U, own = whole.edges(mean), blocks.edges(mean)
    one, other = whole.symmetric(U, dtype), blocks.symmetric(own, dtype)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(other, part), getattr(one, part))
    assert (blocks.matrix(own) != whole.matrix(U)).nnz == 0
    for v in range(3):
        assert (blocks.view_matrix(v) != whole.view_matrix(v)).nnz == 0
    assert blocks.n_components(blocks.view_graphs) == whole.n_components(whole.weights)


def test_components_of_the_union_of_large_graphs(rng, monkeypatch):
    graphs = [random_array((300, 300), density=0.001, format="csr", rng=rng) for _ in range(2)]
    expected = union_components(graphs)
    monkeypatch.setattr("manyview.graphs._bridges.SINGLE_ABOVE", 0)
    n_components, components = union_components(graphs)
    assert n_components == expected[0] > 1
    np.testing.assert_array_equal(components, expected[1])
