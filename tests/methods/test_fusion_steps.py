"""The loop: against the dense twin, and what is known of its mathematics."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from manyview import CIGMVC, GBS, datasets
from manyview.graphs import GraphStack, MeanGraph, stack_graphs
from manyview.methods import cigmvc
from manyview.spectral import laplacian_spectrum
from tests.helpers import oracle


@pytest.fixture(scope="module")
def data():
    return datasets.make_conflict_views(150, 3, random_state=1)


def view_weights(stack, U, A):
    return cigmvc.view_weights(cigmvc.squared_residuals(stack, U, A))


@pytest.mark.parametrize("updates", ["published", "paper", "exact"])
@pytest.mark.parametrize("method", [GBS, CIGMVC])
def test_whole_fits_equal_the_twin(data, method, updates):
    if updates == "exact":  # its twin is slow
        data = datasets.make_conflict_views(90, 3, random_state=1)
    model = method(3, updates=updates).fit(data.views)
    graphs = [oracle.adaptive_graph(oracle.zscore_rows(view), 15) for view in data.views.values()]
    split = method is CIGMVC
    labels, U, A, rounds, _ = oracle.fuse(graphs, 3, split=split, updates=updates)
    np.testing.assert_array_equal(model.labels_, labels)
    assert model.n_iter_ == rounds
    np.testing.assert_allclose(model.unified_graph_.toarray(), U, atol=1e-9)
    for v in range(3):
        np.testing.assert_allclose(model.consistent_graphs_[v].toarray(), A[v], atol=1e-9)
        whole = model.consistent_graphs_[v] + model.inconsistent_graphs_[v]
        assert abs(whole - model.view_graphs_[v]).max() < 1e-15


def test_a_price_on_inconsistency_that_counts(data):
    """The default price is inert; one of the size of the view weights changes the split."""
    inert = CIGMVC(3).fit(data.views)
    priced = CIGMVC(3, beta=0.5, gamma=0.1).fit(data.views)
    graphs = [oracle.adaptive_graph(oracle.zscore_rows(view), 15) for view in data.views.values()]
    _, U, _, _, _ = oracle.fuse(graphs, 3, split=True, beta=0.5, gamma=0.1)
    np.testing.assert_allclose(priced.unified_graph_.toarray(), U, atol=1e-9)
    rest = [sum(g.sum() for g in model.inconsistent_graphs_) for model in (inert, priced)]
    assert rest[1] < 0.9 * rest[0]


@pytest.mark.parametrize("prices", [(1e-12, 1e-5), (0.05, 0.02), (1e-3, 0.02)])
def test_exact_updates_never_raise_the_objective(data, prices):
    """With lambda fixed, sum_v ||U - A_v|| + 2 lambda Tr(F'LF) + penalties only falls."""
    rules = cigmvc.Rules(prices, "exact", 1.0, 100, 1e-10)
    stack = stack_graphs(GBS(3).fit(data.views).view_graphs_)
    B, lambda_, rng = rules.B(3), 0.7, np.random.default_rng(0)

    def objective(U, A, F):
        misfit = [np.linalg.norm(U - a) for a in A]
        M = stack.symmetric(U).toarray()
        L = np.diag(M.sum(axis=1)) - M
        E = stack.weights - A
        return sum(misfit) + 2 * lambda_ * np.trace(F.T @ L @ F) + (B * (E @ E.T)).sum()

    A, U = stack.weights, stack.edges(MeanGraph())
    F = laplacian_spectrum(stack.symmetric(U), 3, rng).embedding
    # The start is not feasible (its rows do not sum to 1), so the first U comes before the count.
    U = cigmvc.unified_graph(stack, A, F, view_weights(stack, U, A), lambda_, "exact")
    values = [objective(U, A, F)]
    for _ in range(12):
        alpha = view_weights(stack, U, A)
        U = cigmvc.unified_graph(stack, A, F, alpha, lambda_, "exact")
        values.append(objective(U, A, F))
        F = laplacian_spectrum(stack.symmetric(U), 3, rng).embedding
        values.append(objective(U, A, F))
        A = cigmvc.consistent_parts(stack, U, A, view_weights(stack, U, A), B, "exact")
        values.append(objective(U, A, F))
    assert (np.diff(values) <= 1e-10).all()
    assert values[-1] < values[0] - 0.1


def test_published_updates_are_not_the_minimisers(data):
    """Method facts, section 3: the reason why "exact" is offered."""
    stack = stack_graphs(GBS(3).fit(data.views).view_graphs_)
    A, U = stack.weights, stack.edges(MeanGraph())
    F = laplacian_spectrum(stack.symmetric(U), 3, np.random.default_rng(0)).embedding
    alpha = np.array([0.05, 0.1, 0.4])

    def value(U):
        gaps = ((F[np.repeat(np.arange(150), np.diff(stack.indptr))] - F[stack.indices]) ** 2).sum(
            1
        )
        fit = sum(a * ((U - part) ** 2).sum() for a, part in zip(alpha, A, strict=True))
        return fit + 2.0 * (gaps * U).sum()

    published, exact = (
        value(cigmvc.unified_graph(stack, A, F, alpha, 2.0, updates))
        for updates in ("published", "exact")
    )
    assert exact < published - 1e-3


def test_too_many_components_bring_lambda_down():
    """Two halves joined by faint links: a large lambda cuts too much at first."""
    data = datasets.make_blob_views(120, 6, random_state=0)
    model = GBS(2, lambda_init=1e4).fit(data.views)
    lambdas = [entry.lambda_ for entry in model.history_]
    assert min(lambdas) < 1e4
    assert len(set(model.labels_)) == 2


def test_views_that_equal_the_unified_graph_keep_finite_weights():
    ring = csr_array(np.roll(np.eye(12), 1, axis=1) / 2 + np.roll(np.eye(12), -1, axis=1) / 2)
    model = GBS(1, graph="precomputed").fit([ring, ring])
    assert np.isfinite(model.view_weights_).all()
    assert model.converged_


@pytest.mark.parametrize(("n_neighbors", "lambda_init"), [(4, 1e3), (3, 1e5)])
def test_a_loop_that_cannot_recover_ends(monkeypatch, n_neighbors, lambda_init):
    """Consistent parts in too many pieces: more rounds would change neither that nor the labels."""
    data = datasets.make_latent_views(600, 4, stray=0.3, separation=4, random_state=0)
    model = CIGMVC(4, n_neighbors=n_neighbors, lambda_init=lambda_init, max_iter=25, random_state=0)
    with pytest.warns(ConvergenceWarning, match="too_many"):
        ended = clone(model).fit(data.views)
    assert ended.stop_reason_ == "too_many"
    monkeypatch.setattr(GraphStack, "n_components", lambda stack, A: 0)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        went_on = clone(model).fit(data.views)
    assert min(entry.n_components for entry in went_on.history_[ended.n_iter_ :]) > 4
    np.testing.assert_array_equal(ended.labels_, went_on.labels_)
