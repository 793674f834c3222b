"""The alternating loop that GBS and CI-GMVC share: from the graphs of the views to one graph.

Symbols are the paper's: S_v the graph of view v, A_v its consistent part, U the unified graph,
F the embedding, alpha the view weights, lambda the weight of the rank constraint. All graphs live
on the one sparse pattern of a `GraphStack`; outside of it everything is 0 in every round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.graphs import SplitRule
from manyview.methods._history import Round
from manyview.methods._loop_state import LoopState, keep_loop, kept_loop
from manyview.runtime import Run
from manyview.spectral import (
    LowEnd,
    Spectrum,
    cache_aligned,
    is_large,
    laplacian_spectrum,
    unit_rows,
)

UPDATES = ("published", "paper", "exact")
# Beyond these, lambda has long ceased to change anything but the exponent.
_LAMBDA_RANGE = (1e-150, 1e150)


class Stack(Protocol):
    """The graphs of the views on one pattern, as the loop sees them: here, or spread.

    What stands for a graph on the pattern (U) or for one a view (A) is the stack's own affair.
    """

    @property
    def n_samples(self) -> int: ...

    @property
    def n_views(self) -> int: ...

    @property
    def present(self) -> BoolArray | None:
        """(n_samples, V): whether the view has the sample of that row; None where all have all."""

    def by_sample(self, rows: Any) -> Any:
        """One entry a row -> one entry a sample."""

    def parts(self) -> Any:
        """The consistent parts to begin with: the views' graphs."""

    def said(self) -> FloatArray:
        """(n_samples, V): how much the edges of a row weigh in every view."""

    def apart(self, parts: Any) -> FloatArray:
        """(n_samples, V): how much of that is inconsistent."""

    def speaks(self) -> BoolArray:
        """(n_samples, V): whether the view has any edge from that sample."""

    def mean(self) -> Any:
        """The mean of the views' graphs, rows scaled to sum 1."""

    def symmetric(self, values: Any, kind: type) -> Any:
        """(U + U') / 2, for `laplacian_spectrum`."""

    def unify(
        self,
        parts: Any,
        F: FloatArray,
        shares: FloatArray,
        pulls: float | FloatArray,
        row_factors: float | FloatArray,
    ) -> Any:
        """One graph from the parts, as `RowBlock.unify_rows` says."""

    def split(self, U: Any, parts: Any, rule: SplitRule) -> Any:
        """The consistent parts; those of the round before are of no more use."""

    def row_misfits(self, U: Any, parts: Any) -> FloatArray:
        """(n_samples, V): ||u_i - a_v,i||^2."""

    def starting_row_misfits(self, U: Any) -> FloatArray:
        """(n_samples, V): the same of (U + U') / 2 and S_v."""

    def inconsistency(self, parts: Any) -> FloatArray:
        """(V, V): <E_v, E_w>."""

    def variation(self, U: Any, F: FloatArray) -> float:
        """sum_ij u_ij ||f_i - f_j||^2."""

    def n_pieces(self, parts: Any) -> int:
        """Connected components of all that the parts still have: U can't have fewer."""

    def confidence(
        self, labels: IntArray, view_weights: FloatArray, trust: FloatArray
    ) -> FloatArray:
        """The share of each sample's votes for its own cluster, weights and trust by place."""


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

    def price(self, stack: Stack, A: Any) -> float:
        """sum_vw b_vw <E_v, E_w>."""
        return float((self.matrix(stack.n_views) * stack.inconsistency(A)).sum())


@dataclass(frozen=True)
class Fusion:
    """Where the loop ended; graphs are what they are to the stack."""

    unified: Any
    consistent: Any
    view_weights: FloatArray
    embedding: FloatArray
    spectrum: Spectrum
    history: tuple[Round, ...]
    stop_reason: str


