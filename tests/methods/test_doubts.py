"""Warnings about results that can probably not be trusted."""

import json
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

import manyview
from manyview import GBS, ConsensusGraph, datasets
from manyview.methods._doubts import edge_counts, warn_of_silent_views, warn_of_sizes


def labels_of(*sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


@pytest.mark.parametrize("sizes", [(3275, 24, 7, 2, 2, 2), (900, 90, 10), (60, 38, 2, 1), (349, 2)])
def test_collapses(sizes):
    text = f"{sizes[0]:,} of {sum(sizes):,} samples are in one of {len(sizes)} clusters"
    with pytest.warns(UserWarning, match=text):
        warn_of_sizes(labels_of(*sizes))


@pytest.mark.parametrize(
    "sizes", [(107, 66, 21, 9), (90, 10), (50, 50, 1), (100,), (3, 2), (17, 2), (800, 100, 100)]
)
def test_uneven_sizes_are_no_collapse(sizes):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_sizes(labels_of(*sizes))


def test_views_without_neighbours(rng):
    some = csr_array((rng.random((10, 10)) < 0.5) * (np.arange(10) < 3)[:, None] * 1.0)
    expected = "view 'b' has no nearest neighbours for 7 of 10 samples"
    shared, rows = edge_counts([csr_array(np.ones((10, 10))), some])
    with pytest.warns(UserWarning, match=expected):
        warn_of_silent_views(shared.diagonal(), rows, ["a", "b"], np.array([10, 10]))


def test_a_collapse_is_in_the_summary(tmp_path):
    """Two outliers in every view take two of three clusters of the rank constraint."""
    data = datasets.make_blob_views(80, 1, random_state=0)
    views = {name: np.vstack([view, view[:2] + 1e3]) for name, view in data.views.items()}
    with pytest.warns(UserWarning, match="probably collapsed"):
        result = manyview.cluster(views, 3, method="gbs", scaling="none")
    summary = json.loads(result.files()["summary.json"])
    assert any("probably collapsed" in text for text in summary["warnings"])


def test_good_results_give_no_warning():
    data = datasets.make_blob_views(120, 4, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in (ConsensusGraph, GBS):
            method(4, random_state=0).fit(data.views)


def test_equal_views_are_named_in_one_warning():
    views = datasets.make_blob_views(120, 4, random_state=0).views
    again = {"x": views["view0"], "y": views["view0"] * 2, "z": views["view0"], **views}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ConsensusGraph(4, random_state=0).fit(again)
    (text,) = [str(one.message) for one in caught if "nearly the same" in str(one.message)]
    assert text.startswith("views 'x', 'y', 'z' and 'view0' have nearly the same neighbours")
    assert "counts 4 times" in text


@pytest.mark.parametrize(
    "fit",
    [
        lambda views: manyview.cluster(views, 3),
        lambda views: ConsensusGraph(3).fit_predict(views),
        lambda views: ConsensusGraph(3).fit_transform(views),  # wrapped by scikit-learn
    ],
)
def test_warnings_point_at_the_line_of_the_user(fit, blobs):
    view = blobs.views["view0"]
    with pytest.warns(UserWarning, match="nearly the same neighbours") as caught:
        fit([view, view])
    assert {warning.filename for warning in caught} == {__file__}
