"""CI-GMVC, the paper's method: Algorithm 1, its steps by equation number, and the estimator.

Symbols are the paper's: S_v the graph of view v, A_v its consistent part, E_v = S_v - A_v the
inconsistent rest, U the unified graph, F the embedding, alpha the view weights, lambda the weight
of the rank constraint. All graphs are values on the one sparse pattern of a stack: an edge that no
S_v has stays 0 in every round.
"""

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from manyview._typing import BoolArray, FloatArray
from manyview.graphs import FitSize, MeanGraph, Neighbors, Stack
from manyview.inputs import Scaling, ViewColumns
from manyview.methods._base import MultiViewClusterer
from manyview.methods._constraints import COMMON, GRAPH, LOOP, real
from manyview.methods._docs import shared_docs
from manyview.methods._fusion_results import (
    edge_disagreement,
    fusion_results,
    inconsistent_graphs,
)
from manyview.methods._fusion_steps import (
    InitialRowResiduals,
    ProjectRows,
    RowResiduals,
    SplitExact,
    SplitLinear,
    lookup_copy,
    unified_spectrum,
)
from manyview.methods._loop_state import Fusion, LoopState
from manyview.methods._memory_model import fusion_memory
from manyview.methods._observer import LoopObserver
from manyview.methods._predict_mixin import PredictMixin
from manyview.runtime import Estimate, Run
from manyview.spectral import Spectrum

# Outside this range lambda no longer changes U.
_LAMBDA_RANGE = (1e-150, 1e150)


@dataclass(frozen=True)
class Rules:
    """How a method runs Algorithm 1: CI-GMVC, GBS (without penalty), or by `AngularRules`."""

    # (beta, gamma): prices of the inconsistent parts; None where graphs are not split.
    penalty: tuple[float, float] | None
    updates: str  # {"published", "paper", "exact"}
    lambda_init: float  # as in `CIGMVC`
    max_iter: int
    tol: float

    #: Whether F comes from the normalised Laplacian.
    normalized: ClassVar[bool] = False

    def B(self, n_views: int) -> FloatArray | None:  # noqa: N802 (the paper's symbol)
        """beta on the diagonal, gamma elsewhere."""
        if self.penalty is None:
            return None
        beta, gamma = self.penalty
        return np.where(np.eye(n_views, dtype=bool), beta, gamma)

    def embedding(self, spectrum: Spectrum) -> FloatArray:
        """F from the eigenvectors of the Laplacian of U."""
        return spectrum.embedding

    def row_factor(self, stack: Stack) -> float | FloatArray:
        """Factor of the views' mean in each row of U."""
        return 1.0


def clusters_by_rules(stack: Stack, run: Run, n_clusters: int, rules: Rules) -> dict[str, Any]:
    """Attributes of a fitted estimator by name."""
    fusion = learn_unified_graph(stack, n_clusters, rules, run)
    return fusion_results(stack, fusion, n_clusters, run, splits=rules.penalty is not None)


def learn_unified_graph(stack: Stack, n_clusters: int, rules: Rules, run: Run) -> Fusion:
    """Algorithm 1: learn U from the consistent parts until it has `n_clusters` components.

    The paper leaves open how lambda is set; as in the published program it doubles while U has too
    few components and halves when it has too many.
    """
    B, row_factor = rules.B(stack.n_views), rules.row_factor(stack)
    max_iter = int(rules.max_iter)  # a numpy integer of few bits could overflow
    observe = LoopObserver(stack, B, run)
    A, F, residuals, lambda_, warm_start = observe.resume() or _initial_state(
        stack, n_clusters, rules, run, observe
    )
    for number in range(len(observe.history), max_iter + 1):
        # Line 4: alpha_v = 1 / (2 ||U - A_v||_F).
        alpha = view_weights(residuals)
        # Line 5: U by equation 4.
        U = unified_graph(stack, A, F, alpha, lambda_, rules.updates, row_factor)
        # Line 6: F by equation 5. C eigenvalues 0 mean that U has C components.
        spectrum = unified_spectrum(stack, U, n_clusters, run, rules.normalized, warm_start)
        too_few = spectrum.sum_c > rules.tol
        too_many = not too_few and spectrum.sum_c1 < rules.tol
        done = not (too_few or too_many)
        if too_many:  # F stays that of the round before
            lambda_ /= 2
        else:
            F = rules.embedding(spectrum)
            lambda_ *= 2 if too_few else 1
        # Line 7: A_v by equations 6 to 8.
        if B is not None and not done:
            A = consistent_parts(stack, U, A, alpha, B, rules.updates)
        residuals = squared_residuals(stack, U, A)
        # Line 8: repeat until U has converged.
        stop_reason = None
        if done:
            exactly = spectrum.n_components == n_clusters
            stop_reason = "components" if exactly else "eigenvalues"
        elif too_many and B is not None and stack.n_components(A) > n_clusters:
            stop_reason = "too_many"  # edges that A has lost do not come back
        elif not _LAMBDA_RANGE[0] < lambda_ < _LAMBDA_RANGE[1]:
            stop_reason = "lambda_limit"
        elif number == max_iter:
            stop_reason = "max_iter"
        warm_start = spectrum.warm_start or warm_start
        observe(LoopState(A, F, residuals, lambda_, warm_start), alpha, U, spectrum, stop_reason)
        if stop_reason is not None:
            break
    return Fusion(U, A, alpha, F, spectrum, observe.history, str(stop_reason))


