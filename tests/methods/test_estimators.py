"""All estimators: conventions of scikit-learn, forms of input, results."""

import logging
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

import manyview
from manyview import (
    CIGMVC,
    GBS,
    MGL,
    MSC,
    NEMO,
    SNF,
    WNN,
    AnchorGraph,
    AngularCIGMVC,
    CoregSC,
    CoTrainSC,
    MultiViewKMeans,
    MultiViewSphericalKMeans,
    SpectralAverage,
    SpectralView,
    datasets,
)
from manyview.methods import REGISTRY
from manyview.metrics import adjusted_rand, clustering_accuracy
from tests.helpers import memory

REGISTERED = sorted({method.estimator for method in REGISTRY})
FUSION = pytest.mark.parametrize("method", [AngularCIGMVC, CIGMVC, GBS])
WITHOUT_GRAPHS = [CoTrainSC, MultiViewKMeans, MultiViewSphericalKMeans, AnchorGraph]
# All but the default and those of `FUSION`, which have tests of their own.
COMPARED = pytest.mark.parametrize(
    "method",
    [
        getattr(manyview, name)
        for name in REGISTERED
        if name not in ("ConsensusGraph", "AngularCIGMVC", "CIGMVC", "GBS")
    ],
)


@pytest.fixture
def tables(blobs):
    return list(blobs.views.values())


# They take every `predict_proba` for that of a classifier with 4 classes; we have 8 clusters.
OF_CLASSIFIERS = dict.fromkeys(
    ["check_estimator_sparse_array", "check_estimator_sparse_matrix"], "no classifier"
)


@pytest.mark.parametrize("name", REGISTERED)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_check_estimator(name):
    results = check_estimator(
        getattr(manyview, name)(), on_skip=None, expected_failed_checks=OF_CLASSIFIERS
    )
    assert len(results) > 40
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == set(OF_CLASSIFIERS)
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= {
        "check_array_api_input"
    }


@pytest.mark.parametrize("name", REGISTERED)
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
def test_sparse_samples_are_fitted_and_predicted(name, form, tables):
    """What the checks left out above are for."""
    X = np.abs(np.hstack(tables))
    model = getattr(manyview, name)(4, random_state=0, scaling="unit").fit(form(X))
    assert model.predict(form(X)).shape == (90,)
    shares = model.predict_proba(form(X))
    assert shares.shape == (90, 4)
    np.testing.assert_allclose(shares, model.predict_proba(X))


def _array_of_objects(tables):
    """As MATLAB's cell arrays are read."""
    cells = np.empty(len(tables), dtype=object)
    cells[:] = tables
    return cells


FORMS = {
    "tuple": tuple,
    "dict": lambda tables: dict(zip("abc", tables, strict=True)),
    "nested lists": lambda tables: [table.tolist() for table in tables],
    "csr_array": lambda tables: [sparse.csr_array(table) for table in tables],
    "csc_matrix": lambda tables: [sparse.csc_matrix(table) for table in tables],
    "coo_array": lambda tables: [sparse.coo_array(table) for table in tables],
    "dok_array": lambda tables: [sparse.dok_array(table) for table in tables],
    "mixed": lambda tables: [tables[0], sparse.csr_array(tables[1]), pd.DataFrame(tables[2])],
    "pandas": lambda tables: [pd.DataFrame(table) for table in tables],
    "polars": lambda tables: [pl.DataFrame(table) for table in tables],
    "fortran": lambda tables: [np.asfortranarray(table) for table in tables],
    "values of a dict": lambda tables: dict(enumerate(tables)).values(),
    "array of objects": lambda tables: _array_of_objects(tables),
    "data set": lambda tables: datasets.MultiViewData(
        "mine", {f"view{v}": table for v, table in enumerate(tables)}, np.zeros(90), ("all",), ""
    ),
    "strided": lambda tables: [np.repeat(table, 2, axis=1)[:, ::2] for table in tables],
}


@FUSION
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_input_gives_the_same_result(method, form, tables):
    expected = method(3).fit(tables)
    model = method(3).fit(FORMS[form](tables))
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert abs(model.unified_graph_ - expected.unified_graph_).max() < 1e-9
    assert model.n_features_in_ == 15
    names = ("a", "b", "c") if form == "dict" else ("view0", "view1", "view2")
    assert model.view_names_ == names


