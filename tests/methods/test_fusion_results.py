"""Disagreement of views, per view, sample and edge."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from manyview import CIGMVC, GBS, AngularCIGMVC, datasets
from manyview.metrics import clustering_accuracy

BOTH = pytest.mark.parametrize("method", [CIGMVC, AngularCIGMVC])


@BOTH
def test_known_conflicts_are_found(method):
    """In one view, 30 % of the samples have features of another cluster; ten seeds."""
    found = []
    for seed in range(10):
        data = datasets.make_conflict_views(random_state=seed)
        model = method(4, random_state=0).fit(data.views)
        scores = model.sample_disagreement_[:, 0]
        found.append(roc_auc_score(data.conflicts[:, 0], scores))
        assert model.view_disagreement_.argmax() == 0
    assert np.mean(found) >= 0.95


@BOTH
def test_shares_of_inconsistent_weights(method):
    data = datasets.make_conflict_views(120, 3, random_state=0)
    model = method(3, random_state=0).fit(data.views)
    for v, (S, E) in enumerate(zip(model.view_graphs_, model.inconsistent_graphs_, strict=True)):
        plain = E.toarray().sum(axis=1) / S.toarray().sum(axis=1)
        np.testing.assert_allclose(model.sample_disagreement_[:, v], plain, atol=1e-12)
        assert model.view_disagreement_[v] == pytest.approx(E.sum() / S.sum())
        edges = model.edge_disagreement(v)
        assert edges.data.min() > 0
        assert edges.data.max() <= 1 + 1e-12
        shares = np.divide(E.toarray(), S.toarray(), out=np.zeros(S.shape), where=S.toarray() > 0)
        np.testing.assert_allclose(edges.toarray(), shares, atol=1e-12)
    named = model.edge_disagreement("view1")
    assert (named != model.edge_disagreement(1)).nnz == 0


def test_noise_view_has_a_small_weight_and_a_high_disagreement():
    data = datasets.load_digits_views()
    noise = np.random.default_rng(0).standard_normal((data.n_samples, 64))
    clean = AngularCIGMVC(10, random_state=0).fit(data.views)
    with pytest.warns(UserWarning, match="view 'noise' has hardly anything in common"):
        noisy = AngularCIGMVC(10, random_state=0).fit({**data.views, "noise": noise})
    before, after = (clustering_accuracy(data.target, m.labels_) for m in (clean, noisy))
    assert after >= before - 0.02
    assert noisy.view_weights_.argmin() == 3
    assert noisy.view_disagreement_.argmax() == 3


def test_edge_disagreement_of_an_unknown_view():
    model = CIGMVC(3)
    with pytest.raises(NotFittedError):
        model.edge_disagreement(0)
    model.fit(datasets.make_blob_views(60, 3, random_state=0).views)
    for wrong in (3, -1, "nose", 1.5):
        with pytest.raises(ValueError, match=r"expected a number from 0 to 2 or one of view0"):
            model.edge_disagreement(wrong)


def test_gbs_has_no_disagreement():
    data = datasets.make_blob_views(60, 3, random_state=0)
    assert not hasattr(GBS(3).fit(data.views), "sample_disagreement_")