def _initial_state(
    stack: Stack, n_clusters: int, rules: Rules, run: Run, observe: LoopObserver
) -> LoopState:
    """Lines 1 to 3: A_v = S_v, U the symmetrised mean of the S_v, F by equation 5."""
    U = stack.edges(MeanGraph())
    spectrum = unified_spectrum(stack, U, n_clusters, run, rules.normalized, None)
    residuals = _over_samples(stack, stack.rows(InitialRowResiduals(), U))
    F, lambda_ = rules.embedding(spectrum), float(rules.lambda_init)
    state = LoopState(stack.view_graphs, F, residuals, lambda_, spectrum.warm_start)
    observe(state, np.full(stack.n_views, 1 / stack.n_views), U, spectrum)
    return state


def view_weights(residuals: FloatArray) -> FloatArray:
    """alpha_v = 1 / (2 ||U - A_v||_F), large but finite for a view that U equals."""
    return np.asarray(0.5 / np.maximum(np.sqrt(residuals), np.finfo(np.float64).eps))


def squared_residuals(stack: Stack, U: Any, A: Any) -> FloatArray:
    """||U - A_v||_F^2 of every view."""
    return _over_samples(stack, stack.rows(RowResiduals(), U, A))


def unified_graph(
    stack: Stack,
    A: Any,
    F: FloatArray,
    alpha: FloatArray,
    lambda_: float,
    updates: str,
    row_factor: float | FloatArray = 1.0,
) -> Any:
    """Equation 4, row by row: as published, or with "exact" updates the minimiser of equation 3.

    Views that lack a sample take no part in its row.
    """
    if updates == "exact":
        shares, pull = alpha / alpha.sum(), lambda_ / (2 * alpha.sum())
    else:
        n_views = len(alpha)
        shares, pull = np.full(n_views, 1 / n_views), lambda_ / 2 * np.mean(1 / (n_views * alpha))
    scaling = _present_scaling(stack.present, shares)
    step = ProjectRows(
        lookup_copy(F, stack.n_samples), pull * scaling, scaling * row_factor, shares
    )
    return stack.edges(step, A)


def consistent_parts(
    stack: Stack, U: Any, A: Any, alpha: FloatArray, B: FloatArray, updates: str
) -> Any:
    """Equations 6 to 8: the part of every S_v that agrees with U and the other views.

    "published" takes max(A_v, A_v') before it cuts at S_v, "paper" does not; "exact" minimises
    equation 3 in the box 0 <= A_v <= S_v. Written over `A`, unless that is S.
    """
    C = (1 if updates == "exact" else 2) * np.diag(alpha) + B
    if np.linalg.eigvalsh(C)[0] <= 0:
        beta, gamma = B[0, 0], B[0, -1]
        limit = beta + np.diag(C - B).min()
        raise ValueError(
            f"gamma={gamma:g} is too large for beta={beta:g}: the update of the "
            f"consistent parts has no minimum at view weights {np.round(alpha, 4).tolist()}; "
            f"expected gamma of at most about {limit:.2g}"
        )
    if updates == "exact":
        return stack.edges(SplitExact(alpha, B), U, A)
    from_unified = np.asarray(np.linalg.solve(C, 2 * alpha), np.float64)
    from_views = np.asarray(np.linalg.solve(C, B), np.float64)
    return stack.edges(SplitLinear(from_unified, from_views, updates == "published"), U, A)


def _present_scaling(present: BoolArray | None, shares: FloatArray) -> float | FloatArray:
    """Factor per row that makes a weighted sum over all views a mean over those present."""
    if present is None:
        return 1.0
    totals = present @ shares
    return np.where(present.all(axis=1) | (totals == 0), 1.0, 1 / np.where(totals > 0, totals, 1))


def _over_samples(stack: Stack, rows: FloatArray) -> FloatArray:
    """Sums of (n_samples, V) over the samples; a view's sum over its present samples is scaled to
    all samples, so that a view neither gains nor loses by missing ones."""
    if stack.present is None:
        return stack.share.sum(rows)
    counts = stack.share.sum(stack.present)
    return np.asarray(stack.share.sum(rows * stack.present) * (stack.n_samples / counts))


