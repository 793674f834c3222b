"""`manyview.compare`."""

import warnings

import numpy as np
import pandas as pd
import pytest

import manyview
from manyview import datasets
from manyview.metrics import adjusted_rand, clustering_scores
from tests.helpers.blobs import blobs, incomplete_frames


@pytest.fixture(scope="module")
def data():
    return blobs()


@pytest.fixture(scope="module")
def found(data):
    before = {name: view.copy() for name, view in data.views.items()}
    methods = ["consensus", "average", "gbs"]
    found = manyview.compare(data.views, [2, 3], methods, classes=data.target)
    for name, view in before.items():  # inputs are not changed
        np.testing.assert_array_equal(view, data.views[name])
    return found


def test_clusterings_are_those_of_cluster(data, found):
    titles = [f"{name}, {k}" for name in ("consensus", "average", "gbs") for k in (2, 3)]
    assert list(found.results) == titles == [row.title for row in found.rows]
    for row in found.rows[1::2]:
        alone = manyview.cluster(data.views, row.n_clusters, method=row.method)
        np.testing.assert_array_equal(found.labels[row.title], alone.labels)
        scores = clustering_scores(data.target, alone.labels)
        assert row.scores == {name: scores[name] for name in ("ACC", "NMI", "ARI")}
        sizes = np.bincount(alone.labels)
        assert (row.smallest, row.largest) == (sizes.min(), sizes.max())


def test_agreement_is_the_ari_of_every_two(found):
    labels = list(found.labels.values())
    expected = [[adjusted_rand(one, other) for other in labels] for one in labels]
    np.testing.assert_allclose(found.agreement, expected)
    others = (np.sum(expected, axis=1) - 1) / (len(labels) - 1)
    np.testing.assert_allclose([row.agreement for row in found.rows], others)


def test_cut_and_modularity_are_those_of_the_plain_definitions(data, found):
    graphs = manyview.SpectralAverage(3, scaling="auto").fit(data.views).view_graphs_
    mean = sum(graph.toarray() for graph in graphs) / len(graphs)
    weights = (mean + mean.T) / 2
    for row in found.rows:
        inside = np.equal.outer(found.labels[row.title], found.labels[row.title])
        own = pd.get_dummies(found.labels[row.title]).to_numpy(dtype=float)
        volume = own.T @ weights.sum(axis=1)
        leaving = own.T @ np.where(inside, 0, weights).sum(axis=1)
        assert row.cut == pytest.approx((leaving / volume).mean())
        degrees = weights.sum(axis=1)
        expected = weights - np.outer(degrees, degrees) / degrees.sum()
        assert row.modularity == pytest.approx(expected[inside].sum() / degrees.sum())


def test_only_the_true_clusters_are_hardly_cut_and_stable(found):
    """Blobs far apart: two clusters must put two of the three together."""
    best = max(found.rows, key=lambda row: row.modularity)
    assert best.n_clusters == 3
    assert best.scores["ACC"] == 1
    stability = {row.title: row.stability for row in found.rows if row.stability is not None}
    assert list(stability) == ["consensus, 2", "consensus, 3"]
    assert stability["consensus, 3"] > 0.95


def test_the_number_is_suggested_once_for_all():
    data = datasets.make_blob_views(48, 3, separation=8.0, random_state=0)
    found = manyview.compare(data.views, ["auto", 2, 3], ["average", "gbs"])
    assert list(found.results) == ["average, 3", "average, 2", "gbs, 3", "gbs, 2"]
    assert found.cluster_number.n_clusters == 3


def test_settings_by_title(data):
    methods = {
        "few": {"method": "average", "n_neighbors": 8},
        "many": {"method": "average", "n_neighbors": 40},
        "five": {"method": "gbs", "n_clusters": 5},
        "leiden": {"resolution": 1.0},
    }
    found = manyview.compare(data.views, 3, methods, neighbor_search="exact")
    estimators = {title: result.estimator for title, result in found.results.items()}
    assert [estimators[title].n_neighbors for title in ("few", "many")] == [8, 40]
    assert estimators["five"].n_clusters_ == 5
    assert estimators["leiden"].resolution == 1.0
    assert {one.neighbor_search for one in estimators.values()} == {"exact"}
    assert found.cluster_number is None


def test_what_fails_is_a_row_with_the_reason(data):
    frames = incomplete_frames(data.views)
    found = manyview.compare(frames, 3, ["consensus", "mgl", "average"])
    assert list(found.results) == ["consensus", "average"]
    failed = found.rows[1]
    assert failed.title == "mgl"
    assert "expected complete views for MGL" in failed.error
    assert failed.cut is failed.n_clusters is None
    assert "mgl failed: view 'view" in repr(found)
    assert found.failures == {failed.error: ["mgl"]}
    with pytest.raises(ValueError, match="no method could cluster these samples; mgl: view"):
        manyview.compare(frames, 3, ["mgl"])


@pytest.mark.parametrize("form", ["series", "dict"])
def test_classes_are_joined_by_id(form, data):
    frames = incomplete_frames(data.views)
    series = pd.Series(data.target, [f"s{i}" for i in range(90)], dtype=object)[::-1].copy()
    series.iloc[:5] = None  # not known
    classes = series if form == "series" else series.iloc[5:].to_dict()
    found = manyview.compare(frames, 3, ["average"], classes=classes)
    assert found.rows[0].scores["ACC"] > 0.95
    assert found.table()[0]["ACC"] == found.rows[0].scores["ACC"]


def test_subsamples(data):
    found = manyview.compare(data.views, [3, 9], ["average"], n_subsamples=1)
    right, wrong = (row.subsamples for row in found.rows)
    assert right == 1
    assert wrong < 0.9


def test_warnings_are_kept_and_not_raised(data):
    views = {**data.views, "flat": np.ones((90, 4))}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = manyview.compare(views, 3, ["average", "consensus"])
    text = next(text for text in found.warnings if "'flat' has no information" in text)
    assert found.warnings[text] == ["average", "consensus"]
    assert "average; consensus: view 'flat' has no information" in repr(found)


ERRORS = {
    "method": ({"methods": ["magic"]}, "method='magic'; expected one of 'consensus'"),
    "none": ({"methods": []}, "methods is empty"),
    "no dict": ({"methods": {"mine": "consensus"}}, r"methods\['mine'\]='consensus'; expected a"),
    "setting": ({"n_resamples": 3}, "'average' has no setting 'n_resamples'; expected some of gr"),
    "title": (
        {"methods": {"a": {}, "a, 3": {"n_clusters": 3}}, "n_clusters": [2, 3]},
        "two clusterings are called 'a, 3'",
    ),
    "number": ({"n_clusters": []}, "n_clusters is empty"),
    "shape": ({"classes": [0, 1]}, r"classes has shape \(2,\); expected one class .*\(90,\)"),
    "ids": ({"classes": {"x": 1}}, "classes has none for the samples '0', '1'"),
    "subsamples": ({"n_subsamples": -1}, "n_subsamples=-1; expected an integer"),
    "one number": ({"n_clusters": 0}, "no method could cluster .* n_clusters=0; expected"),
    "data": ({"data": np.eye(9)}, "data is one ndarray"),
    "all fail": ({"n_clusters": 91}, "no method could cluster .* there are 90 samples"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case, data):
    given, message = ERRORS[case]
    settings = {"data": data.views, "n_clusters": 3, "methods": ["average"], **given}
    with pytest.raises(ValueError, match=message):
        manyview.compare(**settings)
