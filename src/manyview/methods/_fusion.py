"""The alternating loop that GBS and CI-GMVC share: from the graphs of the views to one graph.

Symbols are the paper's: S_v the graph of view v, A_v its consistent part, U the unified graph,
F the embedding, alpha the view weights, lambda the weight of the rank constraint. All graphs live
on the one sparse pattern of a `GraphStack`; outside of it everything is 0 in every round.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from manyview import _kernels
from manyview._log import logger
from manyview._typing import FloatArray
from manyview.graphs import GraphStack
from manyview.spectral import Spectrum, laplacian_spectrum, laplacian_trace

UPDATES = ("published", "paper", "exact")
# Beyond these, lambda has long ceased to change anything but the exponent.
_LAMBDA_RANGE = (1e-150, 1e150)


@dataclass(frozen=True)
class Penalty:
    """What CI-GMVC adds to GBS: the price of the inconsistent parts E_v = S_v - A_v."""

    beta: float
    gamma: float

    def matrix(self, n_views: int) -> FloatArray:
        """B of the paper: beta on the diagonal, gamma elsewhere."""
        B = np.full((n_views, n_views), self.gamma)
        np.fill_diagonal(B, self.beta)
        return B


@dataclass(frozen=True)
class Round:
    """What one round left behind; round 0 is the start.

    Attributes
    ----------
    round : int
    objective : float
        sum_v alpha_v ||U - A_v||_F^2 + lambda Tr(F'LF) + sum_vw b_vw <E_v, E_w>, as the published
        program reports it: the paper's equation 3 with lambda once, not twice.
    objective_without_penalties : float
        Its first sum alone.
    lambda_ : float
        As it stands after the round.
    eigenvalue_sum, eigenvalue_sum_next : float
        Sums of the C and C + 1 smallest eigenvalues of the Laplacian of U.
    n_components : int
        Connected components of U.
    view_weights : tuple of float
        alpha; 1 / V at the start.
    seconds : float
        Since the start of the loop.
    """

    round: int
    objective: float
    objective_without_penalties: float
    lambda_: float
    eigenvalue_sum: float
    eigenvalue_sum_next: float
    n_components: int
    view_weights: tuple[float, ...]
    seconds: float


@dataclass(frozen=True)
class Fusion:
    """Where the loop ended; values are on the pattern of the stack."""

    unified: FloatArray
    consistent: FloatArray
    view_weights: FloatArray
    embedding: FloatArray
    spectrum: Spectrum
    history: tuple[Round, ...]
    stop_reason: str


def fuse(
    stack: GraphStack,
    n_clusters: int,
    penalty: Penalty | None,
    *,
    updates: str,
    lambda_init: float,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
) -> Fusion:
    """Learn the unified graph; with a `penalty` (CI-GMVC) split the views' graphs as well.

    The stop reason is "components" where U has C components, "eigenvalues" where its eigenvalues
    say so but links too faint for them are left, else "max_iter" or "lambda_limit".
    """
    started = time.perf_counter()
    S = stack.weights
    n_views = len(S)
    history: list[Round] = []

    def record(number: int) -> None:
        fit, total = objective(stack, U, A, F, alpha, lambda_, penalty)
        history.append(
            Round(
                round=number,
                objective=total,
                objective_without_penalties=fit,
                lambda_=lambda_,
                eigenvalue_sum=spectrum.sum_c,
                eigenvalue_sum_next=spectrum.sum_c1,
                n_components=spectrum.n_components,
                view_weights=tuple(alpha.tolist()),
                seconds=time.perf_counter() - started,
            )
        )
        logger.info(
            "round %d: %d components, lambda %g, objective %.6g, %.2f s",
            number, spectrum.n_components, lambda_, total, history[-1].seconds,
        )  # fmt: skip

    A = S
    U = starting_graph(stack)
    spectrum = laplacian_spectrum(stack.matrix(U), n_clusters, rng)
    F = spectrum.embedding
    alpha = np.full(n_views, 1 / n_views)
    lambda_ = lambda_init
    stop_reason = "max_iter"
    record(0)
    for number in range(1, max_iter + 1):
        alpha = view_weights(stack, U, A)
        U = unified_graph(stack, A, F, alpha, lambda_, exact=updates == "exact")
        spectrum = laplacian_spectrum(symmetric(stack, U), n_clusters, rng)
        if spectrum.sum_c > tol:  # too few components
            lambda_ *= 2
            F = spectrum.embedding
        elif spectrum.sum_c1 < tol:  # too many: F stays that of the round before
            lambda_ /= 2
        else:
            F = spectrum.embedding
            reached = spectrum.n_components == n_clusters
            stop_reason = "components" if reached else "eigenvalues"
            record(number)
            break
        if penalty is not None:
            A = consistent_parts(stack, U, A, alpha, penalty, updates)
        record(number)
        if not _LAMBDA_RANGE[0] < lambda_ < _LAMBDA_RANGE[1]:
            stop_reason = "lambda_limit"
            break
    return Fusion(U, A, alpha, F, spectrum, tuple(history), stop_reason)


def starting_graph(stack: GraphStack) -> FloatArray:
    """The mean of the views' graphs with rows scaled to sum 1, then symmetrised."""
    mean: FloatArray = stack.weights.mean(axis=0)
    filled = np.diff(stack.indptr)
    sums = np.repeat(stack.row_sums(mean), filled)
    U = mean / np.where(sums > 0, sums, 1.0)
    return (U + U[stack.mirror]) / 2


def symmetric(stack: GraphStack, U: FloatArray) -> csr_array:
    """(U + U') / 2 as a matrix."""
    return stack.matrix((U + U[stack.mirror]) / 2)


def view_weights(stack: GraphStack, U: FloatArray, A: FloatArray) -> FloatArray:
    """alpha_v = 1 / (2 ||U - A_v||_F); a view that U equals gets a large but finite weight."""
    misfit = np.sqrt(_kernels.row_misfits(stack.indptr, U, A).sum(axis=0))
    return np.asarray(0.5 / np.maximum(misfit, np.finfo(np.float64).eps))


def unified_graph(
    stack: GraphStack,
    A: FloatArray,
    F: FloatArray,
    alpha: FloatArray,
    lambda_: float,
    *,
    exact: bool,
) -> FloatArray:
    """Equation 4, row by row: as published, or the exact minimiser of equation 3 in U."""
    if exact:
        shares, pull = alpha / alpha.sum(), lambda_ / (2 * alpha.sum())
    else:
        n_views = len(alpha)
        shares, pull = np.full(n_views, 1 / n_views), lambda_ / 2 * np.mean(1 / (n_views * alpha))
    return _kernels.unify(stack.indptr, stack.indices, A, F, shares, pull)


def consistent_parts(
    stack: GraphStack,
    U: FloatArray,
    A: FloatArray,
    alpha: FloatArray,
    penalty: Penalty,
    updates: str,
) -> FloatArray:
    """Equations 7 and 8: the part of every view's graph that agrees with U and the others.

    "published" symmetrises before it cuts at S_v, "paper" does not, "exact" is the minimiser in
    the box 0 <= A_v <= S_v.
    """
    B = penalty.matrix(len(alpha))
    curvature = (1 if updates == "exact" else 2) * np.diag(alpha) + B
    if np.linalg.eigvalsh(curvature)[0] <= 0:
        limit = penalty.beta + np.diag(curvature - B).min()
        raise ValueError(
            f"gamma={penalty.gamma:g} is too large for beta={penalty.beta:g}: the update of the "
            f"consistent parts has no minimum at view weights {np.round(alpha, 4).tolist()}; "
            f"expected gamma of at most about {limit:.2g}"
        )
    if updates == "exact":
        return _kernels.split_exact(stack.indptr, stack.weights, U, alpha, B, A)
    from_unified: FloatArray = np.asarray(np.linalg.solve(curvature, 2 * alpha), np.float64)
    from_weights: FloatArray = np.asarray(np.linalg.solve(curvature, B), np.float64)
    return _kernels.split_linear(
        stack.indptr, stack.mirror, stack.weights, U, from_unified, from_weights,
        updates == "published",
    )  # fmt: skip


def objective(
    stack: GraphStack,
    U: FloatArray,
    A: FloatArray,
    F: FloatArray,
    alpha: FloatArray,
    lambda_: float,
    penalty: Penalty | None,
) -> tuple[float, float]:
    """The objective without and with its penalties; see `Round`."""
    fit = float(alpha @ _kernels.row_misfits(stack.indptr, U, A).sum(axis=0))
    total = fit + lambda_ * laplacian_trace(symmetric(stack, U), F)
    if penalty is not None:
        products = _kernels.row_inconsistency_products(stack.indptr, stack.weights, A).sum(axis=0)
        total += float((penalty.matrix(len(alpha)) * products).sum())
    return fit, total