@FUSION
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_one_matrix_with_widths(method, wrap, tables):
    X = wrap(np.hstack(tables))
    model = method(3, views=[6, 4, 5]).fit(X)
    np.testing.assert_array_equal(model.labels_, method(3).fit(tables).labels_)
    assert model.n_features_in_ == 15


def test_feature_names_in(tables):
    frame = pd.DataFrame(np.hstack(tables)).add_prefix("f")
    model = GBS(3, views=[6, 4, 5]).fit(frame)
    assert model.feature_names_in_[0] == "f0"
    model.set_params(views=None).fit(tables)
    assert not hasattr(model, "feature_names_in_")


@FUSION
def test_input_is_never_changed(method, tables, rng):
    given = [
        tables[0].copy(),
        sparse.csr_array(tables[1]),
        sparse.coo_array(rng.random((90, 30)) * (rng.random((90, 30)) < 0.2)),
    ]
    given[0].setflags(write=False)
    before = [table.copy() for table in given]
    with_duplicates = sparse.csr_array(
        (tables[2].ravel(), np.tile([0, 0, 1, 1, 2], 90), np.arange(0, 451, 5)), shape=(90, 3)
    )
    method(3).fit([*given, with_duplicates])
    for table, old in zip(given, before, strict=True):
        assert abs(table - old).max() == 0
    assert with_duplicates.nnz == 450


@FUSION
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("parameters", [{}, {"scaling": None}, {"graph": "precomputed"}])
def test_one_sparse_matrix_is_never_changed(method, tables, parameters):
    """Unsorted and with duplicates: only a copy may be sorted."""
    values = np.abs(np.resize(tables[0], (90, 8)))
    columns = (np.arange(90)[:, None] + [5, 1, 1, 2, 3, 3, 4, 6]) % 90
    given = sparse.csr_array(
        (values.ravel(), columns.ravel(), np.arange(0, 721, 8)), shape=(90, 90)
    )
    before = given.data.copy(), given.indices.copy(), given.indptr.copy()
    model = method(2, **parameters).fit(given)
    for now, old in zip((given.data, given.indices, given.indptr), before, strict=True):
        np.testing.assert_array_equal(now, old)
    expected = method(2, **parameters).fit(given.toarray())
    assert abs(model.unified_graph_ - expected.unified_graph_).max() < 1e-9


@FUSION
def test_fitted_attributes(method, blobs):
    model = method(3).fit(blobs.views)
    n, V = 90, 3
    assert model.labels_.shape == (n,)
    assert model.labels_.dtype.kind == "i"
    assert set(model.labels_) == {0, 1, 2}
    assert model.labels_[0] == 0  # numbered by first samples
    assert model.unified_graph_.shape == (n, n)
    assert model.view_weights_.shape == (V,)
    assert model.embedding_.shape == (n, 3)
    assert model.n_iter_ == len(model.history_) - 1
    assert model.converged_
    assert model.stop_reason_ == "components"
    assert model.bridges_.shape == (0, 2)
    for S, A, E in zip(
        model.view_graphs_, model.consistent_graphs_, model.inconsistent_graphs_, strict=True
    ):
        assert sparse.issparse(S)
        assert A.data.min() > 0
        assert abs(A + E - S).max() < 1e-15
        assert (E.nnz > 0) == (method is not GBS)
    last = model.history_[-1]
    assert (last.round, last.n_components) == (model.n_iter_, 3)
    assert last.view_weights == tuple(model.view_weights_)
    table = pd.DataFrame(model.history_)
    assert {"objective", "objective_without_penalties", "lambda_", "seconds"} <= set(table)
    assert table.seconds.is_monotonic_increasing
    assert adjusted_rand(blobs.target, model.labels_) == 1


@FUSION
def test_pipeline_clone_and_grid_search(method, blobs, tables):
    X = np.hstack(tables)
    pipeline = make_pipeline(StandardScaler(), method(3, views=[6, 4, 5]))
    assert clustering_accuracy(blobs.target, pipeline.fit_predict(X)) > 0.9
    copy = clone(method(3, n_neighbors=7, graph="heat", views=[6, 4, 5]))
    assert copy.get_params() == method(3, n_neighbors=7, graph="heat", views=[6, 4, 5]).get_params()

    def score(model, X, y):
        return adjusted_rand(y, model.fit_predict(X))

    search = GridSearchCV(copy, {"n_neighbors": [5, 7], "n_clusters": [2, 3]}, scoring=score, cv=2)
    search.fit(X, blobs.target)
    assert search.best_params_["n_clusters"] == 3


