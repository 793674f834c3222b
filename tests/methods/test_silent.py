"""Samples that no view tells anything of, in the default method."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score

import manyview
from manyview import ConsensusGraph
from manyview.datasets import fetch
from tests.helpers.goldens import DATA

SAYS = "of 540 samples have no features in any view"


def documents(rng, form):
    """Texts in three views of 500 samples, and 40 samples without a word among them."""
    data = fetch("NGs", DATA)
    place = np.sort(rng.choice(540, 500, replace=False))
    views = []
    for matrix in data.views.values():
        view = np.zeros((540, matrix.shape[1]))
        view[place] = matrix.toarray() if hasattr(matrix, "toarray") else matrix
        views.append(form(view))
    return views, place, data.target


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_they_are_no_cluster_and_have_no_scores(rng, form):
    views, known, target = documents(rng, form)
    silent = np.setdiff1d(np.arange(540), known)
    with pytest.warns(UserWarning, match=f"40 {SAYS}"):
        model = ConsensusGraph(5, random_state=0).fit(views)
    assert adjusted_rand_score(target, model.labels_[known]) > 0.97
    largest = np.bincount(model.labels_[known]).argmax()
    assert (model.labels_[silent] == largest).all()
    assert len(model.bridges_) == 0
    assert not model.stability_[silent].any()
    assert np.isnan(model.sample_disagreement_[silent]).all()
    assert np.isnan(model.confidence_[silent]).all()
    assert np.isfinite(model.confidence_[known]).all()
    means = [model.stability_[model.labels_ == c].mean() for c in range(5)]
    np.testing.assert_allclose(model.cluster_stability_, means)
    U = model.unified_graph_
    assert U.shape == (540, 540)
    assert U[silent].nnz == U[:, silent].nnz == 0
    assert (model.predict([view[known] for view in views]) == model.labels_[known]).mean() > 0.95


def test_they_do_not_count_for_the_number_of_clusters(rng):
    views, *_ = documents(rng, np.asarray)
    with pytest.warns(UserWarning, match=SAYS):
        assert manyview.suggest_n_clusters(views, max_clusters=8).n_clusters == 5


def test_samples_with_features_in_one_view_are_kept(rng):
    views, known, _ = documents(rng, np.asarray)
    silent = np.setdiff1d(np.arange(540), known)
    views[1][silent] = views[1][known[: len(silent)]]
    model = ConsensusGraph(5, random_state=0).fit(views)
    assert np.isfinite(model.confidence_).all()


def test_rows_in_the_order_of_an_approximate_search(rng):
    target = rng.integers(0, 3, 3000)
    views = [rng.gamma(1 + 8 * (target[:, None] == np.arange(90) % 3)) for _ in range(2)]
    silent = rng.choice(3000, 100, replace=False)
    known = np.setdiff1d(np.arange(3000), silent)
    for view in views:
        view[silent] = 0
    model = ConsensusGraph(3, neighbor_search="approximate", scaling="sqrt", random_state=0)
    with pytest.warns(UserWarning, match="100 of 3,000 samples have no features"):
        model.fit(views)
    assert {search.method for search in model.neighbor_search_} == {"approximate"}
    assert adjusted_rand_score(target[known], model.labels_[known]) > 0.99
    assert np.isnan(model.confidence_[silent]).all()


def test_too_few_others(rng):
    views = [np.zeros((30, 200)), np.zeros((30, 200))]
    for view in views:
        view[:3] = rng.integers(0, 2, (3, 200)) * (rng.random((3, 200)) < 0.2)
    with pytest.raises(ValueError, match="expected 1 to 4"):
        ConsensusGraph(5, random_state=0).fit(views)
