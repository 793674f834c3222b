"""MGL: equal to the published program, and warnings of views that decide alone."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from manyview import MGL, datasets
from manyview.metrics import adjusted_rand
from tests.helpers.compared import projector


def test_equals_the_published_program(case):
    golden = case.golden("mgl")
    model = MGL(case.n_clusters, graph="precomputed", random_state=0).fit(case.graphs)
    weights = np.array([entry.view_weights for entry in model.history_])
    np.testing.assert_allclose(weights, golden("alpha_trace"), rtol=1e-6)
    objectives = [entry.objective for entry in model.history_]
    np.testing.assert_allclose(objectives, golden("objective_trace"), rtol=1e-6)
    assert abs(projector(model.embedding_) - projector(golden("F"))).max() < 1e-6


def test_empty_view_has_no_weight_and_a_dominant_view_is_named(rng):
    blocks = csr_array(np.kron(np.eye(3), np.ones((20, 20))) / 20)
    noise = rng.random((60, 60))
    empty = csr_array((60, 60))
    with pytest.warns(UserWarning, match="view") as caught:
        model = MGL(3, graph="precomputed", random_state=0).fit(
            {"blocks": blocks, "noise": noise, "empty": empty}
        )
    messages = [str(entry.message) for entry in caught]
    assert any(
        "view 'empty' has no information about any sample: it has no edges" in m for m in messages
    )
    assert any("view(s) 'blocks' took 99" in m for m in messages)
    assert np.isfinite(model.view_weights_).all()
    assert model.view_weights_[2] == 0
    assert adjusted_rand(np.repeat([0, 1, 2], 20), model.labels_) == 1


def test_several_dominant_views_are_named(rng):
    """Two views with the same wrong components, three with the right groups but connected."""
    blocks = np.kron(np.eye(3), np.ones((20, 20))) / 20
    order = rng.permutation(60)
    wrong, good = blocks[np.ix_(order, order)], blocks + 0.01
    with pytest.warns(UserWarning, match=r"view\(s\) 'view0', 'view1' took 99"):
        MGL(3, graph="precomputed", random_state=0).fit([wrong, wrong, good, good, good])


def test_stops_where_only_rounding_is_left():
    data = datasets.make_blob_views(600, 12, separation=60, random_state=0)
    model = MGL(12, scaling="none", random_state=0).fit(data.views)
    assert model.converged_
    assert adjusted_rand(data.target, model.labels_) == 1


def test_warning_at_the_limit_of_rounds(blobs):
    with pytest.warns(ConvergenceWarning, match="still fell after max_iter=2 rounds"):
        model = MGL(3, max_iter=2, random_state=0).fit(blobs.views)
    assert (model.converged_, model.n_iter_) == (False, 2)
