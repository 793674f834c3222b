"""Properties for any data: order, scale, duplication, precision."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from manyview import CIGMVC, GBS, AngularCIGMVC, datasets
from manyview.metrics import adjusted_rand

ALL = pytest.mark.parametrize("method", [AngularCIGMVC, CIGMVC, GBS])
RUNS = settings(max_examples=5, deadline=None, derandomize=True)
SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def problems(draw):
    """Blobs of any separation, with or without a view that disagrees; no ties."""
    seed = draw(SEEDS)
    n_clusters = draw(st.integers(2, 5))
    n_samples = draw(st.integers(40, 90))
    widths = draw(st.lists(st.integers(3, 9), min_size=1, max_size=3))
    separation = draw(st.sampled_from([3.0, 5.0, 8.0]))
    make = draw(st.sampled_from([datasets.make_blob_views, datasets.make_conflict_views]))
    data = make(n_samples, n_clusters, widths=widths, separation=separation, random_state=seed)
    return list(data.views.values()), n_clusters, np.random.default_rng(seed)


def fit(method, views, n_clusters, **parameters):
    with warnings.catch_warnings():
        # Well separated blobs may have more components than n_clusters, which gives a warning.
        warnings.simplefilter("ignore", UserWarning)
        return method(n_clusters, random_state=0, **parameters).fit(views)


@ALL
@RUNS
@given(problems())
def test_n_clusters_and_rows_of_the_unified_graph(method, problem):
    views, n_clusters, _ = problem
    model = fit(method, views, n_clusters)
    assert set(model.labels_) == set(range(n_clusters))
    sums = model.unified_graph_.sum(axis=1)
    np.testing.assert_allclose(sums, 1, atol=1e-9)
    if model.converged_:  # no edge leaves a cluster
        edges = model.unified_graph_.tocoo()
        assert (model.labels_[edges.row] == model.labels_[edges.col]).all()
    for S, A in zip(model.view_graphs_, model.consistent_graphs_, strict=True):
        assert (A - S).max() <= 0
        assert A.data.min() > 0


@ALL
@RUNS
@given(problems())
def test_permuting_samples_permutes_labels(method, problem):
    views, n_clusters, rng = problem
    order = rng.permutation(len(views[0]))
    plain = fit(method, views, n_clusters)
    permuted = fit(method, [view[order] for view in views], n_clusters)
    if plain.converged_:
        assert adjusted_rand(plain.labels_[order], permuted.labels_) == 1
        assert plain.n_iter_ == permuted.n_iter_
    expected = plain.view_graphs_[0][order][:, order]
    assert abs(permuted.view_graphs_[0] - expected).max() < 1e-12


@ALL
@RUNS
@given(problems())
def test_permuting_views_changes_nothing(method, problem):
    views, n_clusters, _ = problem
    plain = fit(method, views, n_clusters)
    reversed_ = fit(method, views[::-1], n_clusters)
    np.testing.assert_array_equal(plain.labels_, reversed_.labels_)
    np.testing.assert_allclose(plain.view_weights_, reversed_.view_weights_[::-1], rtol=1e-6)


@ALL
@RUNS
@given(problems(), st.floats(1e-3, 1e3), st.floats(-10, 10))
def test_scaling_and_shifting_a_sample_changes_nothing(method, problem, scale, shift):
    """Z-scores of a sample do not depend on its scale and mean."""
    views, n_clusters, rng = problem
    moved = [view.copy() for view in views]
    some = rng.integers(len(views[0]), size=5)
    moved[0][some] = scale * moved[0][some] + shift
    plain, other = fit(method, views, n_clusters), fit(method, moved, n_clusters)
    assert abs(plain.view_graphs_[0] - other.view_graphs_[0]).max() < 1e-6
    np.testing.assert_array_equal(plain.labels_, other.labels_)


@ALL
@RUNS
@given(problems())
def test_view_given_twice_has_the_same_weight_twice(method, problem):
    views, n_clusters, _ = problem
    model = fit(method, [views[0], *views], n_clusters)
    assert model.view_weights_[0] == pytest.approx(model.view_weights_[1], rel=1e-12)
    once, twice = fit(method, views[:1], n_clusters), fit(method, [views[0]] * 2, n_clusters)
    assert abs(once.view_graphs_[0] - twice.view_graphs_[1]).max() == 0


@ALL
@RUNS
@given(problems())
def test_copies_of_one_view_equal_that_view(method, problem):
    """With lambda V times as large, as its effect is divided by V."""
    views, n_clusters, _ = problem
    V = 3
    once = fit(method, views[:1], n_clusters, max_iter=1, lambda_init=1.0)
    many = fit(method, [views[0]] * V, n_clusters, max_iter=1, lambda_init=float(V))
    assert abs(once.unified_graph_ - many.unified_graph_).max() < 1e-9


@ALL
@RUNS
@given(problems())
def test_float32_is_close_to_float64(method, problem):
    views, n_clusters, _ = problem
    plain = fit(method, views, n_clusters)
    single = fit(method, [view.astype(np.float32) for view in views], n_clusters)
    assert abs(plain.view_graphs_[0] - single.view_graphs_[0]).max() < 1e-3
    widened = fit(method, [view.astype(np.float32).astype(float) for view in views], n_clusters)
    np.testing.assert_array_equal(single.labels_, widened.labels_)


@ALL
@RUNS
@given(problems())
def test_sparse_input_equals_dense_input(method, problem):
    views, n_clusters, rng = problem
    views = [np.where(rng.random(view.shape) < 0.5, view, 0.0) for view in views]
    plain = fit(method, views, n_clusters)
    thin = fit(method, [csr_array(view) for view in views], n_clusters)
    for S, T in zip(plain.view_graphs_, thin.view_graphs_, strict=True):
        assert abs(S - T).max() < 1e-9


@RUNS
@given(problems(), st.sampled_from(["published", "paper", "exact"]))
def test_parts_are_within_their_bounds(problem, updates):
    views, n_clusters, _ = problem
    model = fit(CIGMVC, views, n_clusters, updates=updates, beta=0.02, gamma=0.01)
    for S, A, E in zip(
        model.view_graphs_, model.consistent_graphs_, model.inconsistent_graphs_, strict=True
    ):
        assert A.data.min(initial=0) >= 0
        assert E.data.min(initial=0) >= 0
        assert abs(A + E - S).max() < 1e-15
