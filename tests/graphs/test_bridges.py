"""Bridges: a shortest tree between connected components."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from manyview import AngularCIGMVC
from manyview.graphs._bridges import Bridges, add_bridges, closest_bridges, union_components
from manyview.inputs._scaling import normalize_rows
from tests.helpers import oracle
from tests.helpers.random_graphs import random_graph


def test_bridges_are_a_minimum_spanning_tree(rng):
    X = np.concatenate([rng.standard_normal((15, 3)) + 20 * c for c in rng.random((5, 3))])
    components = np.repeat(np.arange(5), 15)
    order = rng.permutation(75)
    X, components = X[order], components[order]
    rows = [normalize_rows(X, None), normalize_rows(csr_array(X * 7), None)]
    bridges = closest_bridges(components, rows).pairs
    D = oracle.squared_distances(X)
    between = np.array([
        [D[np.ix_(components == a, components == b)].min() if a != b else 0 for b in range(5)]
        for a in range(5)
    ])  # fmt: skip
    assert bridges.shape == (4, 2)
    assert (components[bridges[:, 0]] != components[bridges[:, 1]]).all()
    expected = minimum_spanning_tree(between).sum()
    assert D[bridges[:, 0], bridges[:, 1]].sum() == pytest.approx(expected)


def test_bridged_graphs_are_connected(rng):
    graph = csr_array(block_diag([random_graph(rng, n) for n in (10, 8, 1)]))
    bridged = add_bridges(graph, Bridges(np.array([[0, 12], [18, 3]]), np.array([1.0, 3.0])))
    assert union_components([graph])[0] == 3
    assert union_components([bridged])[0] == 1
    np.testing.assert_allclose(bridged.sum(axis=1), 1)
    assert bridged[18, 3] == 1  # the only edge of row 18
    assert bridged[12, 0] > bridged[3, 18] > 0  # the longer bridge weighs less


def test_bridges_are_measured_in_shared_views(rng):
    """Only pairs of samples that share a view are compared."""
    views = [normalize_rows(rng.standard_normal((4, 3)), None) for _ in range(2)]
    components = np.array([0, 0, 1, 1])
    present = np.array([[True, False], [True, True], [False, True], [False, True]])
    bridges = closest_bridges(components, views, present)
    assert bridges.pairs.shape == (1, 2)
    assert 1 in bridges.pairs[0]  # sample 0 shares no view with 2 and 3
    with pytest.raises(ValueError, match=r"2 sample\(s\) have no view in common with the rest"):
        closest_bridges(components, views, np.array([[True, False]] * 2 + [[False, True]] * 2))


@pytest.mark.filterwarnings("ignore:the graphs of the views together have")
def test_bridges_are_edges_of_views_that_have_both_ends(rng):
    groups = np.repeat([0.0, 100.0, 200.0], 30)[:, None] + rng.standard_normal((90, 3))
    present = np.ones((90, 2), dtype=bool)
    present[:45, 1] = False
    model = AngularCIGMVC(2, scaling="none", random_state=0)
    model.fit([groups, groups + rng.standard_normal((90, 3))], present=present)
    assert len(model.bridges_) == 2
    assert np.diff(model.view_graphs_[1].indptr)[:45].sum() == 0
    assert present[model.view_graphs_[1].indices, 1].all()
