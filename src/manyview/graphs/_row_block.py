"""What the fusion does to some rows of the views' graphs.

A row needs its own edges, a row of the embedding for each of its samples' neighbours, and, where
edges are taken both ways, the values of the edges that come in. Whether the rows are all there are
or a worker's share of them makes no difference to what is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.graphs._confidence import own_shares


@dataclass(frozen=True)
class SplitRule:
    """How U and the views' graphs make the consistent parts; see `consistent_parts`.

    Attributes
    ----------
    view_weights : alpha
    penalty : B
    exact : whether the parts are the minimisers in the box 0 <= A_v <= S_v
    from_unified, from_weights : else they are from_unified_v U + sum_w from_weights_vw S_w, cut
    symmetrize : whether the larger of both directions counts before the cut from above
    """

    view_weights: FloatArray
    penalty: FloatArray
    exact: bool
    from_unified: FloatArray
    from_weights: FloatArray
    symmetrize: bool


@dataclass(frozen=True, kw_only=True)
class RowBlock:
    """Rows of the graphs of V views on one sparse pattern, the union of theirs.

    Values of edges are arrays in the order of the pattern. Those of the edges that come in, from
    rows that may lie elsewhere, are called `arrived`, whatever their order.

    Attributes
    ----------
    n_samples : int
        Columns; all samples there are.
    first : int
        Number of the first row.
    indptr, indices : the pattern as CSR, columns sorted
    weights : array of shape (V, nnz)
        The S_v of the paper; 0 where another view has an edge and this one has not. In Fortran
        order.
    mirror : integer array of shape (nnz,)
        The place of (j, i) among what arrived for the entry (i, j), or -1 where the pattern has
        none.
    into : the edges that come in, as CSC
        Starts of the columns that these rows are, rows, and the place of each among what arrived.
    weights_there : array of shape (V, n_arriving)
        The weights of the edges that come in.
    """

    n_samples: int
    first: int
    indptr: IntArray
    indices: IntArray
    weights: FloatArray
    mirror: IntArray
    into: tuple[IntArray, IntArray, IntArray]
    weights_there: FloatArray

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_views(self) -> int:
        return len(self.weights)

    def on_pattern(self, values: FloatArray) -> csr_array:
        return csr_array((values, self.indices, self.indptr), shape=(self.n_rows, self.n_samples))

    def row_sums(self, values: FloatArray) -> FloatArray:
        return np.asarray(self.on_pattern(values).sum(axis=1))

    def said(self) -> FloatArray:
        """(n_rows, V): how much the edges of a row weigh in every view."""
        return np.array([self.row_sums(np.ascontiguousarray(view)) for view in self.weights]).T

    def apart(self, parts: FloatArray) -> FloatArray:
        """(n_rows, V): how much of that is inconsistent."""
        pairs = zip(self.weights, parts, strict=True)
        return np.array([self.row_sums(view - part) for view, part in pairs]).T

    def mean(self) -> FloatArray:
        """The mean of the views' graphs, rows scaled to sum 1."""
        mean: FloatArray = self.weights.mean(axis=0)
        sums = self.row_sums(mean)
        mean /= np.repeat(np.where(sums > 0, sums, 1.0), np.diff(self.indptr))
        return mean

    def speaks(self) -> BoolArray:
        """(n_rows, V): whether the view has any edge from that sample."""
        return self.said() > 0

    def unify_rows(
        self,
        parts: FloatArray,
        F: FloatArray,
        shares: FloatArray,
        pulls: FloatArray,
        row_factors: FloatArray,
    ) -> FloatArray:
        """Each row the projection of factor_i sum_v shares_v a_v,i - pull_i ||f_i - f_j||^2 on the
        simplex; F has all samples."""
        from manyview import _kernels

        # numpy's memory comes in large pages, numba's does not; edges are looked up everywhere.
        U = np.empty(len(self.indices))
        _kernels.unify(
            self.indptr, self.indices, self.first, parts, F, shares, row_factors, pulls, U
        )
        return U

    def symmetric_rows(
        self, values: FloatArray, arrived: FloatArray, kind: type = np.float64
    ) -> csr_array:
        """Rows of (U + U') / 2, without stored zeros."""
        from manyview import _kernels

        into_indptr, into_rows, into_places = self.into
        pattern = (self.indptr, self.indices, values, into_indptr, into_rows)
        incoming = gathered(arrived, into_places)
        indptr = starts(_kernels.symmetric_row_lengths(*pattern, incoming))
        indices = np.empty(indptr[-1], dtype=indptr.dtype)
        data: Any = np.empty(len(indices), dtype=kind)
        _kernels.fill_symmetric(*pattern, incoming, indptr, indices, data)
        return csr_array((data, indices, indptr), shape=(self.n_rows, self.n_samples))

    def split_rows(
        self, U: FloatArray, arrived: FloatArray, rule: SplitRule, parts: FloatArray
    ) -> None:
        """Write the consistent parts over those of the round before."""
        from manyview import _kernels

        if rule.exact:
            _kernels.split_exact(
                self.indptr, self.weights, U, rule.view_weights, rule.penalty, parts
            )
            return
        _kernels.split_linear(
            self.indptr, self.mirror, self.weights, U, rule.from_unified, rule.from_weights,
            rule.symmetrize, arrived, self.weights_there, parts,
        )  # fmt: skip

    def row_misfits(self, U: FloatArray, parts: FloatArray) -> FloatArray:
        """(n_rows, V): ||u_i - a_v,i||^2."""
        from manyview import _kernels

        return _kernels.row_misfits(self.indptr, U, parts)

    def starting_misfits(self, U: FloatArray, arrived: FloatArray) -> FloatArray:
        """(n_rows, V): the same of (U + U') / 2 and S_v; half of (j, i) may lie outside of the
        pattern."""
        alone = np.ones(len(arrived), dtype=bool)
        alone[self.mirror[self.mirror >= 0]] = False
        into_indptr, _, places = self.into
        rows = np.repeat(np.arange(self.n_rows), np.diff(into_indptr))
        halves = np.where(alone, arrived**2, 0.0)[places] / 4
        outside = np.bincount(rows, halves, minlength=self.n_rows)
        both = (U + gathered(arrived, self.mirror)) / 2
        return self.row_misfits(both, self.weights) + outside[:, None]

    def inconsistency(self, parts: FloatArray) -> FloatArray:
        """(V, V): <E_v, E_w> over these rows, E_v = S_v - A_v."""
        from manyview import _kernels

        products = _kernels.row_inconsistency_products(self.indptr, self.weights, parts)
        return np.asarray(products.sum(axis=0))

    def confidence(
        self, labels: IntArray, view_weights: FloatArray, trust: FloatArray
    ) -> FloatArray:
        """The share of each row's votes for its own cluster; all samples have labels and trust."""
        graphs = [self.on_pattern(np.ascontiguousarray(view)) for view in self.weights]
        return own_shares(graphs, labels, view_weights, trust, self.first)

    def variation(self, U: FloatArray, F: FloatArray) -> float:
        """sum_ij u_ij ||f_i - f_j||^2 over these rows."""
        from manyview import _kernels

        return float(_kernels.row_variations(self.indptr, self.indices, self.first, U, F).sum())


