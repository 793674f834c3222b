"""Missing samples are clustered from the views that have them."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import manyview
from manyview import CIGMVC, GBS, NEMO, AngularCIGMVC, ConsensusGraph, SpectralAverage, datasets
from manyview.graphs import WeightedMean, stack_graphs
from manyview.graphs._knn import nearest
from manyview.graphs._weights import expand_graph, neighbor_graph
from manyview.inputs._scaling import normalize_rows
from manyview.metrics import clustering_accuracy
from tests.helpers.masks import removed

METHODS = [ConsensusGraph, AngularCIGMVC, CIGMVC, GBS, NEMO, SpectralAverage]


def with_nan(views, present):
    columns = zip(views.items(), present.T, strict=True)
    return {name: np.where(has[:, None], view, np.nan) for (name, view), has in columns}


@pytest.fixture(scope="module")
def blobs():
    return datasets.make_blob_views(150, 3, random_state=0)


@pytest.mark.parametrize("method", METHODS)
def test_mask_without_missing_samples_changes_nothing(method, blobs):
    whole = method(3, random_state=0).fit(blobs.views)
    masked = method(3, random_state=0).fit(blobs.views, present=np.ones((150, 3), dtype=bool))
    np.testing.assert_array_equal(masked.labels_, whole.labels_)
    np.testing.assert_array_equal(masked.embedding_, whole.embedding_)


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_nan_equal_a_mask(method, blobs, rng):
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


def test_sparse_views_with_a_mask(blobs, rng):
    present = removed(150, 3, 0.3, rng)
    sparse = {name: csr_array(view) for name, view in blobs.views.items()}
    dense = AngularCIGMVC(3, random_state=0).fit(blobs.views, present=present)
    found = AngularCIGMVC(3, random_state=0).fit(sparse, present=present)
    np.testing.assert_array_equal(found.labels_, dense.labels_)


def test_missing_samples_have_no_edges_and_no_disagreement(blobs, rng):
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


def test_permuting_samples_permutes_labels(blobs, rng):
    present = removed(150, 3, 0.3, rng)
    order = rng.permutation(150)
    one = AngularCIGMVC(3, random_state=0).fit_predict(with_nan(blobs.views, present))
    other = AngularCIGMVC(3, random_state=0).fit(
        {name: view[order] for name, view in blobs.views.items()}, present=present[order]
    )
    assert clustering_accuracy(one[order], other.labels_) == 1


def test_digits_with_30_percent_of_the_pairs_removed():
    """Mean ACC over masks falls by at most 5 points; `make bench-practice` tries more masks."""
    data = datasets.load_digits_views()
    whole = AngularCIGMVC(10, random_state=0).fit_predict(data.views)
    found = []
    for seed in range(3):
        present = removed(data.n_samples, 3, 0.3, np.random.default_rng(seed))
        labels = AngularCIGMVC(10, random_state=0).fit(data.views, present=present).labels_
        found.append(clustering_accuracy(data.target, labels))
    assert np.mean(found) >= clustering_accuracy(data.target, whole) - 0.05


@pytest.mark.filterwarnings("ignore:view.* no sample in common")
def test_views_that_share_no_samples(blobs):
    """Half of the samples in one view, half in the other: no bridge is possible."""
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
def test_view_with_few_samples(method, n_present):
    """It must not influence the clusters of other samples."""
    data = datasets.make_blob_views(150, 3, separation=8.0, random_state=0)
    views = [*data.views.values()][:2]
    present = np.ones((150, 2), dtype=bool)
    present[n_present:, 1] = False
    labels = method(3, random_state=0).fit(views, present=present).labels_
    alone = method(3, random_state=0).fit_predict(views[:1])
    assert clustering_accuracy(alone, labels) > 0.97


def test_number_of_clusters_is_found(blobs, rng):
    present = removed(150, 3, 0.3, rng)
    assert AngularCIGMVC("auto", random_state=0).fit(blobs.views, present=present).n_clusters_ == 3
    assert manyview.suggest_n_clusters(with_nan(blobs.views, present)).n_clusters == 3


def test_input_is_not_changed(blobs, rng):
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
    with pytest.raises(ValueError, match=r"1 empty \(NaN\) or infinite cell\(s\), the first "
                       "in row 4, column 1; expected finite numbers, or only empty"):  # fmt: skip
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
        message = f"lacks .* of 150 samples; expected complete views for {method.__name__}, or one"
        with pytest.raises(ValueError, match=message):
            method(3).fit(some)
    square = [np.abs(rng.standard_normal((30, 30))) for _ in range(2)]
    square[0][3] = np.nan
    with pytest.raises(ValueError, match="expected empty rows and columns in precomputed graphs"):
        AngularCIGMVC(3, graph="precomputed").fit(square)


def test_edges_of_incomplete_samples_weigh_less(blobs, rng):
    present = removed(150, 3, 0.3, rng)
    weights = np.array([1.0, 2.0, 5.0])
    graphs = ConsensusGraph(3, random_state=0).fit(blobs.views, present=present).view_graphs_
    stack = stack_graphs(graphs)
    sums = stack.matrix(stack.edges(WeightedMean(weights))).sum(axis=1)
    np.testing.assert_allclose(sums, present @ weights / weights.sum())


def test_samples_of_a_poor_view_alone_do_not_join_what_a_good_one_separates():
    """Both views at 280 of 400 samples; the second does not tell clusters 0 and 1 apart."""
    rng = np.random.default_rng(0)
    target = np.repeat(np.arange(4), 100)
    good = rng.normal(size=(400, 5)) + 5 * np.eye(5)[target]
    poor = rng.normal(size=(400, 5)) + 2.5 * np.eye(5)[np.where(target == 1, 0, target)]
    present = np.ones((400, 2), dtype=bool)
    present[rng.permutation(400)[:120], 0] = False
    labels = ConsensusGraph(4, random_state=0).fit([good, poor], present=present).labels_
    whole = present.all(axis=1)
    assert clustering_accuracy(target[whole], labels[whole]) > 0.95  # rows scaled to 1: 0.88


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", ["consensus", "nemo", "anchors"])
def test_views_without_a_common_sample_are_warned_of(blobs, method):
    first = np.arange(150) < 70
    present = np.column_stack([first, ~first])
    views = dict(list(blobs.views.items())[:2])
    found = manyview.cluster(views, 3, method=method, present=present)
    names = "views 'view0', 'view1' have"
    assert any(f"{names} no sample in common with the other" in w for w in found.warnings)


def test_methods_for_missing_samples_are_named(blobs, rng):
    present = removed(150, 3, 0.3, rng)
    with pytest.raises(
        ValueError, match=r"expected complete views for MGL, or one of .*Graph.*NEMO"
    ):
        manyview.cluster(blobs.views, 3, method="mgl", present=present)
