"""The alternating loop that GBS and CI-GMVC share: from the graphs of the views to one graph.

Symbols are the paper's: S_v the graph of view v, A_v its consistent part, U the unified graph,
F the embedding, alpha the view weights, lambda the weight of the rank constraint. All graphs live
on the one sparse pattern of a `GraphStack`; outside of it everything is 0 in every round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manyview import _kernels
from manyview._run import Run
from manyview._typing import BoolArray, FloatArray
from manyview.filtered import LowEnd, cache_aligned
from manyview.graphs import GraphStack
from manyview.methods._kept import LoopState, keep_loop, kept_loop
from manyview.methods._rounds import Round
from manyview.spectral import (
    Spectrum,
    count_components,
    is_large,
    laplacian_spectrum,
    unit_rows,
)

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

    def price(self, stack: GraphStack, A: FloatArray) -> float:
        """sum_vw b_vw <E_v, E_w>."""
        products = _kernels.row_inconsistency_products(stack.indptr, stack.weights, A)
        return float((self.matrix(len(A)) * products.sum(axis=0)).sum())


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
    run: Run,
    angular: bool = False,
) -> Fusion:
    """Learn the unified graph; with a `penalty` (CI-GMVC) split the views' graphs as well.

    The `angular` variant takes the embedding from the normalised Laplacian, all rows of the same
    length, and where a view says nothing about a sample the mean of those that do.

    The stop reason is "components" where U has C components, "eigenvalues" where its eigenvalues
    say so but links too faint for them are left, "too_many" where the consistent parts have fallen
    into more than C pieces for good, else "max_iter" or "lambda_limit".
    """
    S = stack.weights
    n_views = len(S)
    history: list[Round] = []
    started = run.elapsed
    checkpoint = run.checkpoint
    kept = None if checkpoint is None else kept_loop(checkpoint, run.rng)

    def record(number: int) -> None:
        fit = float(alpha @ misfits)
        total = fit + lambda_ * variation
        if penalty is not None:
            total += penalty.price(stack, A)
        history.append(
            Round(
                round=number,
                objective=total,
                objective_without_penalties=fit,
                lambda_=lambda_,
                eigenvalue_sum=spectrum.sum_c,
                eigenvalue_sum_next=spectrum.sum_c1,
                n_components=spectrum.n_components,
                residual=spectrum.residual,
                view_weights=tuple(alpha.tolist()),
                seconds=run.elapsed - started,
            )
        )
        run.say(
            "round %d: %d components, lambda %g, objective %.6g",
            number, spectrum.n_components, lambda_, total,
        )  # fmt: skip
        if not spectrum.converged:
            run.say("eigenvectors to a residual of %.1e only", spectrum.residual)

    def solve(U: FloatArray, start: LowEnd | None) -> Spectrum:
        kind = np.float32 if is_large(stack.n_samples) else np.float64
        with run.stage("eigenvectors"):
            graph = stack.symmetric(U, kind)
            return laplacian_spectrum(graph, n_clusters, run.rng, normalized=angular, start=start)

    def embed(U: FloatArray, spectrum: Spectrum) -> tuple[FloatArray, float]:
        """F, and how much it varies along the edges of U."""
        if not angular:
            return spectrum.embedding, spectrum.sum_c
        F = unit_rows(spectrum.embedding) * np.sqrt(n_clusters / stack.n_samples)
        return F, embedding_variation(stack, U, F)

    A = S
    speaks = stack.speaks() if angular else None
    if kept is None:
        U = stack.mean()  # taken both ways
        spectrum = solve(U, None)
        F, variation = embed(U, spectrum)
        low_end = spectrum.low_end
        misfits = starting_misfits(stack, U)
        alpha = np.full(n_views, 1 / n_views)
        lambda_ = lambda_init
        record(0)
    else:
        A = S if kept.parts is None else kept.parts
        F, misfits, lambda_, low_end = kept.embedding, kept.misfits, kept.lambda_, kept.low_end
        history += kept.history
        started -= history[-1].seconds
        run.say("going on after round %d", history[-1].round)
    stop_reason = "max_iter"
    for number in range(history[-1].round + 1, max_iter + 1):
        alpha = view_weights(misfits)
        U = unified_graph(stack, A, F, alpha, lambda_, exact=updates == "exact", speaks=speaks)
        spectrum = solve(U, low_end)
        low_end = low_end if spectrum.low_end is None else spectrum.low_end
        too_few = spectrum.sum_c > tol
        too_many = not too_few and spectrum.sum_c1 < tol
        reached = not (too_few or too_many)
        if too_many:  # F stays that of the round before
            lambda_ /= 2
            variation = embedding_variation(stack, U, F)
        else:
            F, variation = embed(U, spectrum)
        if too_few:
            lambda_ *= 2
        if penalty is not None and not reached:
            A = consistent_parts(stack, U, A, alpha, penalty, updates)
        misfits = squared_misfits(stack, U, A)
        record(number)
        if reached:
            exactly = spectrum.n_components == n_clusters
            stop_reason = "components" if exactly else "eigenvalues"
            break
        if too_many and penalty is not None and pieces_of(stack, A) > n_clusters:
            stop_reason = "too_many"  # what A has lost does not come back
            break
        if not _LAMBDA_RANGE[0] < lambda_ < _LAMBDA_RANGE[1]:
            stop_reason = "lambda_limit"
            break
        if checkpoint is not None and number < max_iter and checkpoint.is_due():
            state = LoopState(None if A is S else A, F, misfits, lambda_, low_end, history)
            keep_loop(checkpoint, state, run.rng)
    return Fusion(U, A, alpha, F, spectrum, tuple(history), stop_reason)


def row_scaling(counted: BoolArray | None, shares: FloatArray) -> float | FloatArray:
    """What makes a weighted sum over all views a mean over those counted, row by row."""
    if counted is None:
        return 1.0
    totals = counted @ shares
    return np.where(counted.all(axis=1) | (totals == 0), 1.0, 1 / np.where(totals > 0, totals, 1))


def silence_scaling(stack: GraphStack, speaks: BoolArray) -> FloatArray:
    """What makes a mean over the views that have a sample one over those that speak of it."""
    has = len(speaks.T) if stack.present is None else stack.present.sum(axis=1)
    return np.asarray(has / np.maximum(speaks.sum(axis=1), 1))


def pieces_of(stack: GraphStack, A: FloatArray) -> int:
    """Connected components of all that the consistent parts still have: U can't have fewer."""
    return count_components(stack.symmetric(A.max(axis=0)))


