"""`n_neighbors` for each view."""

import numpy as np
import pytest

import manyview
from manyview import GBS, ConsensusGraph, SpectralConcat, load_model, save_model
from tests.helpers.blobs import blobs


@pytest.mark.parametrize("given", [[5, 12, "auto"], (5, 12, 15), {"view0": 5, "view1": 12}])
def test_every_view_has_its_number(given):
    model = GBS(3, n_neighbors=given, random_state=0).fit(blobs().views)
    for graph, k in zip(model.view_graphs_, (5, 12, 15), strict=True):
        assert np.diff(graph.indptr).max() == k
    assert model.n_neighbors_ == (5, 12, 15)
    assert [view.n_neighbors for view in model.to_model().views] == [5, 12, 15]


def test_the_same_number_for_all_is_that_number():
    views = blobs().views
    one, several = (GBS(3, n_neighbors=k, random_state=0).fit(views) for k in (9, [9, 9, 9]))
    assert one.n_neighbors_ == several.n_neighbors_ == 9
    assert (one.unified_graph_ != several.unified_graph_).nnz == 0
    np.testing.assert_array_equal(one.predict_proba(views), several.predict_proba(views))


def test_a_model_file_keeps_them(tmp_path):
    views = blobs().views
    model = GBS(3, n_neighbors={"view1": 4}, random_state=0).fit(views)
    save_model(model.to_model(), tmp_path / "model.zip")
    found = load_model(tmp_path / "model.zip").predict(views)
    np.testing.assert_array_equal(found.shares, model.predict_proba(views))
    assert not np.array_equal(found.shares, GBS(3).fit(views).predict_proba(views))


def test_complete_graphs_beside_others():
    model = GBS(3, graph="heat", n_neighbors=["all", 5, 5], random_state=0).fit(blobs().views)
    assert [graph.nnz for graph in model.view_graphs_] == [90 * 89, 90 * 5, 90 * 5]


def test_cluster_and_suggestion():
    data = blobs()
    result = manyview.cluster(data, 3, n_neighbors={"view2": 6})
    assert result.estimator.n_neighbors_ == (20, 20, 6)
    assert "20, 20, 6" in result.report_html()
    found = manyview.suggest_n_clusters(data, n_neighbors=[10, 10, 6], max_clusters=4)
    assert found.n_clusters == 3


def test_errors():
    views = blobs().views
    for given, said in (
        ({"other": 5}, "n_neighbors has view 'other'; expected some of view0, view1, view2"),
        ([5, 5], "n_neighbors has 2 entries for 3 views"),
        ([5, 5, 0], "n_neighbors=0; expected an integer of at least 1"),
        ([5, 5, "few"], "n_neighbors='few'; expected one of 'auto', 'all'"),
        ([5, 5, "all"], "n_neighbors='all' with graph='adaptive'"),
        ([5, 5, 89], "n_neighbors=89, but view 'view2' has n_samples=90; expected 1 to 88"),
    ):
        with pytest.raises(ValueError, match=said):
            ConsensusGraph(3, n_neighbors=given).fit(views)
    with pytest.raises(ValueError, match=r"n_neighbors=\[5, 5, 5\]; expected an integer"):
        SpectralConcat(3, n_neighbors=[5, 5, 5]).fit(views)
