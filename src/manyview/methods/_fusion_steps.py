"""Steps of the loop on the rows of the stacked graphs: what each computes, once for all stacks.

Symbols are the paper's: S_v the graph of view v, A_v its consistent part, E_v = S_v - A_v, U the
unified graph, F the embedding, alpha the view weights.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from manyview._typing import FloatArray
from manyview.graphs import BY_ROW, EVERYWHERE, RowBlock, Stack, Step, gathered
from manyview.runtime import Run
from manyview.spectral import Eigenpairs, Spectrum, cache_aligned, is_large, laplacian_spectrum


@dataclass(frozen=True)
class ProjectRows(Step):
    """Row i of U: the projection of factor_i sum_v share_v a_v,i - pull_i ||f_i - f_j||^2 on the
    simplex, over the columns in which some A_v is positive."""

    F: FloatArray = field(metadata=EVERYWHERE)
    pull: float | FloatArray = field(metadata=BY_ROW)
    factor: float | FloatArray = field(metadata=BY_ROW)
    view_shares: FloatArray = field()
    name: ClassVar[str] = "unify"

    def __call__(self, block: RowBlock, A: FloatArray) -> FloatArray:
        from manyview import _kernels

        factor, pull = (
            np.broadcast_to(values, block.n_rows).astype(np.float64)
            for values in (self.factor, self.pull)
        )
        # numpy allocates in large pages, numba does not; edges are looked up in any order.
        U = np.empty(len(block.indices), dtype=A.dtype)
        F = np.ascontiguousarray(self.F)
        _kernels.unify(
            block.indptr, block.indices, block.first, A, F, self.view_shares, factor, pull, U
        )
        return U


@dataclass(frozen=True)
class SplitExact(Step):
    """A_v that minimise alpha_v (u - a_v)^2 + e' B e per edge in the box 0 <= a_v <= s_v."""

    view_weights: FloatArray
    penalty: FloatArray
    name: ClassVar[str] = "split"
    overwrites: ClassVar[bool] = True

    def __call__(self, block: RowBlock, U: FloatArray, A: FloatArray) -> FloatArray:
        from manyview import _kernels

        _kernels.split_exact(block.indptr, block.weights, U, self.view_weights, self.penalty, A)
        return A


@dataclass(frozen=True)
class SplitLinear(Step):
    """A_v = from_unified_v U + sum_w from_views_vw S_w, cut to 0 <= A_v <= S_v.

    With `symmetrize` the larger of (i, j) and (j, i) counts before the cut at S_v.
    """

    from_unified: FloatArray
    from_views: FloatArray
    symmetrize: bool
    name: ClassVar[str] = "split"
    takes_incoming: ClassVar[bool] = True
    overwrites: ClassVar[bool] = True

    def __call__(
        self, block: RowBlock, U: FloatArray, incoming: FloatArray, A: FloatArray
    ) -> FloatArray:
        from manyview import _kernels

        _kernels.split_linear(
            block.indptr, block.reverse, block.weights, U, self.from_unified, self.from_views,
            self.symmetrize, incoming, block.incoming_weights, A,
        )  # fmt: skip
        return A


@dataclass(frozen=True)
class RowResiduals(Step):
    """(n_rows, V): ||u_i - a_v,i||^2."""

    name: ClassVar[str] = "residuals"

    def __call__(self, block: RowBlock, U: FloatArray, A: FloatArray) -> FloatArray:
        from manyview import _kernels

        return _kernels.row_misfits(block.indptr, U, A)


@dataclass(frozen=True)
class InitialRowResiduals(Step):
    """(n_rows, V): ||m_i - s_v,i||^2 of M = (U + U') / 2, which has edges outside the pattern."""

    name: ClassVar[str] = "residuals"
    takes_incoming: ClassVar[bool] = True

    def __call__(self, block: RowBlock, U: FloatArray, incoming: FloatArray) -> FloatArray:
        one_way = np.ones(len(incoming), dtype=bool)
        one_way[block.reverse[block.reverse >= 0]] = False
        starts_in, _, order_in = block.incoming
        rows = np.repeat(np.arange(block.n_rows), np.diff(starts_in))
        halves = np.where(one_way, incoming**2, 0.0)[order_in] / 4
        outside = np.bincount(rows, halves, minlength=block.n_rows)
        inside = (U + gathered(incoming, block.reverse)) / 2
        return RowResiduals()(block, inside, block.weights) + outside[:, None]


@dataclass(frozen=True)
class InconsistencyProducts(Step):
    """(V, V): <E_v, E_w>."""

    name: ClassVar[str] = "objective"

    def __call__(self, block: RowBlock, A: FloatArray) -> FloatArray:
        from manyview import _kernels

        products = _kernels.row_inconsistency_products(block.indptr, block.weights, A)
        return np.asarray(products.sum(axis=0))


@dataclass(frozen=True)
class EmbeddingVariation(Step):
    """sum_ij u_ij ||f_i - f_j||^2."""

    F: FloatArray = field(metadata=EVERYWHERE)
    name: ClassVar[str] = "objective"

    def __call__(self, block: RowBlock, U: FloatArray) -> float:
        from manyview import _kernels

        pattern, F = (block.indptr, block.indices, block.first), np.ascontiguousarray(self.F)
        return float(_kernels.row_variations(*pattern, U, F).sum())


@dataclass(frozen=True)
class InconsistentWeightByView(Step):
    """(n_rows, V): total weight of the inconsistent part of each row in each view."""

    name: ClassVar[str] = "labels"

    def __call__(self, block: RowBlock, A: FloatArray) -> FloatArray:
        pairs = zip(block.weights, A, strict=True)
        return np.array([block.row_sums(view - part) for view, part in pairs]).T


@dataclass(frozen=True)
class ExcessWeightByView(Step):
    """(n_rows, V): total weight of each row in each view that is above U."""

    name: ClassVar[str] = "labels"

    def __call__(self, block: RowBlock, U: FloatArray) -> FloatArray:
        above = (np.maximum(view - U, 0.0) for view in block.weights)
        return np.array([block.row_sums(values) for values in above]).T


def lookup_copy(F: FloatArray, n_samples: int) -> Any:
    """F as the rows of U look it up. For many samples that is single precision, padded to whole
    cache lines: F is not more exact than that there. `n_samples` are all, `F` may have some."""
    if not is_large(n_samples):
        return F
    padded = np.zeros((len(F), -16 * (-F.shape[1] // 16)), dtype=np.float32)
    padded[:, : F.shape[1]] = F
    return cache_aligned(padded, np.float32)


def unified_spectrum(
    stack: Stack,
    U: Any,
    n_clusters: int,
    run: Run,
    normalized: bool,
    warm_start: Eigenpairs | None,
) -> Spectrum:
    """Equation 5: the lowest eigenvectors of the Laplacian of (U + U') / 2."""
    dtype = np.float32 if is_large(stack.n_samples) else np.float64
    with run.stage("eigenvectors"):
        graph = stack.symmetric(U, dtype)
        return laplacian_spectrum(
            graph, n_clusters, run.rng, normalized=normalized, start=warm_start
        )
