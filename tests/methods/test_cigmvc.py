"""The loop: equal to plain NumPy, objective, lambda, missing samples."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from manyview import CIGMVC, GBS, datasets
from manyview.graphs import GraphStack, MeanGraph, stack_graphs
from manyview.methods import cigmvc
from manyview.methods._fusion_steps import InitialRowResiduals
from manyview.spectral import laplacian_spectrum
from tests.helpers import oracle
from tests.helpers.masks import removed


@pytest.fixture(scope="module")
def noise():
    """Two views without clusters."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal((60, 8)), rng.standard_normal((60, 5))]


@pytest.fixture(scope="module")
def data():
    return datasets.make_conflict_views(150, 3, random_state=1)


def view_weights(stack, U, A):
    return cigmvc.view_weights(cigmvc.squared_residuals(stack, U, A))


@pytest.mark.parametrize("updates", ["published", "paper", "exact"])
@pytest.mark.parametrize("method", [GBS, CIGMVC])
def test_fits_equal_plain_numpy(data, method, updates):
    if updates == "exact":  # slow in plain NumPy
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


def test_price_as_large_as_view_weights(data):
    """The default price has no effect; one as large as the view weights changes the split."""
    default = CIGMVC(3).fit(data.views)
    priced = CIGMVC(3, beta=0.5, gamma=0.1).fit(data.views)
    graphs = [oracle.adaptive_graph(oracle.zscore_rows(view), 15) for view in data.views.values()]
    _, U, _, _, _ = oracle.fuse(graphs, 3, split=True, beta=0.5, gamma=0.1)
    np.testing.assert_allclose(priced.unified_graph_.toarray(), U, atol=1e-9)
    rest = [sum(g.sum() for g in model.inconsistent_graphs_) for model in (default, priced)]
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
    # Rows of the initial graph do not sum to 1, so the first U does not count.
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
    """The reason for updates="exact"."""
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


def test_too_many_components_lower_lambda():
    """A large lambda removes too many edges at first."""
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
def test_loop_ends_if_components_cannot_become_fewer(monkeypatch, n_neighbors, lambda_init):
    """The consistent parts have too many components: further rounds would not change the labels."""
    data = datasets.make_latent_views(600, 4, stray=0.3, separation=4, random_state=0)
    model = CIGMVC(4, n_neighbors=n_neighbors, lambda_init=lambda_init, max_iter=25, random_state=0)
    with pytest.warns(ConvergenceWarning, match="too_many"):
        ended = clone(model).fit(data.views)
    assert ended.stop_reason_ == "too_many"
    monkeypatch.setattr(GraphStack, "n_components", lambda stack, A: 0)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        without_the_test = clone(model).fit(data.views)
    assert min(entry.n_components for entry in without_the_test.history_[ended.n_iter_ :]) > 4
    np.testing.assert_array_equal(ended.labels_, without_the_test.labels_)


def _initial_residuals(stack, U):
    rows = stack.rows(InitialRowResiduals(), U)
    return cigmvc._over_samples(stack, rows)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["published", "exact"]))
@settings(max_examples=15, deadline=None)
def test_residuals_are_sums_over_present_samples(seed, updates):
    """Scaled as if all samples were present."""
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
    symmetric = (dense + dense.T) / 2
    for v, found in enumerate(_initial_residuals(stack, U)):
        gaps = ((symmetric - graphs[v].toarray()) ** 2).sum(axis=1)
        np.testing.assert_allclose(found, gaps[present[:, v]].mean() * 60, rtol=1e-12)


@pytest.mark.parametrize("exact", [False, True])
def test_unified_graph_with_missing_samples(exact, rng):
    """Each row equals its update from the views that have the sample."""
    S = rng.random((3, 8, 8)) * (rng.random((3, 8, 8)) < 0.7)
    counted = np.array([[True] * 3, [True, True, False], [True, False, False], [True] * 3] * 2)
    S *= counted.T[:, :, None]
    stack = stack_graphs([csr_array(graph) for graph in S], present=counted)
    F, alpha = rng.standard_normal((8, 2)), np.array([0.2, 0.5, 3.0])
    updates = "exact" if exact else "published"
    found = cigmvc.unified_graph(stack, stack.weights, F, alpha, 0.7, updates)
    found = stack.matrix(found).toarray()
    for i in range(8):
        own = np.flatnonzero(counted[i])
        if exact:
            expected = oracle.update_unified(S[own], F, alpha[own], lam=0.7, exact=True)[i]
        else:  # the published pull is a mean over all views, here over the present ones
            pull = 0.35 * np.mean(1 / (3 * alpha)) * 3 / len(own)
            gaps = ((F[i] - F) ** 2).sum(axis=1)
            alive = S[own, i].any(axis=0)
            expected = np.zeros(8)
            target = (S[own, i].mean(axis=0) - pull * gaps)[alive]
            expected[alive] = oracle.project_simplex(target)
        np.testing.assert_allclose(found[i], expected, atol=1e-12)


@pytest.mark.parametrize("updates", ["published", "paper", "exact"])
def test_gamma_without_a_minimum(updates, noise):
    with pytest.raises(ValueError, match=r"gamma=5 is too large for beta=0.1: .*expected gamma"):
        CIGMVC(3, beta=0.1, gamma=5, updates=updates).fit(noise)
    CIGMVC(3, beta=5, gamma=5, updates=updates).fit(noise)  # a large beta allows it


@pytest.mark.parametrize("name", ["beta", "gamma"])
def test_negative_prices(name, noise):
    with pytest.raises(ValueError, match=f"{name}=-1; expected a finite number of at least 0"):
        CIGMVC(3, **{name: -1}).fit(noise)


@pytest.mark.parametrize("method", [CIGMVC, GBS])
def test_labels_where_eigenvalues_pass_but_components_do_not(method, noise):
    """Weights too small to change the eigenvalues can still connect components."""
    with pytest.warns(ConvergenceWarning, match="labels come from k-means"):
        model = method(3, tol=1.0, random_state=0).fit(noise)
    assert model.stop_reason_ in ("eigenvalues", "max_iter")
    assert set(model.labels_) == {0, 1, 2}
    assert not model.converged_
