"""Updates of one round equal those of plain NumPy."""

import numpy as np
import pytest

from manyview import _kernels
from manyview._kernels._updates import _project_simplex
from manyview.methods._fusion_steps import EmbeddingVariation, ProjectRows
from tests.helpers import oracle


def unify(problem, shares, pull):
    stack = problem.stack
    U = np.empty(len(stack.indices))
    _kernels.unify(
        stack.indptr, stack.indices, 0, stack.weights, problem.F, shares,
        np.ones(40), np.full(40, pull), U,
    )  # fmt: skip
    return problem.dense(U)


def test_cluster_weights(problem, rng):
    """In segments of 16, 16 and 8 rows."""
    stack, labels = problem.stack, rng.integers(0, 3, 40)
    found = np.zeros((2, 3, 3, 3))
    _kernels.cluster_weights(stack.indptr, stack.indices, 0, stack.weights, labels, 16, *found)
    member = np.eye(3)[labels]
    for s, rows in enumerate([slice(0, 16), slice(16, 32), slice(32, 40)]):
        for S, inside, touching in zip(problem.S, found[0, s].T, found[1, s].T, strict=True):
            between = member[rows].T @ S[rows] @ member
            np.testing.assert_allclose(inside, np.diag(between), atol=1e-14)
            both = (between.sum(axis=0) + between.sum(axis=1)) / 2
            np.testing.assert_allclose(touching, both, atol=1e-14)


@pytest.mark.parametrize("exact", [False, True])
def test_unify(problem, exact):
    alpha = problem.alpha
    expected = oracle.update_unified(problem.S, problem.F, alpha, lam=3.0, exact=exact)
    if exact:
        shares, pull = alpha / alpha.sum(), 3.0 / (2 * alpha.sum())
    else:
        shares, pull = np.full(3, 1 / 3), 1.5 * np.mean(1 / (3 * alpha))
    U = unify(problem, shares, pull)
    np.testing.assert_allclose(U, expected, atol=1e-13)
    np.testing.assert_allclose(np.delete(U.sum(axis=1), 7), 1, atol=1e-13)
    assert U[7].sum() == 0


@pytest.mark.parametrize(("width", "kind"), [(16, np.float32), (37, np.float32), (37, np.float64)])
def test_wide_embeddings(problem, rng, width, kind):
    """Gaps of whole vectors of columns and of what is left."""
    F = rng.standard_normal((40, width)).astype(kind)
    expected = oracle.update_unified(problem.S, F.astype(float), problem.alpha, lam=0.01)
    problem.F = F
    U = unify(problem, np.full(3, 1 / 3), 0.005 * np.mean(1 / (3 * problem.alpha)))
    np.testing.assert_allclose(U, expected, atol=1e-12 if kind is np.float64 else 1e-6)
    stack, values = problem.stack, rng.random(len(problem.stack.indices))
    gaps = ((F[:, None] - F).astype(float) ** 2).sum(axis=2)
    found = _kernels.row_variations(stack.indptr, stack.indices, 0, values, F)
    np.testing.assert_allclose(found, (problem.dense(values) * gaps).sum(axis=1), rtol=1e-5)


@pytest.mark.parametrize("order", [np.asfortranarray, lambda F: np.repeat(F, 2, axis=1)[:, ::2]])
def test_embeddings_in_any_order_of_memory(problem, rng, order):
    F, shares = rng.standard_normal((40, 20)), np.full(3, 1 / 3)
    found = [
        problem.stack.edges(ProjectRows(own, 0.1, 1.0, shares), problem.stack.weights)
        for own in (F, order(F))
    ]
    np.testing.assert_array_equal(*found)
    variations = [problem.stack.total(EmbeddingVariation(own), found[0]) for own in (F, order(F))]
    assert variations[0] == variations[1]


def test_rows_of_u_sum_to_1_at_any_lambda(problem):
    """The sum of 1 must not be lost in rounding next to a huge pull."""
    U = unify(problem, np.full(3, 1 / 3), 1e100)
    np.testing.assert_allclose(np.delete(U.sum(axis=1), 7), 1, atol=1e-13)


def test_sums_of_squares(problem, rng):
    stack = problem.stack
    U, A = rng.random(len(stack.indices)), stack.weights * rng.random(stack.weights.shape)
    dense_U, dense_A = problem.dense(U), np.array([problem.dense(a) for a in A])
    misfits = _kernels.row_misfits(stack.indptr, U, A)
    np.testing.assert_allclose(misfits, ((dense_U - dense_A) ** 2).sum(axis=2).T, atol=1e-12)
    F = rng.standard_normal((40, 3))
    gaps = ((F[:, None] - F) ** 2).sum(axis=2)
    variations = _kernels.row_variations(stack.indptr, stack.indices, 0, U, F)
    np.testing.assert_allclose(variations, (dense_U * gaps).sum(axis=1), atol=1e-12)
    products = _kernels.row_inconsistency_products(stack.indptr, stack.weights, A)
    E = problem.S - dense_A
    np.testing.assert_allclose(products, np.einsum("vij,wij->ivw", E, E), atol=1e-12)


def penalty(beta, gamma):
    return np.where(np.eye(3), beta, gamma)


@pytest.mark.parametrize("updates", ["published", "paper"])
def test_split_linear(problem, rng, updates):
    stack, alpha = problem.stack, problem.alpha
    U = rng.random(len(stack.indices)) / 10
    expected = oracle.update_consistent(problem.S, problem.dense(U), alpha, 0.01, 0.03, updates)
    B = penalty(0.01, 0.03)
    C = 2 * np.diag(alpha) + B
    A = np.full_like(stack.weights, np.nan)  # all of it is overwritten
    _kernels.split_linear(
        stack.indptr, stack.reverse, stack.weights, U,
        np.linalg.solve(C, 2 * alpha), np.linalg.solve(C, B), updates == "published",
        U, stack.weights, A,
    )  # fmt: skip
    np.testing.assert_allclose([problem.dense(a) for a in A], expected, atol=1e-13)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(("beta", "gamma"), [(0.01, 0.03), (0.2, 0.1), (1e-12, 1e-5)])
def test_split_exact(problem, rng, beta, gamma, kind):
    stack, alpha = problem.stack, problem.alpha
    U = (rng.random(len(stack.indices)) / 3).astype(kind)
    dense_U = problem.dense(U)
    expected = oracle.update_consistent(problem.S, dense_U, alpha, beta, gamma, "exact")
    weights = stack.weights.astype(kind)
    A = weights.copy()
    _kernels.split_exact(stack.indptr, weights, U, alpha, penalty(beta, gamma), A)
    tolerance = 1e-12 if kind is np.float64 else 1e-6
    np.testing.assert_allclose([problem.dense(a) for a in A], expected, atol=tolerance)


def test_projection_ends_if_a_value_is_on_the_threshold():
    """Seeds 69, 81 and 94 once never ended: rounding put the same value out and in again."""
    for seed in range(300):
        rng = np.random.default_rng(seed)
        values = rng.random(int(rng.integers(3, 30))) * 0.2
        values[0] = (values[1:].sum() - 1) / (len(values) - 1)
        projected = values.copy()
        _project_simplex(projected)
        np.testing.assert_allclose(projected, oracle.project_simplex(values), atol=1e-12)