def fuse(
    stack: Stack,
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
        run.log(
            "round %d: %d components, lambda %g, objective %.6g",
            number, spectrum.n_components, lambda_, total,
        )  # fmt: skip
        if not spectrum.converged:
            run.log("eigenvectors to a residual of %.1e only", spectrum.residual)

    def solve(U: Any, start: LowEnd | None) -> Spectrum:
        kind = np.float32 if is_large(stack.n_samples) else np.float64
        with run.stage("eigenvectors"):
            graph = stack.symmetric(U, kind)
            return laplacian_spectrum(graph, n_clusters, run.rng, normalized=angular, start=start)

    def embed(U: Any, spectrum: Spectrum) -> tuple[FloatArray, float]:
        """F, and how much it varies along the edges of U."""
        if not angular:
            return spectrum.embedding, spectrum.sum_c
        F = unit_rows(spectrum.embedding) * np.sqrt(n_clusters / stack.n_samples)
        return F, embedding_variation(stack, U, F)

    S = A = stack.parts()
    speaks = stack.speaks() if angular else None
    if kept is None:
        U = stack.mean()  # taken both ways
        spectrum = solve(U, None)
        F, variation = embed(U, spectrum)
        low_end = spectrum.low_end
        misfits = starting_misfits(stack, U)
        alpha = np.full(stack.n_views, 1 / stack.n_views)
        lambda_ = lambda_init
        record(0)
    else:
        A = S if kept.parts is None else kept.parts
        F, misfits, lambda_, low_end = kept.embedding, kept.misfits, kept.lambda_, kept.low_end
        history += kept.history
        started -= history[-1].seconds
        run.log("going on after round %d", history[-1].round)
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
        if too_many and penalty is not None and stack.n_pieces(A) > n_clusters:
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


def silence_scaling(stack: Stack, speaks: BoolArray) -> FloatArray:
    """What makes a mean over the views that have a sample one over those that speak of it."""
    has = len(speaks.T) if stack.present is None else stack.present.sum(axis=1)
    return np.asarray(has / np.maximum(speaks.sum(axis=1), 1))


def over_samples(stack: Stack, rows: FloatArray) -> FloatArray:
    """Sums of (n_samples, V) over the samples. A view that lacks some is not to gain or lose by
    that: the sum over those it has counts for all."""
    if stack.present is None:
        return np.asarray(rows.sum(axis=0))
    counts = stack.present.sum(axis=0)
    return np.asarray((rows * stack.present).sum(axis=0) * (stack.n_samples / counts))


def starting_misfits(stack: Stack, U: Any) -> FloatArray:
    """||(U + U') / 2 - S_v||_F^2 of every view."""
    return over_samples(stack, stack.starting_row_misfits(U))


def squared_misfits(stack: Stack, U: Any, A: Any) -> FloatArray:
    """||U - A_v||_F^2 of every view, over the samples that it has."""
    return over_samples(stack, stack.row_misfits(U, A))


def embedding_variation(stack: Stack, U: Any, F: FloatArray) -> float:
    """Tr(F'LF): how much an embedding varies along the edges of U, taken both ways."""
    return stack.variation(U, F) / 2


def view_weights(misfits: FloatArray) -> FloatArray:
    """alpha_v = 1 / (2 ||U - A_v||_F); a view that U equals gets a large but finite weight."""
    return np.asarray(0.5 / np.maximum(np.sqrt(misfits), np.finfo(np.float64).eps))


def unified_graph(
    stack: Stack,
    A: Any,
    F: FloatArray,
    alpha: FloatArray,
    lambda_: float,
    *,
    exact: bool,
    speaks: BoolArray | None = None,
) -> Any:
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
    stack: Stack,
    U: Any,
    A: Any,
    alpha: FloatArray,
    penalty: Penalty,
    updates: str,
) -> Any:
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
    from_unified: FloatArray = np.asarray(np.linalg.solve(curvature, 2 * alpha), np.float64)
    from_weights: FloatArray = np.asarray(np.linalg.solve(curvature, B), np.float64)
    rule = SplitRule(
        view_weights=alpha,
        penalty=B,
        exact=updates == "exact",
        from_unified=from_unified,
        from_weights=from_weights,
        symmetrize=updates == "published",
    )
    return stack.split(U, A, rule)