@FUSION
def test_precomputed_graphs(method, blobs):
    expected = method(3).fit(blobs.views)
    for wrap in (sparse.csr_array, sparse.csr_array.toarray):
        graphs = [wrap(graph) for graph in expected.view_graphs_]
        model = method(3, graph="precomputed").fit(graphs)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        assert abs(model.unified_graph_ - expected.unified_graph_).max() < 1e-12
        assert model.view_scalings_ == ("none",) * 3
    for scaling in ("zscore", {"view0": "unit"}, ["none"] * 3):
        model.set_params(scaling=scaling)
        with pytest.raises(ValueError, match=r"scaling=.* with 'precomputed' similarities"):
            model.fit(graphs)
    model.set_params(scaling="none").fit(graphs)


@FUSION
@pytest.mark.parametrize(
    "parameters",
    [
        {"graph": "binary"},
        {"graph": "cosine", "n_neighbors": 5},
        {"graph": "heat"},
        {"graph": "cosine", "n_neighbors": "all"},
        {"scaling": "unit"},
        {"scaling": None},
        {"updates": "exact"},
        {"updates": "paper"},
        {"updates": "published"},
        {"lambda_init": 0.1},
    ],
)
def test_parameters_change_the_result(method, blobs, parameters):
    model = method(3, **parameters).fit(blobs.views)
    plain = method(3).fit(blobs.views)
    assert adjusted_rand(blobs.target, model.labels_) > 0.9
    is_default = parameters.items() <= plain.get_params().items()
    if not is_default and not (method is GBS and parameters == {"updates": "paper"}):
        same_history = [r.objective for r in model.history_] == [
            r.objective for r in plain.history_
        ]
        assert not same_history


@FUSION
def test_same_result_for_any_number_of_threads(method):
    import numba

    data = datasets.make_blob_views(700, 4, separation=3, random_state=0)  # Lanczos at this size
    threads = numba.get_num_threads()
    try:
        results = []
        for count in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(count)
            with threadpool_limits(count):
                results.append(method(4, random_state=3).fit(data.views))
    finally:
        numba.set_num_threads(threads)
    np.testing.assert_array_equal(results[0].labels_, results[1].labels_)
    assert abs(results[0].unified_graph_ - results[1].unified_graph_).max() < 1e-9


@FUSION
@pytest.mark.parametrize("max_iter", [1, 3])
def test_warning_at_the_limit_of_rounds(method, max_iter):
    views = datasets.make_blob_views(100, 4, separation=2, random_state=0).views
    with pytest.warns(ConvergenceWarning, match=f"after {max_iter} rounds .*n_clusters=4"):
        model = method(4, max_iter=max_iter, random_state=0).fit(views)
    assert set(model.labels_) == {0, 1, 2, 3}
    assert not model.converged_
    assert model.stop_reason_ == "max_iter"


@FUSION
def test_warning_of_bridges(method, rng):
    centres = np.array([0, 50, 300])
    X = np.concatenate([rng.standard_normal((30, 3)) + centre for centre in centres])
    with pytest.warns(UserWarning, match="3 connected components, more than n_clusters=2"):
        model = method(2, scaling="none", n_neighbors=5).fit([X, X[:, :2]])
    assert model.bridges_.shape == (2, 2)
    # the two near groups stay together
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 0, 1], 30))


def test_no_dense_matrix():
    """20,000 samples: one dense N x N matrix would take 3.2 GB."""
    if not memory.CLEAR.exists():
        pytest.skip("peak memory is read from Linux's /proc")
    data = datasets.make_blob_views(20_000, 4, widths=(4, 5), separation=12, random_state=0)
    views = [data.views["view0"], sparse.csr_array(data.views["view1"])]
    CIGMVC(4).fit([view[:200] for view in views])  # compile first
    model, growth = memory.peak_growth(lambda: CIGMVC(4, random_state=0).fit(views))
    assert growth < 0.5e9
    assert clustering_accuracy(data.target, model.labels_) > 0.95


