"""CoTrainSC: equal to mvlearn and to polyview."""

import numpy as np
import pytest

from manyview import CoTrainSC
from manyview.graphs import view_kernels
from manyview.inputs import Views
from manyview.spectral import unit_rows
from tests.helpers.compared import projector
from tests.helpers.goldens import GOLDEN


@pytest.fixture(scope="module")
def golden():
    return dict(np.load(GOLDEN / "mvlearn.npz"))


def assert_same_embeddings(model, expected):
    """Up to a rotation, as eigenvectors are."""
    blocks = np.split(model.embedding_, len(model.view_names_), axis=1)
    for own, theirs in zip(blocks, np.split(expected, len(blocks), axis=1), strict=True):
        assert abs(projector(own) - projector(unit_rows(theirs))).max() < 1e-8


@pytest.mark.parametrize("n_views", [2, 3])
def test_equals_mvlearn(golden, n_views):
    views = [golden[f"view{v}"] for v in range(n_views)]
    model = CoTrainSC(4, scaling="none", random_state=0).fit(views)
    assert_same_embeddings(model, golden[f"cotrain{n_views}"])


def test_equals_polyview(golden):
    views = tuple(golden[f"view{v}"] for v in range(3))
    names = ("view0", "view1", "view2")
    kernels, _ = view_kernels(Views(names, views, scalings=("none",) * 3), "gaussian", 4)
    model = CoTrainSC(4, kernel="precomputed", random_state=0).fit(kernels)
    assert_same_embeddings(model, golden["polyview"])


def test_a_round_draws_the_views_together(golden):
    views = [golden[f"view{v}"] for v in range(2)]
    options = {"max_iter": 1, "scaling": "none", "random_state": 0}
    alone = [CoTrainSC(4, **options).fit([view]).view_embeddings_[0] for view in views]
    together = CoTrainSC(4, **options).fit(views).view_embeddings_
    assert np.linalg.norm(together[0].T @ together[1]) > np.linalg.norm(alone[0].T @ alone[1])


def test_view_of_equal_samples_changes_nothing(golden):
    view = golden["view0"]
    alone = CoTrainSC(4, random_state=0).fit([view])
    with pytest.warns(UserWarning, match="view 'view0' has no information"):
        model = CoTrainSC(4, random_state=0).fit([np.ones((len(view), 2)), view])
    np.testing.assert_array_equal(model.labels_, alone.labels_)
    assert not model.view_embeddings_[0].any()


def test_more_samples_than_the_limit_are_refused(rng):
    X = rng.standard_normal((120, 3))
    with pytest.raises(ValueError, match="expected at most max_dense_samples=100 samples"):
        CoTrainSC(3, max_dense_samples=100).fit([X, X])