def starting_misfits(stack: GraphStack, U: FloatArray) -> FloatArray:
    """||(U + U') / 2 - S_v||_F^2 of every view; half of (j, i) may lie outside of the pattern."""
    outside = np.where(stack.mirror < 0, U**2, 0.0) / 4
    if stack.present is not None:
        rows = np.bincount(stack.indices, outside, minlength=stack.n_samples)
        lost = stack.over_samples(np.repeat(rows[:, None], len(stack.weights), axis=1))
    else:
        lost = np.full(len(stack.weights), outside.sum())
    return squared_misfits(stack, (U + stack.transposed(U)) / 2, stack.weights) + lost


def squared_misfits(stack: GraphStack, U: FloatArray, A: FloatArray) -> FloatArray:
    """||U - A_v||_F^2 of every view, over the samples that it has."""
    return stack.over_samples(_kernels.row_misfits(stack.indptr, U, A))


def embedding_variation(stack: GraphStack, U: FloatArray, F: FloatArray) -> float:
    """Tr(F'LF): how much an embedding varies along the edges of U, taken both ways."""
    return float(_kernels.row_variations(stack.indptr, stack.indices, U, F).sum()) / 2


def view_weights(misfits: FloatArray) -> FloatArray:
    """alpha_v = 1 / (2 ||U - A_v||_F); a view that U equals gets a large but finite weight."""
    return np.asarray(0.5 / np.maximum(np.sqrt(misfits), np.finfo(np.float64).eps))


def unified_graph(
    stack: GraphStack,
    A: FloatArray,
    F: FloatArray,
    alpha: FloatArray,
    lambda_: float,
    *,
    exact: bool,
    speaks: BoolArray | None = None,
) -> FloatArray:
    """Equation 4, row by row: as published, or the exact minimiser of equation 3 in U.

    Of the objective's sum over views, those that lack a sample take no part in its row. With
    `speaks` (n_samples, V) given, the row is drawn to the mean of the views that have edges from
    it alone.
    """
    if exact:
        shares, pull = alpha / alpha.sum(), lambda_ / (2 * alpha.sum())
    else:
        n_views = len(alpha)
        shares, pull = np.full(n_views, 1 / n_views), lambda_ / 2 * np.mean(1 / (n_views * alpha))
    if is_large(len(F)):
        # Where F is only this exact, single precision loses nothing, and its rows fit cache lines.
        padded = np.zeros((len(F), -16 * (-F.shape[1] // 16)), dtype=np.float32)
        padded[:, : F.shape[1]] = F
        F = cache_aligned(padded, np.float32)
    scaling = row_scaling(stack.present, shares)
    factors = scaling if speaks is None else scaling * silence_scaling(stack, speaks)
    return stack.unify(A, F, shares, pull * scaling, factors)


def consistent_parts(
    stack: GraphStack,
    U: FloatArray,
    A: FloatArray,
    alpha: FloatArray,
    penalty: Penalty,
    updates: str,
) -> FloatArray:
    """Equations 7 and 8: the part of every view's graph that agrees with U and the others.

    Written over `A`, unless that is the stack's own S.

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
    if A is stack.weights:
        A = A.copy(order="F")
    if updates == "exact":
        _kernels.split_exact(stack.indptr, stack.weights, U, alpha, B, A)
        return A
    from_unified: FloatArray = np.asarray(np.linalg.solve(curvature, 2 * alpha), np.float64)
    from_weights: FloatArray = np.asarray(np.linalg.solve(curvature, B), np.float64)
    _kernels.split_linear(
        stack.indptr, stack.mirror, stack.weights, U, from_unified, from_weights,
        updates == "published", A,
    )  # fmt: skip
    return A
