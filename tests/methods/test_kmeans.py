"""Multi-view k-means, of both kinds: equal to mvlearn, any number of views, no cluster lost."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from manyview import MultiViewKMeans, MultiViewSphericalKMeans, datasets
from manyview.inputs._scaling import DenseRows, normalize_rows
from manyview.methods._co_em import CoEM, _comparable
from manyview.metrics import adjusted_rand
from tests.helpers.goldens import GOLDEN

BOTH = pytest.mark.parametrize("method", [MultiViewKMeans, MultiViewSphericalKMeans])


@pytest.mark.parametrize("kind", ["kmeans", "spherical"])
def test_equals_mvlearn_from_the_same_start(kind):
    golden = np.load(GOLDEN / "mvlearn.npz")
    is_spherical = kind == "spherical"
    views = [_comparable(DenseRows(golden[f"close{v}"]), is_spherical) for v in range(2)]
    model = CoEM(4, is_spherical, n_init=1, max_iter=100, tol=0.0)
    found = model.run(views, [rows.data[golden["start"]] for rows in views])
    assert found.converged
    distances = model.consensus(views, found)
    np.testing.assert_array_equal(distances.argmin(axis=1), golden[kind])
    expected = [model.distances(rows, golden[f"{kind}_centres{v}"]) for v, rows in enumerate(views)]
    np.testing.assert_allclose(distances, sum(expected) / 2, atol=1e-8)


@BOTH
def test_views_after_the_second_count(method, rng):
    """Clusters that only the third view tells apart."""
    data = datasets.make_blob_views(120, 4, widths=(5, 5, 5), separation=14, random_state=0)
    views = list(data.views.values())
    merged = [views[0].copy(), views[1].copy()]
    for view in merged:  # 2 and 3 look the same
        view[data.target == 3] = view[rng.choice(np.flatnonzero(data.target == 2), 30)]
    assert adjusted_rand(data.target, method(4, random_state=0).fit(merged).labels_) < 0.8
    three = method(4, random_state=0).fit([*merged, views[2]])
    assert adjusted_rand(data.target, three.labels_) > 0.95


def test_one_view_is_k_means():
    view = datasets.make_blob_views(90, 3, separation=14, random_state=0).views["view0"]
    found = MultiViewKMeans(3, scaling="none", random_state=0).fit([view])
    expected = KMeans(3, n_init=10, random_state=0).fit_predict(view)
    assert adjusted_rand(expected, found.labels_) == 1


@pytest.mark.parametrize("scaling", ["zscore", "unit", "tfidf"])
@BOTH
def test_sparse_views_equal_dense_ones(method, scaling, rng):
    rates = rng.random((3, 40)) ** 3
    views = [rng.poisson(3 * rates[np.repeat([0, 1, 2], 30)]).astype(float) for _ in range(2)]
    dense = method(3, scaling=scaling, random_state=0).fit(views)
    thin = method(3, scaling=scaling, random_state=0).fit([csr_array(view) for view in views])
    assert adjusted_rand(np.repeat([0, 1, 2], 30), dense.labels_) > 0.9
    np.testing.assert_array_equal(dense.labels_, thin.labels_)
    np.testing.assert_allclose(dense.embedding_, thin.embedding_, atol=1e-10)


def test_sparse_rows_are_combined_as_dense_ones(rng):
    X = rng.random((30, 8)) * (rng.random((30, 8)) < 0.4)
    dense, thin = (normalize_rows(form(X), "zscore") for form in (np.asarray, csr_array))
    vectors, weights = rng.standard_normal((4, 8)), csr_array(rng.random((5, 30)))
    some, factors = rng.integers(30, size=12), rng.random(30)
    for one, other in (
        (dense.products(vectors), thin.products(vectors)),
        (dense.combinations(weights), thin.combinations(weights)),
        (dense.take(some).products(vectors), thin.take(some).products(vectors)),
        (dense.times(factors).products(vectors), thin.times(factors).products(vectors)),
    ):
        np.testing.assert_allclose(one, other, atol=1e-12)


@BOTH
def test_no_cluster_is_lost(method, rng):
    """As many clusters as samples that differ, and one more."""
    X = np.repeat(rng.standard_normal((20, 3)), 3, axis=0)
    Y = np.repeat(rng.standard_normal((20, 4)), 3, axis=0)
    labels = method(20, random_state=0, scaling="none").fit([X, Y]).labels_
    assert len(set(labels)) == 20
    with pytest.raises(ValueError, match="n_clusters=21, but only 20 sample"):
        method(21, random_state=0, scaling="none").fit([X, Y])


def test_samples_without_features_in_a_view_go_by_the_others(rng):
    rates = rng.random((3, 60)) ** 3
    target = np.repeat([0, 1, 2], 40)
    views = [csr_array(rng.poisson(3 * rates[target]).astype(float)) for _ in range(2)]
    empty = views[0].toarray()
    empty[::2] = 0
    model = MultiViewSphericalKMeans(3, random_state=0).fit([csr_array(empty), views[1]])
    assert adjusted_rand(target, model.labels_) > 0.9


@BOTH
def test_starts_of_many_samples_are_compared_on_some(method):
    data = datasets.make_blob_views(25_000, 5, widths=(4, 6), separation=9, random_state=0)
    model = method(5, n_init=2, random_state=0).fit(data.views)
    assert adjusted_rand(data.target, model.labels_) > 0.9


def test_warning_at_the_limit_of_rounds():
    views = datasets.make_blob_views(300, 6, separation=1, random_state=0).views
    with pytest.warns(ConvergenceWarning, match="after max_iter=1 rounds"):
        model = MultiViewKMeans(6, max_iter=1, random_state=0).fit(views)
    assert not model.converged_


@BOTH
def test_the_embedding_has_the_distances_to_the_clusters(method, blobs):
    model = method(3, random_state=0).fit(blobs.views)
    np.testing.assert_array_equal(model.embedding_.argmin(axis=1), model.labels_)
