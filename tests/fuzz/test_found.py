"""What fuzzing over views came across, each as a plain case."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import manyview
from manyview import (
    CIGMVC,
    GBS,
    MGL,
    MSC,
    ConsensusGraph,
    CoregSC,
    SpectralAverage,
    SpectralView,
    metrics,
)
from manyview.graphs._knn import nearest_reference
from manyview.inputs._scaling import DenseRows
from manyview.plotting._effects import feature_effects


@pytest.mark.parametrize("n", [3, 7, 12])
def test_approximate_search_among_fewer_samples_than_cells(n, rng):
    X = rng.standard_normal((n, 4))
    found = GBS(2, neighbor_search="approximate", n_neighbors=1, random_state=0)
    exact = GBS(2, neighbor_search="exact", n_neighbors=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        np.testing.assert_array_equal(found.fit(X).labels_, exact.fit(X).labels_)


def test_new_samples_whose_cells_hold_too_few_known_ones(rng):
    """They have as many voters as the others: none that is infinitely far away."""
    known = rng.integers(0, 3, (100, 3)).astype(float)
    new = rng.integers(-3, 6, (200, 3)).astype(float)
    rows = DenseRows(np.vstack([known, new]))
    _, distances = nearest_reference(rows, 100, 16, "approximate", 0)
    assert np.isfinite(distances).all()


@pytest.mark.parametrize(
    "method", [SpectralView, SpectralAverage, GBS, CIGMVC, MGL, ConsensusGraph]
)
def test_precomputed_similarities_too_small_to_square(method):
    model = method(1, graph="precomputed", random_state=0).fit([np.full((5, 5), 2e-323)])
    assert model.labels_.tolist() == [0] * 5
    assert np.isfinite(model.embedding_).all()


def test_samples_that_are_all_equally_similar():
    """Many equal eigenvalues, for which one of LAPACK's drivers gives up."""
    kernel = np.ones((32, 32)) - np.eye(32)
    model = CoregSC(9, kernel="precomputed", random_state=0).fit([kernel])
    assert set(model.labels_) == set(range(9))
    assert np.isfinite(model.embedding_).all()


def test_huge_similarities_of_both_signs():
    X = np.array([[1e308, 1e308, -1e308, -1e308]] * 4)
    with pytest.raises(ValueError, match="view 'view0' has a negative similarity"):
        GBS(2, graph="precomputed").fit([X])


@pytest.mark.parametrize("method", [CoregSC, MSC])
def test_kernels_whose_columns_are_too_large_to_add_up(method):
    kernel = np.kron(np.eye(2), np.ones((4, 4)))
    kernel[1:4, 0] = 1e308
    model = method(2, kernel="precomputed", random_state=0).fit([kernel])
    assert np.isfinite(model.embedding_).all()
    assert model.labels_.tolist() == [0] * 4 + [1] * 4


@pytest.mark.filterwarnings("ignore:view .* has no information")
@pytest.mark.parametrize("method", ["mgl", "gbs", "angular", "average"])
def test_equal_samples_are_not_told_apart_even_one_by_one(method):
    with pytest.raises(ValueError, match=r"only 1 sample\(s\) of 3 differ"):
        manyview.cluster([np.zeros((3, 3))], 3, method=method)


def test_views_that_say_nothing_have_equal_votes():
    """Three samples, each as far from the others as all: no edges, no weights, but labels."""
    X = np.eye(3)
    with pytest.warns(UserWarning, match="has no information about any sample"):
        result = manyview.cluster([X, X], 3, method="mgl")
    assert result.view_weights.tolist() == [0.5, 0.5]
    assert json.loads(json.dumps(result.summary()))["mean_confidence"] is None
    assert result.model().predict([X, X]).labels.tolist() == [0, 1, 2]


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e308])
def test_effects_do_not_depend_on_the_unit(scale, rng):
    column = rng.uniform(-1, 1, (40, 1)) + np.repeat([[0.0], [0.5]], 20, axis=0)
    column /= np.abs(column).max()
    labels = np.repeat([0, 1], 20)
    plain = feature_effects(column, ["f"], labels, 2)[0][0]
    scaled = feature_effects(column * scale, ["f"], labels, 2)[0][0]
    assert scaled.effect == pytest.approx(plain.effect)
    assert scaled.mean_inside == pytest.approx(plain.mean_inside * scale)


@pytest.mark.parametrize(
    "labels",
    [
        ["a", None],
        [None, None],
        np.array([0.0, np.nan]),
        pd.array([1, None]),
        np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
    ],
)
def test_labels_that_are_missing(labels):
    with pytest.raises(ValueError, match=r"labels_true has no label for [12] sample\(s\)"):
        metrics.clustering_scores(labels, [0, 1])


def test_labels_of_any_kind_are_names():
    mixed = metrics.clustering_scores([1, "1", None.__class__, 0.5], ["a", "b", "c", "d"])
    assert mixed == dict.fromkeys(mixed, 1.0)
    many = np.arange(60) / 7  # more classes than half of the samples, none of them whole
    assert metrics.clustering_scores(many, many) == dict.fromkeys(mixed, 1.0)


@pytest.mark.parametrize(
    "labels", [[[0, 1], [1, 0]], [[0], [0, 1]], 3, [{}, {}]], ids=["2-D", "ragged", "0-D", "dicts"]
)
def test_what_is_no_list_of_labels(labels):
    with pytest.raises(ValueError, match=r"labels_pred (has|is)") as caught:
        metrics.adjusted_rand([0, 1], labels)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (np.ones((2, 3)), "X has 3 features, but GBS is expecting 4 features"),
        (np.ones((2, 2, 4)), "Found array with dim 3"),
        (np.array([[10**400, 1, 1, 1]], dtype=object), "int too large to convert to float"),
    ],
)
def test_new_samples_in_one_matrix_that_is_not_like_the_known_one(new, message, rng):
    model = GBS(2, views=[2, 2], random_state=0).fit(rng.standard_normal((30, 4)))
    for ask in (model.predict, model.transform):
        with pytest.raises(ValueError, match=message) as caught:
            ask(new)
        assert "\n" not in str(caught.value)
        assert caught.traceback[-1].path.name == "_base.py"


@pytest.mark.parametrize(
    "X",
    [None, "abc", {1, 2}, iter([[1.0]]), np.float64(3), pd.Series([1.0, 2.0]),
     pl.Series([1.0, 2.0]), pl.DataFrame({"a": [1.0]}).lazy()],
    ids=lambda X: type(X).__name__,
)  # fmt: skip
def test_what_is_no_table(X):
    with pytest.raises(ValueError, match=r"X is a \w+; expected a 2-D table of numbers"):
        GBS(2).fit(X)


def test_columns_of_the_same_name(rng):
    frame = pd.DataFrame(rng.standard_normal((20, 3)), columns=["a", "b", "a"])
    for X, label in [(frame, "X"), ([frame], "view 'view0'")]:
        message = f"{label} has 2 columns named 'a'; expected distinct names"
        with pytest.raises(ValueError, match=message):
            GBS(2).fit(X)
