"""Weights in single precision, and rows in several parts, as in large fits."""

import numpy as np
import pytest

from manyview import CIGMVC, GBS, ConsensusGraph
from manyview.datasets import make_conflict_views
from manyview.graphs import _row_block


@pytest.fixture(scope="module")
def data():
    return make_conflict_views(240, 3, random_state=0)


@pytest.mark.parametrize("method", [ConsensusGraph, CIGMVC, GBS])
def test_same_clusters_in_single_precision(method, data, monkeypatch):
    double = method(3, random_state=0).fit(data.views)
    monkeypatch.setattr(_row_block, "SINGLE_ABOVE", 100)
    single = method(3, random_state=0).fit(data.views)
    np.testing.assert_array_equal(single.labels_, double.labels_)
    for names in ("view_graphs_", "consistent_graphs_", "inconsistent_graphs_"):
        for own, other in zip(getattr(single, names), getattr(double, names), strict=True):
            assert own.dtype == np.float32
            assert abs(own - other).max() < 1e-5


def test_consistent_part_is_the_smaller_of_both_graphs(data):
    model = ConsensusGraph(3, random_state=0).fit(data.views)
    U = model.unified_graph_.toarray()
    for v, graph in enumerate(model.view_graphs_):
        S = graph.toarray()
        np.testing.assert_array_equal(model.consistent_graphs_[v].toarray(), np.minimum(S, U))
        found = np.maximum(S - U, 0).sum(axis=1) / S.sum(axis=1)
        np.testing.assert_allclose(model.sample_disagreement_[:, v], found, atol=1e-12)


def test_parts_of_the_rows_give_the_same(data, monkeypatch):
    whole = ConsensusGraph(3, random_state=0).fit(data.views)
    monkeypatch.setattr(_row_block, "_ROWS_AT_ONCE", 7)
    parts = ConsensusGraph(3, random_state=0).fit(data.views)
    np.testing.assert_allclose(parts.view_weights_, whole.view_weights_, rtol=1e-12)
    np.testing.assert_array_equal(parts.labels_, whole.labels_)
