"""Labels of new samples from their nearest training samples."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

import manyview
from manyview import CIGMVC, GBS, AngularCIGMVC, ConsensusGraph, datasets
from manyview.graphs._knn import nearest_reference
from manyview.inputs._scaling import DenseRows
from manyview.metrics import clustering_accuracy


@pytest.fixture(scope="module")
def digits():
    return datasets.load_digits_views()


@pytest.fixture(scope="module")
def on_digits(digits):
    return AngularCIGMVC(10, random_state=0).fit(digits.views)


@pytest.fixture(scope="module")
def blobs():
    return datasets.make_blob_views(120, 3, separation=8.0, random_state=0)


def rows_of(views, some):
    return {name: view[some] for name, view in views.items()}


def test_approximate_search_of_neighbours(rng):
    centres = rng.standard_normal((8, 16)) * 2
    groups = rng.integers(0, 8, 6000)
    X = centres[groups] + rng.standard_normal((6000, 16))
    exact, _ = nearest_reference(DenseRows(X), 4000, 12, "exact", 0)
    near, _ = nearest_reference(DenseRows(X), 4000, 12, "approximate", 0)
    recall = np.mean([len(set(a) & set(b)) / 12 for a, b in zip(exact, near, strict=True)])
    assert recall > 0.85
    assert (exact[:, 0] == near[:, 0]).mean() > 0.95
    model = AngularCIGMVC(8, random_state=0, scaling="none").fit([X[:4000]])
    new = [X[4000:]]
    by_exact = model.set_params(neighbor_search="exact").predict(new)
    by_cells = model.set_params(neighbor_search="approximate").predict(new)
    assert (by_exact == by_cells).mean() > 0.99


def test_training_samples_keep_their_labels(digits, on_digits):
    assert (on_digits.predict(digits.views) == on_digits.labels_).mean() >= 0.99


def test_predictions_are_nearly_as_good_as_clustering_everything(digits, on_digits):
    """A fifth of the digits: on average within 3 points."""
    lost = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(digits.n_samples)
        known, new = np.split(order, [round(0.8 * digits.n_samples)])
        model = AngularCIGMVC(10, random_state=0).fit(rows_of(digits.views, known))
        found = model.predict(rows_of(digits.views, new))
        target = digits.target[new]
        lost.append(
            clustering_accuracy(target, on_digits.labels_[new]) - clustering_accuracy(target, found)
        )
    assert np.mean(lost) <= 0.03


def test_confidence_tells_right_from_wrong(blobs):
    order = np.random.default_rng(0).permutation(120)
    known, new = order[:80], order[80:]
    model = AngularCIGMVC(3, random_state=0).fit(rows_of(blobs.views, known))
    found = model.to_model().predict(rows_of(blobs.views, new))
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)
    assert found.confidence.mean() > 0.9
    noise = {
        name: np.random.default_rng(1).standard_normal((40, view.shape[1]))
        for name, view in blobs.views.items()
    }
    assert model.to_model().predict(noise).confidence.mean() < 0.85
    assert model.confidence_.shape == (80,)
    assert model.confidence_.mean() > 0.9


def test_new_samples_do_not_influence_each_other(blobs):
    model = AngularCIGMVC(3, random_state=0).fit(rows_of(blobs.views, slice(0, 80)))
    new = rows_of(blobs.views, slice(80, 120))
    together = model.predict_proba(new)
    alone = [model.predict_proba(rows_of(new, [i]))[0] for i in range(40)]
    np.testing.assert_allclose(together, alone, atol=1e-12)


def test_views_may_be_missing(blobs):
    model = AngularCIGMVC(3, random_state=0).fit(rows_of(blobs.views, slice(0, 80)))
    new = rows_of(blobs.views, slice(80, 120))
    first, *others = new
    one_view = model.predict({first: new[first]})
    blank = {**new, **{name: np.full_like(new[name], np.nan) for name in others}}
    for name in others:
        blank[name][0] = new[name][0]  # not wholly empty
    assert clustering_accuracy(blobs.target[80:], one_view) > 0.9
    present = np.zeros((40, 3), dtype=bool)
    present[:, 0] = True
    present[0] = True
    by_nan = model.predict_proba(blank)
    np.testing.assert_array_equal(by_nan, model.predict_proba(new, present=present))
    np.testing.assert_array_equal(by_nan[1:].argmax(axis=1), one_view[1:])


def test_a_model_fitted_with_missing_samples(blobs, rng):
    present = rng.random((120, 3)) < 0.7
    present[~present.any(axis=1), 0] = True
    model = AngularCIGMVC(3, random_state=0).fit(blobs.views, present=present)
    assert (model.predict(blobs.views, present=present) == model.labels_).mean() >= 0.99
    assert clustering_accuracy(blobs.target, model.predict(blobs.views)) > 0.95


@pytest.mark.parametrize("form", ["list", "one matrix", "sparse", "sparse for dense"])
def test_forms_of_input(blobs, form):
    tables = list(blobs.views.values())
    expected = AngularCIGMVC(3, random_state=0).fit(tables).predict(tables)
    if form == "one matrix":
        X = np.hstack(tables)
        model = AngularCIGMVC(3, random_state=0, views=[t.shape[1] for t in tables]).fit(X)
        found = model.predict(X)
    elif form == "list":
        found = AngularCIGMVC(3, random_state=0).fit(tables).predict(tuple(tables))
    else:
        sparse = [csr_array(table) for table in tables]
        known = tables if form == "sparse for dense" else sparse
        found = AngularCIGMVC(3, random_state=0).fit(known).predict(sparse)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("method", [CIGMVC, GBS, manyview.MGL, manyview.CoregSC,
                                    manyview.SpectralAverage, manyview.SpectralView,
                                    manyview.CoTrainSC, manyview.AnchorGraph,
                                    manyview.MultiViewKMeans])  # fmt: skip
def test_every_method_predicts(method, blobs):
    model = method(3, random_state=0).fit(rows_of(blobs.views, slice(0, 80)))
    found = model.predict(rows_of(blobs.views, slice(80, 120)))
    assert clustering_accuracy(blobs.target[80:], found) > 0.9


def test_transform_gives_the_embedding(blobs):
    model = AngularCIGMVC(3, random_state=0).fit(blobs.views)
    found = model.transform(blobs.views)
    assert found.shape == (120, 3)
    np.testing.assert_allclose(found, model.embedding_, atol=0.2 * np.abs(model.embedding_).max())
    framed = AngularCIGMVC(3, random_state=0).set_output(transform="pandas")
    frame = framed.fit_transform(np.hstack(list(blobs.views.values())))
    assert list(frame.columns) == ["angularcigmvc0", "angularcigmvc1", "angularcigmvc2"]


def test_rows_with_other_names_are_refused(blobs):
    frames = {name: pd.DataFrame(view) for name, view in blobs.views.items()}
    frames["view1"] = frames["view1"].iloc[::-1]
    model = AngularCIGMVC(3, random_state=0).fit(blobs.views)
    for method in (model.predict, AngularCIGMVC(3).fit):
        with pytest.raises(ValueError, match="'view0' and 'view1' have different indexes"):
            method(frames)


@pytest.mark.parametrize("columns", [2, 10])
def test_an_outlier_changes_nothing_for_the_others(columns, blobs):
    views = [view[:, :columns] for view in blobs.views.values()]
    model = AngularCIGMVC(3, random_state=0, scaling="none").fit(views)
    alone = model.predict_proba([view[:50] for view in views])
    far = [np.vstack([view[:50], np.full((1, view.shape[1]), 1e200)]) for view in views]
    beside = model.predict_proba(far)
    np.testing.assert_allclose(beside[:50], alone, atol=1e-9)
    assert np.isfinite(beside).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_clusters_of_one_sample(blobs):
    views = [view[:20] for view in blobs.views.values()]
    model = AngularCIGMVC(20, random_state=0).fit(views)
    np.testing.assert_array_equal(model.predict(views), model.labels_)


def test_one_new_sample_missing_in_a_view(blobs):
    first, second, third = (view[:1] for view in blobs.views.values())
    model = AngularCIGMVC(3, random_state=0).fit(list(blobs.views.values()))
    assert model.predict([first * np.nan, second, third])[0] == model.labels_[0]
    present = np.array([[True, False, False]])
    assert model.predict([first, second, third], present=present)[0] == model.labels_[0]


def test_parameters_set_after_the_fit_change_nothing(blobs):
    model = AngularCIGMVC(3, random_state=0).fit(blobs.views)
    before = model.predict_proba(blobs.views)
    model.set_params(scaling="none", n_neighbors=3)
    np.testing.assert_array_equal(model.predict_proba(blobs.views), before)


def test_shares_and_novelty_of_an_estimator(blobs):
    model = GBS(3, random_state=0).fit(blobs.views)
    shares = model.predict_proba(blobs.views)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(blobs.views))
    assert (model.novelty(blobs.views) <= 1).mean() > 0.95


def test_a_view_of_weight_0_decides_where_no_other_view_has_the_sample(blobs):
    model = GBS(3, random_state=0).fit(blobs.views)
    model.view_weights_ = np.array([1.0, 1.0, 0.0])
    third = {"view2": blobs.views["view2"]}
    np.testing.assert_allclose(model.predict_proba(third).sum(axis=1), 1)
    assert clustering_accuracy(blobs.target, model.predict(third)) > 0.9
    assert (model.novelty({"view2": 1e6 * blobs.views["view2"] ** 3}) > 0).all()
    both = model.predict_proba({name: blobs.views[name] for name in ("view0", "view1")})
    np.testing.assert_allclose(model.predict_proba(blobs.views), both, atol=1e-8)


def test_errors(blobs, rng):
    model = AngularCIGMVC(3, random_state=0)
    with pytest.raises(NotFittedError):
        model.predict(blobs.views)
    model.fit(blobs.views)
    first, second, third = blobs.views
    with pytest.raises(ValueError, match=rf"view 'other'; expected some of {first}, "):
        model.predict({"other": rng.standard_normal((3, 4))})
    with pytest.raises(ValueError, match=r"got 2 view\(s\); expected 3"):
        model.predict([blobs.views[first], blobs.views[second]])
    with pytest.raises(ValueError, match=f"view '{third}' has 2 columns; expected 10"):
        model.predict({third: rng.standard_normal((3, 2))})
    nan = blobs.views[first][:3].copy()
    nan[1] = np.nan
    with pytest.raises(ValueError, match=r"1 sample\(s\) are missing from all views: 1"):
        model.predict({first: nan})
    square = [np.abs(rng.standard_normal((30, 30))) for _ in range(2)]
    given = AngularCIGMVC(3, graph="precomputed", random_state=0).fit(square)
    assert not hasattr(given, "predict")
    with pytest.raises(AttributeError, match="has no attribute 'predict'") as caught:
        given.predict(square)
    assert "similarities, not features" in str(caught.value.__cause__)


def test_samples_unlike_anything_known():
    table = load_wine().data
    views = {"acids": table[:, :7], "colour": table[:, 7:]}
    model = ConsensusGraph(3, random_state=0).fit(views)
    known = model.to_model().predict(views)
    assert known.n_outside <= 0.05 * len(table)
    assert known.confidence.mean() > 0.85
    far = {name: view[:5] * 1e6 for name, view in views.items()}
    outside = model.to_model().predict(far)
    assert outside.n_outside == 5
    assert outside.confidence.max() < 0.7
    # Even if it is far in one column of one view only.
    one = {name: view[:5].copy() for name, view in views.items()}
    one["acids"][:, 4] = 1e6
    assert (model.novelty(one) > 1).all()


def test_novelty_where_training_samples_repeat():
    """There is no usual distance then: unseen samples are not outside."""
    flags = np.repeat([[0.0, 0, 1], [1, 1, 0]], 30, axis=0)
    model = ConsensusGraph(2, random_state=0).fit([flags])
    np.testing.assert_array_equal(model.novelty([np.array([[0.0, 0, 1], [1, 0, 1]])]), [0, 1])
