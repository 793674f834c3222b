"""AnchorGraph: spectral clustering by anchors."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview import AnchorGraph, datasets
from manyview.methods.anchor_graph import _embedding
from manyview.metrics import adjusted_rand
from manyview.spectral import soft_embedding
from tests.helpers.compared import projector


def test_embedding_is_that_of_the_graph_between_all_samples(rng):
    Z = rng.random((80, 30)) * (rng.random((80, 30)) < 0.3)
    Z /= Z.sum(axis=1, keepdims=True)
    graph = Z / Z.sum(axis=0) @ Z.T  # its rows sum to 1: it is its own normalised graph
    values, vectors = np.linalg.eigh(np.eye(80) - graph)
    expected = soft_embedding(vectors[:, :6], values[:7], 3)
    found = _embedding(csr_array(Z), 3)
    assert abs(projector(found) - projector(expected)).max() < 1e-8


def test_few_anchors_find_clusters_of_any_shape():
    data = datasets.make_moon_views(2000, random_state=0)
    model = AnchorGraph(2, n_anchors=200, random_state=0).fit(data.views)
    assert model.anchors_.shape == (200,)
    assert adjusted_rand(data.target, model.labels_) > 0.8


def test_missing_samples(rng):
    data = datasets.make_blob_views(400, 4, separation=8, random_state=0)
    present = rng.random((400, 3)) < 0.6
    present[~present.any(axis=1), 0] = True
    model = AnchorGraph(4, n_anchors=100, random_state=0).fit(data.views, present=present)
    assert adjusted_rand(data.target, model.labels_) > 0.9
    holes = [np.where(present[:, [v]], view, np.nan) for v, view in enumerate(data.views.values())]
    again = AnchorGraph(4, n_anchors=100, random_state=0).fit(holes)
    np.testing.assert_array_equal(model.labels_, again.labels_)


def test_samples_without_words_in_a_view_go_by_the_others(rng):
    rates = rng.random((3, 60)) ** 3
    target = np.repeat([0, 1, 2], 60)
    views = [rng.poisson(3 * rates[target]).astype(float) for _ in range(2)]
    views[0][::2] = 0
    model = AnchorGraph(3, random_state=0).fit([csr_array(view) for view in views])
    assert model.view_scalings_ == ("tfidf", "tfidf")
    assert adjusted_rand(target, model.labels_) > 0.9


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 50}, "n_neighbors=50, but there are 50 anchors; expected 1 to 49"),
        ({"n_clusters": 60}, "n_clusters=60, but there are 50 anchors; expected at most"),
        ({"n_anchors": 1}, "n_anchors=1; expected"),
    ],
)
def test_impossible_numbers_are_refused(blobs, parameters, message):
    with pytest.raises(ValueError, match=message):
        AnchorGraph(**{"n_clusters": 3, "n_anchors": 50} | parameters).fit(blobs.views)
