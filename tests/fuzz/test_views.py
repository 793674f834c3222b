"""Views of every kind through every method, its predictions and the metrics.

Each case ends in a valid result or in an error of ours, one line long; what came in is as it was.
"""

import hashlib
import json
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import manyview
from manyview import AnchorGraph, ConsensusGraph, CoTrainSC, SpectralConcat, metrics
from manyview.methods.consensus import VECTORS_PER_CLUSTER
from manyview.plotting._effects import feature_effects
from tests.helpers.fuzzing import fuzz
from tests.helpers.strategies import (
    PARAMETERS,
    TAKE_SIMILARITIES,
    cluster_cases,
    fit_cases,
    label_cases,
    similarity_cases,
    suggest_cases,
)

HOME = Path(manyview.__file__).parent
METHODS_ALL = pytest.mark.parametrize("method", PARAMETERS, ids=lambda method: method.__name__)
# What scikit-learn, numpy and LAPACK say, and what they say it about.
LEFTOVERS = ("LinAlg", "nan_to_num", "ndarray", "_array_api", "svd", "SVD", "check_array")


@contextmanager
def own_warnings_unheard():
    """Ours are about the data, and these data are made to be warned of; all others are errors."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning)
        yield


def refusal(error):
    """What a refusal comes to; fails for errors that are not ours."""
    frames = traceback.extract_tb(error.__traceback__)
    assert HOME in Path(frames[-1].filename).parents, "raised by another library"
    message = str(error)
    assert message
    assert "\n" not in message, message
    assert len(message) < 1000
    for word in LEFTOVERS:
        assert word not in message, message
    return "refused"


def fingerprint(X):
    """What changes when anybody writes into X."""
    if isinstance(X, dict) and not sparse.issparse(X):
        return {name: fingerprint(table) for name, table in X.items()}
    if isinstance(X, list | tuple):
        return [fingerprint(table) for table in X]
    if sparse.issparse(X):
        return X.format, X.shape, X.dtype, _stored(X)
    if hasattr(X, "to_numpy"):
        return list(map(str, X.dtypes)), list(X.columns), _digest(X.to_numpy())
    return _digest(X) if isinstance(X, np.ndarray) else repr(X)


def _stored(X):
    if X.format == "dok":
        return sorted(map(repr, X.items()))
    if X.format == "coo":
        return [_digest(part) for part in (X.data, *X.coords)]
    names = ("data", "rows", "indices", "indptr", "offsets")
    return [_digest(getattr(X, name)) for name in names if hasattr(X, name)]


def _digest(array):
    held = repr(array.tolist()).encode() if array.dtype == object else array.tobytes()
    return array.dtype, array.shape, array.strides, hashlib.sha1(held).hexdigest()


def check_labels(labels, n, n_clusters):
    assert labels.shape == (n,)
    assert labels.dtype.kind == "i"
    assert set(labels.tolist()) == set(range(n_clusters))


def check_fitted(model, n):
    C = model.n_clusters_
    assert C >= 1
    if not isinstance(model.n_clusters, str):
        assert model.n_clusters == C
    check_labels(model.labels_, n, C)
    assert model.embedding_.shape == (n, embedding_width(model, n))
    assert np.isfinite(model.embedding_).all()
    for name in ("view_weights_", "objective_trace_", "bandwidths_", "transition_matrix_"):
        assert np.isfinite(getattr(model, name, 0.0)).all(), name
    for name in ("unified_graph_", "view_graphs_", "consistent_graphs_", "refined_graphs_"):
        graphs = getattr(model, name, [])
        for graph in graphs if isinstance(graphs, list) else [graphs]:
            assert graph.shape == (n, n)
            assert np.isfinite(graph.data).all(), name
    check_history(getattr(model, "history_", []), n == C)
    for name in ("view_disagreement_", "sample_disagreement_", "confidence_"):
        check_shares(getattr(model, name, np.array([])))


def embedding_width(model, n):
    C = model.n_clusters_
    if isinstance(model, CoTrainSC):
        return len(model.view_names_) * C
    if isinstance(model, AnchorGraph):
        return min(VECTORS_PER_CLUSTER * C, len(model.anchors_))
    return min((VECTORS_PER_CLUSTER if isinstance(model, ConsensusGraph) else 1) * C, n)


def check_history(history, every_sample_alone):
    for entry in history:
        values = dict(vars(entry))
        beyond = values.pop("eigenvalue_sum_next", 0.0)
        assert np.isfinite(beyond) or every_sample_alone  # there is no such eigenvalue
        assert np.isfinite(values.pop("view_weights")).all()
        assert np.isfinite(list(values.values())).all(), entry


def check_shares(shares):
    """From 0 to 1 up to rounding, NaN where there is nothing to tell it by."""
    known = shares[~np.isnan(shares)]
    assert not np.isinf(shares).any()
    assert known.min(initial=0.0) >= -1e-9
    assert known.max(initial=1.0) <= 1 + 1e-9


def check_prediction(model, case):
    labels = model.predict(case.new, present=case.new_present)
    C, n_new = model.n_clusters_, case.n_new
    assert labels.shape == (n_new,)
    assert labels.dtype.kind == "i"
    assert labels.min() >= 0
    assert labels.max() < C
    shares = model.predict_proba(case.new, present=case.new_present)
    assert shares.shape == (n_new, C)
    check_shares(shares)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    novelty = model.novelty(case.new, present=case.new_present)
    assert np.isfinite(novelty).all()
    assert novelty.min() >= 0
    embedded = model.transform(case.new, present=case.new_present)
    assert embedded.shape == (n_new, model.embedding_.shape[1])
    assert np.isfinite(embedded).all()


def fit(case):
    options = {} if case.present is None else {"present": case.present}
    return case.estimator.fit(case.X, **options)


def check_fit(case):
    """Fit, look at the result, fit again, predict; the input stays as it was."""
    before = [fingerprint(part) for part in (case.X, case.new, case.present)]
    outcome = "fitted"
    with own_warnings_unheard():
        try:
            model = fit(case)
        except (ValueError, MemoryError) as error:
            outcome = refusal(error)
        else:
            check_fitted(model, case.n)
            labels = model.labels_
            np.testing.assert_array_equal(fit(case).labels_, labels)
            if case.new is not None:
                try:
                    check_prediction(model, case)
                    outcome = "fitted, predicted"
                except ValueError as error:
                    refusal(error)
                    outcome = "fitted, prediction refused"
    assert [fingerprint(part) for part in (case.X, case.new, case.present)] == before
    return outcome


@METHODS_ALL
def test_views_through_every_method(method, record_property):
    fuzz(fit_cases(method), check_fit, record_property, share=0.36 / len(PARAMETERS))


@pytest.mark.parametrize("method", TAKE_SIMILARITIES, ids=lambda method: method.__name__)
def test_similarities_through_every_method(method, record_property):
    if method is SpectralConcat:
        pytest.skip("takes features alone")
    fuzz(similarity_cases(method), check_fit, record_property, share=0.1 / len(PARAMETERS))


def check_cluster(case):
    """One call, and all that its result can be turned into."""
    before = [fingerprint(part) for part in (case.data, case.present)]
    with own_warnings_unheard():
        try:
            result = manyview.cluster(case.data, present=case.present, **case.arguments)
        except ValueError as error:
            outcome = refusal(error)
        else:
            check_result(result)
            outcome = "clustered"
    assert [fingerprint(part) for part in (case.data, case.present)] == before
    return outcome


def check_result(result):
    n = len(result.ids)
    check_labels(result.labels, n, result.n_clusters)
    check_shares(result.confidence)
    assert result.view_weights.sum() == pytest.approx(1)
    summary = json.loads(json.dumps(result.summary(), allow_nan=False))
    assert sum(summary["cluster_sizes"]) == n
    assert len(result.to_csv().splitlines()) == n + 1
    assert len(result.to_frame()) == n
    for name, matrix in result.tables.views.items():
        has = result.tables.present[:, result.view_names.index(name)]
        names = result.tables.features[name]
        for effects in feature_effects(matrix, names, result.labels, result.n_clusters, has):
            assert np.isfinite([list(vars(e).values())[1:] for e in effects]).all(), effects
    again = result.model().predict(result.tables)
    assert set(again.labels.tolist()) <= set(range(result.n_clusters))
    check_shares(again.shares)


def test_data_through_cluster(record_property):
    fuzz(cluster_cases(), check_cluster, record_property, share=0.08)


def check_suggest(case):
    with own_warnings_unheard():
        try:
            number = manyview.suggest_n_clusters(case.data, **case.arguments)
        except ValueError as error:
            return refusal(error)
    assert 2 <= number.n_clusters <= case.arguments.get("max_clusters", 20)
    for row in number.table():
        assert np.isfinite(list(row.values())).all()
    assert str(number.n_clusters) in str(number)
    return "suggested"


def test_numbers_of_clusters(record_property):
    fuzz(suggest_cases(), check_suggest, record_property, share=0.02)


def check_scores(case):
    try:
        scores = metrics.clustering_scores(case.true, case.pred)
    except ValueError as error:
        return refusal(error)
    for name, score in scores.items():
        lowest = -0.5 if name == "ARI" else 0.0
        assert lowest <= score <= 1 + 1e-12, name
        assert isinstance(score, float)
    turned = metrics.clustering_scores(case.pred, case.true)
    for name in set(scores) - {"purity"}:
        assert scores[name] == pytest.approx(turned[name], abs=1e-9), name
    return "scored"


def test_labels_through_all_metrics(record_property):
    fuzz(label_cases(), check_scores, record_property, share=0.02)