def united_pattern(graphs: Sequence[csr_array]) -> tuple[IntArray, IntArray]:
    """CSR starts and sorted columns of all that some graphs with sorted columns have."""
    from manyview import _kernels

    indptr, indices = graphs[0].indptr, graphs[0].indices
    for graph in graphs[1:]:
        both = (indptr, indices, graph.indptr, graph.indices)
        indptr = starts(_kernels.merged_row_lengths(*both))
        indices = np.empty(indptr[-1], dtype=indptr.dtype)
        _kernels.merge_columns(*both, indptr, indices)
    return same_type(indptr, indices)


def aligned_weights(indptr: IntArray, indices: IntArray, graphs: Sequence[csr_array]) -> FloatArray:
    """(V, nnz): the weights of graphs on their united pattern."""
    from manyview import _kernels

    # One entry's weights in all views lie side by side: that is how they are visited.
    weights = np.zeros((len(graphs), len(indices)), order="F")
    for view, graph in zip(weights, graphs, strict=True):
        own = same_type(graph.indptr, graph.indices)
        _kernels.align_weights(indptr, indices, *own, graph.data, view)
    return weights


def gathered(values: FloatArray, places: IntArray) -> FloatArray:
    """values[places], 0 where the place is negative."""
    from manyview import _kernels

    out = np.empty(len(places), dtype=values.dtype)
    _kernels.gather(values, places, out)
    return out


def starts(lengths: IntArray) -> IntArray:
    """Row starts from row lengths, in the narrowest type that holds them."""
    found = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=found[1:])
    return found.astype(np.int32) if found[-1] < 2**31 else found


def same_type(indptr: IntArray, indices: IntArray) -> tuple[IntArray, IntArray]:
    dtype = np.int32 if len(indices) < 2**31 else np.int64
    return indptr.astype(dtype, copy=False), indices.astype(dtype, copy=False)


def reordered(graph: csr_array, order: IntArray) -> csr_array:
    """Rows and columns in another order, without stored zeros."""
    from manyview import _kernels

    number = np.empty(len(order), dtype=graph.indices.dtype)
    number[order] = np.arange(len(order))
    indptr = starts(_kernels.count_nonzero(graph.indptr, graph.data)[order])
    indices = np.empty(indptr[-1], dtype=graph.indices.dtype)
    data = np.empty(len(indices))
    _kernels.permute(graph.indptr, graph.indices, graph.data, order, number, indptr, indices, data)
    return csr_array((data, indices, indptr), shape=graph.shape)
