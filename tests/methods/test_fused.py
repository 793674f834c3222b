"""SNF, NEMO and WNN: equal to snfpy, imml and muon, and what they share."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview import NEMO, SNF, WNN, datasets
from manyview.graphs import scaled_affinity
from manyview.inputs import DenseRows
from manyview.inputs._scaling import normalize_rows
from manyview.metrics import adjusted_rand
from tests.helpers import memory
from tests.helpers.goldens import synthetic

METHODS = pytest.mark.parametrize("method", [SNF, NEMO, WNN])
AFFINITY = pytest.mark.parametrize("method", [SNF, NEMO])


@pytest.fixture(scope="module")
def golden():
    return synthetic("fused")


def fit_golden(method, golden, present=None, **options):
    views = [golden[f"X{v}"] for v in range(3)]
    model = method(3, n_neighbors=int(golden["n_neighbors"]), scaling="none", random_state=0)
    rest = {} if present is None else {"present": present}
    return model.set_params(**options).fit(views, **rest)


@pytest.mark.parametrize(("method", "name"), [(SNF, "snf_fused"), (NEMO, "nemo_fused")])
def test_fused_matrices_equal_the_originals(method, name, golden):
    found = fit_golden(method, golden).unified_graph_.toarray()
    assert abs(found - golden[name]).max() < 1e-12


def test_nemo_with_missing_samples_equals_the_original(golden):
    found = fit_golden(NEMO, golden, golden["present"])
    assert abs(found.unified_graph_.toarray() - golden["nemo_partial"]).max() < 1e-12
    assert np.array_equal(np.diff(found.view_graphs_[1].indptr) > 0, golden["present"][:, 1])


def test_weights_of_wnn_equal_the_original(golden):
    found = fit_golden(WNN, golden)
    assert abs(found.sample_view_weights_ - golden["wnn_weights"]).max() < 1e-12
    np.testing.assert_allclose(found.view_weights_, golden["wnn_weights"].mean(axis=0))


def test_goldens_name_their_versions(golden):
    assert "snfpy 0.2.2" in str(golden["snf_versions"])
    assert "imml 0.6.0" in str(golden["nemo_versions"])
    assert "muon 0.2.0" in str(golden["wnn_versions"])


def test_sparse_snf_on_all_pairs_is_the_dense_one(golden):
    """With all samples as neighbours nothing is dropped."""
    k = len(golden["y"]) - 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        dense, sparse = (
            fit_golden(SNF, golden, n_neighbors=k, max_dense_samples=limit) for limit in (100, 0)
        )
    difference = abs(dense.unified_graph_ - sparse.unified_graph_).max()
    assert difference < 0.02 * abs(dense.unified_graph_).max()  # each row lacks one pair
    assert adjusted_rand(dense.labels_, sparse.labels_) == 1


@AFFINITY
def test_sparse_fits_find_the_clusters_of_dense_ones(method):
    data = datasets.make_blob_views(400, 4, separation=4, random_state=0)
    dense, sparse = (
        method(4, max_dense_samples=limit, random_state=0).fit(data.views) for limit in (400, 0)
    )
    assert sparse.unified_graph_.nnz < 100 * 400
    assert adjusted_rand(dense.labels_, sparse.labels_) > 0.95


@METHODS
def test_fitted_attributes(method, blobs):
    model = method(3, random_state=0).fit(blobs.views)
    U = model.unified_graph_
    assert U.shape == (90, 90)
    assert abs(U - U.T).max() < 1e-15
    assert model.embedding_.shape == (90, 3)
    assert model.n_neighbors_ == 20
    assert model.bridges_.shape == (0, 2)
    assert [search.method for search in model.neighbor_search_] == ["exact"] * 3
    for graph in model.view_graphs_:
        np.testing.assert_allclose(graph.sum(axis=1), 1.0)
        assert not graph.diagonal().any()
    assert ((model.confidence_ > 0) & (model.confidence_ <= 1)).all()
    assert adjusted_rand(blobs.target, model.predict(blobs.views)) > 0.9
    if method is WNN:
        np.testing.assert_allclose(model.sample_view_weights_.sum(axis=1), 1.0)


@METHODS
def test_leiden_finds_the_number_of_clusters(method, blobs):
    pytest.importorskip("igraph")
    model = method(resolution=1.0, random_state=0).fit(blobs.views)
    assert model.n_clusters_ == len(np.unique(model.labels_)) == model.embedding_.shape[1]
    assert adjusted_rand(blobs.target, model.labels_) > 0.9


@METHODS
def test_views_in_another_order(method, blobs):
    names = list(blobs.views)
    plain = method(3, random_state=0).fit(blobs.views)
    turned = method(3, random_state=0).fit({name: blobs.views[name] for name in names[::-1]})
    np.testing.assert_array_equal(plain.embedding_, turned.embedding_)
    for one, other in zip(plain.view_graphs_, turned.view_graphs_[::-1], strict=True):
        assert abs(one - other).max() == 0
    if method is WNN:
        weights = turned.sample_view_weights_[:, ::-1]
        np.testing.assert_array_equal(plain.sample_view_weights_, weights)


@pytest.mark.parametrize("method", [SNF, WNN])
def test_missing_samples_are_refused(method, blobs):
    present = np.ones((90, 3), dtype=bool)
    present[:5, 1] = False
    views = [np.where(has[:, None], view, np.nan)
             for view, has in zip(blobs.views.values(), present.T, strict=True)]  # fmt: skip
    with pytest.raises(ValueError, match="lacks 5 of 90 samples; expected complete views for"):
        method(3).fit(views)


def test_nemo_has_no_edges_between_samples_without_common_view(blobs):
    first, second = list(blobs.views.values())[:2]
    present = np.ones((90, 2), dtype=bool)
    present[:20, 1] = present[20:40, 0] = False
    model = NEMO(3, random_state=0).fit([first, second], present=present)
    assert model.unified_graph_[:20][:, 20:40].nnz == 0
    assert adjusted_rand(blobs.target, model.labels_) > 0.8


@METHODS
def test_too_many_components_are_joined(method, rng):
    centres = np.repeat([0, 50, 300], 30)[:, None]
    X = rng.standard_normal((90, 3)) + centres
    options = {} if method is WNN else {"max_dense_samples": 0}
    with pytest.warns(UserWarning, match="unified graph has 3 connected components"):
        model = method(2, scaling="none", n_neighbors=5, **options).fit([X, X[:, :2]])
    assert model.bridges_.shape == (2, 2)
    assert adjusted_rand(model.labels_, np.repeat([0, 0, 1], 30)) > 0.9


@METHODS
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0; expected"),
        ({"n_neighbors": "all"}, "n_neighbors='all'; expected"),
        ({"n_neighbors": 89}, "n_neighbors=89, but view .* has n_samples=90; expected 1 to 88"),
        ({"resolution": 0.0}, "resolution=0.0; expected"),
        ({"neighbor_search": "fast"}, "neighbor_search='fast'; expected"),
    ],
)
def test_errors(method, parameters, message, blobs):
    with pytest.raises(ValueError, match=message):
        method(3, **parameters).fit(blobs.views)


def test_affinity_of_given_neighbours_is_that_of_all_pairs(rng):
    rows = normalize_rows(rng.standard_normal((50, 4)), None)
    given = {"squared": False, "search": "exact", "seed": 0}
    every = scaled_affinity(rows, 10, all_pairs=True, **given)
    some = scaled_affinity(rows, 10, all_pairs=False, **given)
    expected = np.take_along_axis(every.values, some.indices, axis=1)
    np.testing.assert_allclose(some.values, expected, rtol=1e-10)


def test_affinity_of_small_differences_far_from_the_origin(rng):
    X = rng.standard_normal((50, 4))
    given = {"squared": False, "all_pairs": True, "search": "exact", "seed": 0}
    near, far = (scaled_affinity(DenseRows(Y), 10, **given) for Y in (X, 1 + 1e-7 * X))
    np.testing.assert_allclose(1e-7 * far.values, near.values, rtol=1e-6)


def test_distances_to_means_of_sparse_rows_are_those_of_dense_ones(rng):
    X = rng.random((30, 8)) * (rng.random((30, 8)) < 0.4)
    shares = csr_array(rng.dirichlet(np.ones(30), size=6))
    for how in ("zscore", "unit", None):
        dense = normalize_rows(X, how)
        found = normalize_rows(csr_array(X), how).distances_to_means(slice(4, 10), shares)
        assert isinstance(dense, DenseRows)
        expected = np.linalg.norm(dense.data[4:10] - shares @ dense.data, axis=1)
        np.testing.assert_allclose(found, expected)
        np.testing.assert_allclose(dense.distances_to_means(slice(4, 10), shares), expected)


@pytest.mark.full
@METHODS
def test_memory_of_sparse_graphs(method):
    """8,000 samples: one dense matrix of all pairs would take 512 MB."""
    if not memory.CLEAR.exists():
        pytest.skip("peak memory is read from Linux's /proc")
    data = datasets.make_blob_views(8000, 4, widths=(4, 5), separation=12, random_state=0)
    model, growth = memory.peak_growth(lambda: method(4, random_state=0).fit(data.views))
    assert growth < 0.3e9
    assert adjusted_rand(data.target, model.labels_) > 0.95
