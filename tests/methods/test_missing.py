"""Samples that a view lacks are clustered from the views they have."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import manyview
from manyview import CIGMVC, GBS, AngularCIGMVC, SpectralAverage, datasets
from manyview.graphs import MeanGraph, stack_graphs
from manyview.graphs._bridges import closest_bridges
from manyview.graphs._knn import nearest
from manyview.graphs._weights import expand_graph, neighbor_graph
from manyview.inputs._missing import find_non_finite
from manyview.inputs._scaling import normalize_rows
from manyview.methods import cigmvc
from manyview.methods._fusion_steps import InitialRowResiduals
from manyview.methods.cigmvc import unified_graph
from manyview.metrics import clustering_accuracy
from tests.helpers import oracle
from tests.helpers.masks import removed

METHODS = [AngularCIGMVC, CIGMVC, GBS, SpectralAverage]


def with_nan(views, present):
    columns = zip(views.items(), present.T, strict=True)
    return {name: np.where(has[:, None], view, np.nan) for (name, view), has in columns}


@pytest.fixture(scope="module")
def blobs():
    return datasets.make_blob_views(150, 3, random_state=0)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_missing_is_the_complete_method(method, blobs):
    whole = method(3, random_state=0).fit(blobs.views)
    masked = method(3, random_state=0).fit(blobs.views, present=np.ones((150, 3), dtype=bool))
    np.testing.assert_array_equal(masked.labels_, whole.labels_)
    np.testing.assert_array_equal(masked.embedding_, whole.embedding_)


@pytest.mark.parametrize("method", METHODS)
def test_nan_rows_and_masks_are_the_same(method, blobs, rng):
    present = removed(150, 3, 0.3, rng)
    by_nan = method(3, random_state=0).fit(with_nan(blobs.views, present))
    garbage = {
        name: np.where(has[:, None], view, 1e3 * rng.standard_normal(view.shape))
        for (name, view), has in zip(blobs.views.items(), present.T, strict=True)
    }
    by_mask = method(3, random_state=0).fit(garbage, present=present)
    np.testing.assert_array_equal(by_nan.labels_, by_mask.labels_)
    for one, other in zip(by_nan.view_graphs_, by_mask.view_graphs_, strict=True):
        assert (one != other).nnz == 0
    assert clustering_accuracy(blobs.target, by_nan.labels_) > 0.95


def test_a_sparse_view_takes_a_mask(blobs, rng):
    present = removed(150, 3, 0.3, rng)
    sparse = {name: csr_array(view) for name, view in blobs.views.items()}
    dense = AngularCIGMVC(3, random_state=0).fit(blobs.views, present=present)
    found = AngularCIGMVC(3, random_state=0).fit(sparse, present=present)
    np.testing.assert_array_equal(found.labels_, dense.labels_)


def test_absent_samples_have_no_edges_and_no_say(blobs, rng):
    present = removed(150, 3, 0.3, rng)
    model = AngularCIGMVC(3, random_state=0).fit(blobs.views, present=present)
    for v, graph in enumerate(model.view_graphs_):
        assert np.diff(graph.indptr)[~present[:, v]].sum() == 0
        assert present[graph.indices, v].all()
        own = np.flatnonzero(present[:, v])
        rows = normalize_rows(list(blobs.views.values())[v][own], "zscore")
        alone = neighbor_graph(nearest(rows, 12), "adaptive", rows.sq_norms())
        assert abs(expand_graph(alone, own, 150) - graph).max() == 0
    assert np.isnan(model.sample_disagreement_[~present]).all()
    assert np.isfinite(model.sample_disagreement_[present]).all()


def _initial_residuals(stack, U):
    rows = stack.rows(InitialRowResiduals(), U)
    return cigmvc._over_samples(stack, rows)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["published", "exact"]))
@settings(max_examples=15, deadline=None)
def test_views_are_weighed_by_the_samples_they_have(seed, updates):
    """Misfits are sums over present samples only, as large as if there were all of them."""
    rng = np.random.default_rng(seed)
    data = datasets.make_blob_views(60, 3, random_state=seed % 1000)
    present = removed(60, 3, 0.3, rng)
    model = CIGMVC(3, random_state=0, updates=updates, max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graphs = model.fit(data.views, present=present).view_graphs_
    stack = stack_graphs(graphs, None, present)
    U = stack.edges(MeanGraph())
    dense = stack.matrix(U).toarray()
    for v, found in enumerate(cigmvc.squared_residuals(stack, U, stack.weights)):
        gaps = ((dense - graphs[v].toarray()) ** 2).sum(axis=1)
        np.testing.assert_allclose(found, gaps[present[:, v]].mean() * 60, rtol=1e-12)
    both_ways = (dense + dense.T) / 2
    for v, found in enumerate(_initial_residuals(stack, U)):
        gaps = ((both_ways - graphs[v].toarray()) ** 2).sum(axis=1)
        np.testing.assert_allclose(found, gaps[present[:, v]].mean() * 60, rtol=1e-12)


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_gaps_are_those_of_a_plain_look(seed, sparse, masked):
    rng = np.random.default_rng(seed)
    X = rng.choice([0.0, 1.0, np.nan, np.inf], (5, 3), p=[0.3, 0.4, 0.2, 0.1])
    X[rng.random(5) < 0.4] = np.nan
    looked_at = rng.random(5) < 0.6 if masked else None
    gaps = find_non_finite(csr_array(X) if sparse else X, looked_at)
    empty = [not sparse and all(np.isnan(row)) for row in X]
    holes = [
        (i, j)
        for i, row in enumerate(X)
        for j, value in enumerate(row)
        if not np.isfinite(value) and not empty[i] and (looked_at is None or looked_at[i])
    ]
    assert gaps.empty_rows.tolist() == empty
    assert gaps.n_values == len(holes)
    assert gaps.first_value == (holes[0] if holes else None)


def test_a_permutation_of_the_samples_permutes_the_labels(blobs, rng):
    present = removed(150, 3, 0.3, rng)
    order = rng.permutation(150)
    one = AngularCIGMVC(3, random_state=0).fit_predict(with_nan(blobs.views, present))
    other = AngularCIGMVC(3, random_state=0).fit(
        {name: view[order] for name, view in blobs.views.items()}, present=present[order]
    )
    assert clustering_accuracy(one[order], other.labels_) == 1


def test_digits_with_30_percent_of_the_pairs_removed():
    """ACC falls by at most 5 points, in the mean over masks: single ones differ by how two pairs
    of digits are told apart. `make bench-practice` has more of them."""
    data = datasets.load_digits_views()
    whole = AngularCIGMVC(10, random_state=0).fit_predict(data.views)
    found = []
    for seed in range(3):
        present = removed(data.n_samples, 3, 0.3, np.random.default_rng(seed))
        labels = AngularCIGMVC(10, random_state=0).fit(data.views, present=present).labels_
        found.append(clustering_accuracy(data.target, labels))
    assert np.mean(found) >= clustering_accuracy(data.target, whole) - 0.05


def test_bridges_are_measured_in_shared_views(rng):
    """Two views, four samples in two pieces: only pairs that share a view are compared."""
    views = [normalize_rows(rng.standard_normal((4, 3)), None) for _ in range(2)]
    pieces = np.array([0, 0, 1, 1])
    present = np.array([[True, False], [True, True], [False, True], [False, True]])
    bridges = closest_bridges(pieces, views, present)
    assert bridges.pairs.shape == (1, 2)
    assert 1 in bridges.pairs[0]  # sample 0 shares no view with 2 and 3
    with pytest.raises(ValueError, match=r"2 sample\(s\) have no view in common with the rest"):
        closest_bridges(pieces, views, np.array([[True, False]] * 2 + [[False, True]] * 2))


@pytest.mark.filterwarnings("ignore:the graphs of the views together have")
def test_bridges_are_edges_of_views_that_have_both_ends(rng):
    groups = np.repeat([0.0, 100.0, 200.0], 30)[:, None] + rng.standard_normal((90, 3))
    present = np.ones((90, 2), dtype=bool)
    present[:45, 1] = False
    model = AngularCIGMVC(2, normalize=None, random_state=0)
    model.fit([groups, groups + rng.standard_normal((90, 3))], present=present)
    assert len(model.bridges_) == 2
    assert np.diff(model.view_graphs_[1].indptr)[:45].sum() == 0
    assert present[model.view_graphs_[1].indices, 1].all()


def test_views_that_share_no_samples(blobs):
    """Half of the samples in one view, half in the other: two pieces that nothing can join."""
    present = np.zeros((150, 2), dtype=bool)
    present[:75, 0] = present[75:, 1] = True
    views = [*blobs.views.values()][:2]
    labels = AngularCIGMVC(6, random_state=0).fit(views, present=present).labels_
    assert not set(labels[:75]) & set(labels[75:])
    with pytest.raises(ValueError, match="no view in common"):
        AngularCIGMVC(1, random_state=0).fit(views, present=present)


@pytest.mark.filterwarnings("ignore:view 'view1' has no information")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_present", [1, 2, 3, 5])
def test_a_view_with_next_to_no_samples(method, n_present):
    """It may be all that agrees with itself, and still has no say about the others."""
    data = datasets.make_blob_views(150, 3, separation=8.0, random_state=0)
    views = [*data.views.values()][:2]
    present = np.ones((150, 2), dtype=bool)
    present[n_present:, 1] = False
    labels = method(3, random_state=0).fit(views, present=present).labels_
    alone = method(3, random_state=0).fit_predict(views[:1])
    assert clustering_accuracy(alone, labels) > 0.97


@pytest.mark.parametrize("exact", [False, True])
def test_rows_of_the_unified_graph_minimise_over_the_views_that_count(exact, rng):
    """Against the plain update of each row from those views alone."""
    S = rng.random((3, 8, 8)) * (rng.random((3, 8, 8)) < 0.7)
    counted = np.array([[True] * 3, [True, True, False], [True, False, False], [True] * 3] * 2)
    S *= counted.T[:, :, None]
    stack = stack_graphs([csr_array(graph) for graph in S], present=counted)
    F, alpha = rng.standard_normal((8, 2)), np.array([0.2, 0.5, 3.0])
    updates = "exact" if exact else "published"
    found = unified_graph(stack, stack.weights, F, alpha, 0.7, updates)
    found = stack.matrix(found).toarray()
    for i in range(8):
        own = np.flatnonzero(counted[i])
        if exact:
            expected = oracle.update_unified(S[own], F, alpha[own], lam=0.7, exact=True)[i]
        else:  # the published pull has a mean over all views; it is shared out among those left
            pull = 0.35 * np.mean(1 / (3 * alpha)) * 3 / len(own)
            gaps = ((F[i] - F) ** 2).sum(axis=1)
            alive = S[own, i].any(axis=0)
            expected = np.zeros(8)
            target = (S[own, i].mean(axis=0) - pull * gaps)[alive]
            expected[alive] = oracle.project_simplex(target)
        np.testing.assert_allclose(found[i], expected, atol=1e-12)


def test_the_number_of_clusters_can_be_found(blobs, rng):
    present = removed(150, 3, 0.3, rng)
    assert AngularCIGMVC("auto", random_state=0).fit(blobs.views, present=present).n_clusters_ == 3
    assert manyview.suggest_n_clusters(with_nan(blobs.views, present)).n_clusters == 3


def test_inputs_are_not_touched(blobs, rng):
    views = with_nan(blobs.views, removed(150, 3, 0.3, rng))
    copies = {name: view.copy() for name, view in views.items()}
    AngularCIGMVC(3, random_state=0).fit(views)
    for name, view in views.items():
        np.testing.assert_array_equal(view, copies[name])


def test_errors(blobs, rng):
    model = AngularCIGMVC(3, random_state=0)
    views = {name: view.copy() for name, view in blobs.views.items()}
    first = next(iter(views))
    views[first][4, 1] = np.nan
    with pytest.raises(ValueError, match=r"in 1 cell\(s\), the first in row 4, column 1; expected "
                       "finite numbers, or nothing but NaN"):  # fmt: skip
        model.fit(views)
    nowhere = with_nan(blobs.views, np.arange(150)[:, None] != np.full(3, 7))
    with pytest.raises(ValueError, match=r"1 sample\(s\) are missing from all views: 7; expected"):
        model.fit(nowhere)
    mask = np.ones((150, 3), dtype=bool)
    mask[20:40] = False
    with pytest.raises(ValueError, match=r"20 sample\(s\) are missing .*: 20, 21, .*, 29, \.\.\.;"):
        model.fit(blobs.views, present=mask)
    with pytest.raises(ValueError, match=r"present has shape \(3, 150\).*expected \(150, 3\)"):
        model.fit(blobs.views, present=mask.T)
    with pytest.raises(ValueError, match="type int64; expected"):
        model.fit(blobs.views, present=mask.astype(int))
    mask = np.ones((150, 3), dtype=bool)
    mask[:, 1] = False
    with pytest.raises(ValueError, match="has none of the samples"):
        model.fit(blobs.views, present=mask)
    some = with_nan(blobs.views, removed(150, 3, 0.1, rng))
    for method in (manyview.MGL, manyview.MCGL, manyview.MSC, manyview.CoregSC):
        message = f"lacks .* of 150 samples; expected complete views for {method.__name__}, or Ang"
        with pytest.raises(ValueError, match=message):
            method(3).fit(some)
    square = [np.abs(rng.standard_normal((30, 30))) for _ in range(2)]
    square[0][3] = np.nan
    with pytest.raises(ValueError, match="expected empty rows and columns in precomputed graphs"):
        AngularCIGMVC(3, graph="precomputed").fit(square)
