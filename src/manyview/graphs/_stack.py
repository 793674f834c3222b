"""The graphs of all views stacked on one sparse pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.graphs._components import count_components
from manyview.graphs._row_block import (
    RowBlock,
    SplitRule,
    aligned_weights,
    gathered,
    reordered,
    united_pattern,
)


@dataclass(frozen=True, kw_only=True)
class GraphStack(RowBlock):
    """The graphs of V views on one sparse pattern, all of their rows.

    What comes in at a row went out at another of them: `arrived` values are the values themselves.

    Attributes
    ----------
    order : integer array of shape (n_samples,), optional
        The sample in each row; None for the samples' own order.
    present : boolean array of shape (n_samples, V), optional
        Whether the view has the sample of that row; None where all have all.
    """

    order: IntArray | None = None
    present: BoolArray | None = None

    def transposed(self, values: FloatArray) -> FloatArray:
        """The value of (j, i) at the place of (i, j)."""
        return gathered(values, self.mirror)

    def matrix(self, values: FloatArray) -> csr_array:
        """Values on the pattern as a matrix between samples, without stored zeros."""
        graph = self.on_pattern(np.ascontiguousarray(values))
        if self.order is not None:
            return reordered(graph, np.argsort(self.order))
        graph = graph.copy()
        graph.eliminate_zeros()
        return graph

    def by_sample(self, rows: NDArray[Any]) -> NDArray[Any]:
        """One entry a row -> one entry a sample."""
        return rows if self.order is None else rows[np.argsort(self.order)]

    def parts(self) -> FloatArray:
        """The consistent parts to begin with: all of it."""
        return self.weights

    def unify(
        self,
        parts: FloatArray,
        F: FloatArray,
        shares: FloatArray,
        pulls: float | FloatArray,
        row_factors: float | FloatArray = 1.0,
    ) -> FloatArray:
        """One graph from parts (V, nnz), as `unify_rows` says."""
        factors = np.broadcast_to(row_factors, self.n_samples).astype(np.float64)
        pulls = np.broadcast_to(pulls, self.n_samples).astype(np.float64)
        return self.unify_rows(parts, F, shares, pulls, factors)

    def symmetric(self, values: FloatArray, kind: type = np.float64) -> csr_array:
        """(U + U') / 2 for U with the given values, without stored zeros, rows as they lie here."""
        return self.symmetric_rows(values, values, kind)

    def split(self, U: FloatArray, parts: FloatArray, rule: SplitRule) -> FloatArray:
        """The consistent parts, written over those of the round before, unless that are the
        stack's own weights."""
        if parts is self.weights:
            parts = parts.copy(order="F")
        self.split_rows(U, U, rule, parts)
        return parts

    def starting_row_misfits(self, U: FloatArray) -> FloatArray:
        return self.starting_misfits(U, U)

    def n_pieces(self, parts: FloatArray) -> int:
        """Connected components of all that the parts still have."""
        return count_components(self.symmetric(parts.max(axis=0)))


def stack_graphs(
    graphs: Sequence[csr_array],
    order: IntArray | None = None,
    present: BoolArray | None = None,
) -> GraphStack:
    """Put graphs with sorted columns and positive weights on their common pattern.

    With an `order` of the samples, rows and columns are laid out in it. One in which samples that
    are close in the graphs are close in memory makes all work on large graphs faster.
    """
    from manyview import _kernels

    if order is not None:
        graphs = [reordered(graph, order) for graph in graphs]
        present = None if present is None else present[order]
    indptr, indices = united_pattern(graphs)
    weights = aligned_weights(indptr, indices, graphs)
    n = len(indptr) - 1
    places = np.arange(len(indices), dtype=indices.dtype)
    columns = csr_array((places, indices, indptr), shape=(n, n)).tocsc()
    mirror = np.empty_like(indices)
    _kernels.find_mirrors(indptr, indices, mirror)
    return GraphStack(
        n_samples=n,
        first=0,
        indptr=indptr,
        indices=indices,
        weights=weights,
        mirror=mirror,
        into=(columns.indptr, columns.indices, columns.data),
        weights_there=weights,
        order=order,
        present=present,
    )