def test_verbose_prints_rounds_and_leaves_no_handler(blobs, capsys, monkeypatch):
    monkeypatch.setattr(logging.getLogger("manyview"), "propagate", False)  # no other handlers
    GBS(3, verbose=1).fit(blobs.views)
    shown = capsys.readouterr().err
    assert "view 'view0': a graph of" in shown
    assert "round 1: " in shown
    GBS(3).fit(blobs.views)
    assert capsys.readouterr().err == ""
    assert logging.getLogger("manyview").handlers == []


@COMPARED
def test_compared_methods_find_clusters_in_every_form_of_input(method, blobs):
    expected = method(3, random_state=0).fit(blobs.views)
    if method is not SpectralView:
        assert adjusted_rand(blobs.target, expected.labels_) > 0.9
    assert set(expected.labels_) == {0, 1, 2}
    assert expected.view_names_ == ("view0", "view1", "view2")
    assert expected.n_features_in_ == 15
    tables = list(blobs.views.values())
    for form in (
        [sparse.csr_array(table) for table in tables],
        [tables[0], sparse.csr_array(tables[1]), tables[2].astype(np.float32).astype(float)],
    ):
        other = method(3, random_state=0).fit(form)
        assert adjusted_rand(expected.labels_, other.labels_) > 0.95
    one = method(3, random_state=0, views=[6, 4, 5]).fit(np.hstack(tables))
    np.testing.assert_array_equal(one.labels_, expected.labels_)


@COMPARED
def test_permuting_samples_permutes_labels(method, blobs, rng):
    order = rng.permutation(90)
    plain = method(3, random_state=0).fit(blobs.views)
    permuted = method(3, random_state=0).fit([view[order] for view in blobs.views.values()])
    assert adjusted_rand(plain.labels_[order], permuted.labels_) == 1


@pytest.mark.parametrize("method", [CoregSC, MSC, MGL, SNF, NEMO, WNN, *WITHOUT_GRAPHS])
def test_view_of_equal_samples(method, blobs):
    views = [*blobs.views.values(), np.tile([1.0, 2.0, 3.0], (90, 1))]
    with pytest.warns(UserWarning, match="view 'view3' has no information about any sample"):
        model = method(3, random_state=0).fit(views)
    assert adjusted_rand(blobs.target, model.labels_) > 0.9
    assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize("name", REGISTERED)
def test_the_display_links_to_a_page_of_the_docs(name):
    page = getattr(manyview, name)()._repr_html_()
    link = re.search(
        r'href="(https://github.com/manyview/manyview/blob/main/(docs/[\w-]+\.md))"', page
    )
    assert (Path(__file__).parents[2] / link.group(2)).exists()


@pytest.mark.parametrize("method", [CoregSC, *WITHOUT_GRAPHS])
def test_methods_without_graphs_make_them_when_asked(method, blobs):
    """For confidence, maps and reports; the graphs are those of other methods."""
    model = method(3, random_state=0, scaling="paper")
    assert not hasattr(model, "view_graphs_")
    model.fit(blobs.views)
    assert "view_graphs_" not in vars(model)
    assert model.confidence_.mean() > 0.8
    expected = SpectralAverage(3, n_neighbors=model.n_neighbors_, random_state=0).fit(blobs.views)
    for own, other in zip(model.view_graphs_, expected.view_graphs_, strict=True):
        assert abs(own - other).max() == 0
    model.fit([view[:60] for view in blobs.views.values()])
    assert model.view_graphs_[0].shape == (60, 60)


@pytest.mark.parametrize("method", WITHOUT_GRAPHS)
def test_methods_without_graphs_need_a_number_of_clusters(method, blobs):
    with pytest.raises(ValueError, match="n_clusters='auto', but this method can't suggest"):
        method("auto").fit(blobs.views)


@pytest.mark.parametrize("method", [SNF, NEMO, WNN])
def test_equal_samples_are_not_split(method):
    views = [np.repeat(np.random.default_rng(v).random((3, 4)), 20, axis=0) for v in range(2)]
    with pytest.raises(ValueError, match=r"only 3 sample\(s\) of 60 differ; expected 1 to 3"):
        method(5, random_state=0).fit(views)