@shared_docs
@dataclass(eq=False, repr=False)
class CIGMVC(PredictMixin, MultiViewClusterer):
    """Consistency-aware and inconsistency-aware graph-based multi-view clustering.

    The nearest-neighbour graph S_v of every view is split into a part A_v that is consistent with
    the other views and an inconsistent rest E_v. One unified graph U is learned from the consistent
    parts until it has `n_clusters` connected components: the clusters.

    The defaults are those of the published program, which made the paper's tables.

    Parameters
    ----------
    {common}
    {graph}
    beta : float, default=1e-12
        Price of large inconsistent parts.
    gamma : float, default=1e-5
        Price of inconsistent parts that several views share. At the defaults neither price changes
        any labels of the paper's data sets: what matters is the box 0 <= A_v <= S_v. Prices matter
        from the size of the view weights on; from about gamma - beta = 2 min(alpha) the update has
        no minimum, and `fit` raises.
    updates : {"published", "paper", "exact"}, default="published"
        "published" follows the published program, which takes max(A_v, A_v') before cutting A_v at
        S_v; "paper" leaves that out, as the paper does. Both compute U and A_v approximately;
        "exact" minimises the paper's objective in each of them.
    {loop}

    Attributes
    ----------
    {learned}
    {fused}
    {disagreement}

    See Also
    --------
    AngularCIGMVC : Compares samples by angle; better on most real data.
    GBS : The same without the split.
    ConsensusGraph : The default method.

    References
    ----------
    M. Horie and H. Kasai, "Consistency-aware and inconsistency-aware graph-based multi-view
    clustering", EUSIPCO 2020.

    Examples
    --------
    >>> from manyview import CIGMVC
    >>> from manyview.datasets import make_conflict_views
    >>> data = make_conflict_views(random_state=0)
    >>> model = CIGMVC(n_clusters=4).fit(data.views)
    >>> model.labels_.shape
    (400,)
    >>> [round(float(graph.sum() / 400), 2) for graph in model.inconsistent_graphs_]
    [0.77, 0.55, 0.58]
    """

    _constraints = COMMON | GRAPH | LOOP | {"beta": real(0), "gamma": real(0)}
    _doc_page = "method.md"
    _takes_missing = True

    n_clusters: int | str = 8
    _: KW_ONLY
    n_neighbors: Neighbors = "auto"
    graph: str = "adaptive"
    neighbor_search: str = "auto"
    scaling: Scaling = "paper"
    views: ViewColumns = None
    beta: float = 1e-12
    gamma: float = 1e-5
    updates: str = "published"
    lambda_init: float = 1.0
    max_iter: int = 100
    tol: float = 1e-10
    random_state: Any = None
    verbose: int = 0

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        present: Any = None,
        checkpoint: str | Path | None = None,
        client: Any = None,
    ) -> Self:
        """Cluster the samples.

        Parameters
        ----------
        X : list, tuple or dict of 2-D tables, or one 2-D table
            Views of the same samples in the same order: arrays, scipy sparse matrices, pandas or
            polars data frames. The keys of a dict name the views. One table is cut into views by
            the parameter `views`, or is a single view. With ``graph="precomputed"`` each table is
            a square matrix of similarities. A row of NaN only is a sample that the view lacks; it
            is clustered from the views that have it.
        y : ignored
        present : boolean array of shape (n_samples, n_views), optional
            False where a view lacks a sample, whatever its row holds.
        checkpoint : path of a folder, optional
            Save progress there: the graph of every view, and the state of the loop as often as
            that takes a tenth of the time. The same fit started again with the same folder resumes
            there and gives the same result bit by bit. Needs a number for `random_state`.
            `clear_checkpoint` removes the files.
        client : distributed.Client, optional
            Fit on the workers of this Dask client. Views may then also be Dask arrays or data
            frames, or paths of Parquet files that the workers can read. Graphs stay on the workers
            and are discarded; labels, embedding and disagreement are kept.

        Returns
        -------
        self
        """
        with self._running() as run, self._backend(run, client, checkpoint) as backend:
            self._learned(
                backend.run_fit(
                    lambda: self._graphs(backend, self._read(backend, X, present)),
                    lambda stack: self._learn(stack, run),
                )
            )
        return self

    def _learn(self, stack: Stack, run: Run) -> dict[str, Any]:
        penalty = (float(self.beta), float(self.gamma))
        rules = Rules(penalty, self.updates, self.lambda_init, self.max_iter, self.tol)
        return dict(stack.compute(clusters_by_rules, run, self.n_clusters_, rules))

    edge_disagreement = edge_disagreement
    inconsistent_graphs_ = cached_property(inconsistent_graphs)

    def _memory(self, size: FitSize) -> Estimate:
        return fusion_memory(size, splits=True)
