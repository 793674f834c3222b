"""MCGL: equal to the published program."""

import numpy as np
import pytest

from manyview import MCGL
from manyview.inputs._canonical_order import CanonicalOrder
from manyview.metrics import adjusted_rand
from tests.helpers.compared import SYNTHETIC
from tests.helpers.goldens import synthetic


@pytest.mark.parametrize("name", SYNTHETIC)
def test_equals_the_published_program(name):
    golden = synthetic(name)
    model = MCGL(int(golden["n_clusters"]), random_state=0).fit([golden[f"X{v}"] for v in range(3)])
    for v, graph in enumerate(model.refined_graphs_):
        assert abs(graph - golden.matrix(f"mcgl_S{v}")).max() < 1e-6
    np.testing.assert_array_equal(model.labels_ + 1, golden["mcgl_labels"])
    np.testing.assert_allclose(model.objective_trace_, golden["mcgl_objective_trace"], rtol=1e-6)
    assert abs(model.unified_graph_ - golden.matrix("mcgl_A")).max() < 1e-6


@pytest.mark.parametrize("name", ["NGs", "BBC"])
def test_equals_the_published_program_on_its_graphs(paper_data, monkeypatch, name):
    """The fusion alone, with the view graphs of the published program.

    On text they can't be computed from the features: the published program also keeps
    neighbours of weight 0, and rounding decides which of many equally far ones.
    """
    data = paper_data(name)
    golden = data.golden("mcgl")
    refined = iter([golden.matrix(f"S{v}") for v in range(len(data.views))])
    monkeypatch.setattr(MCGL, "_refine", lambda *_: next(refined))
    as_given = CanonicalOrder(np.arange(data.n_samples), np.arange(len(data.views)), 0)
    monkeypatch.setattr("manyview.graphs._build.canonical_order", lambda *_, **__: as_given)
    model = MCGL(data.n_clusters, graph="precomputed").fit(data.golden_graphs())
    np.testing.assert_array_equal(model.labels_ + 1, golden["labels"])
    np.testing.assert_allclose(model.objective_trace_, golden["objective_trace"], rtol=1e-6)
    assert abs(model.unified_graph_ - golden.matrix("A")).max() < 1e-6


@pytest.mark.parametrize(("name", "agreement"), [("NGs", 0.94), ("BBC", 0.99)])
def test_is_close_to_the_published_program_from_features(paper_data, name, agreement):
    data = paper_data(name)
    model = MCGL(data.n_clusters, random_state=0).fit(data.views)
    assert adjusted_rand(data.golden("mcgl")["labels"], model.labels_) > agreement


def test_view_with_too_many_components_is_not_refined(blobs):
    views = [*blobs.views.values(), np.tile([1.0, 2.0, 3.0], (90, 1))]
    with pytest.warns(UserWarning, match="view 'view3'") as caught:
        model = MCGL(3, random_state=0).fit(views)
    assert any("90 connected components" in str(entry.message) for entry in caught)
    assert model.refined_graphs_[3].nnz == 0
    assert adjusted_rand(blobs.target, model.labels_) > 0.9
