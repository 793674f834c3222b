"""Neighbours -> similarity graphs, and the graphs of all views stacked on one sparse pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.neighbors import TIE, Neighbors
from manyview.scaling import Rows

WEIGHTINGS = ("adaptive", "binary", "cosine", "heat")


def neighbor_graph(near: Neighbors, weighting: str, sq_norms: FloatArray) -> csr_array:
    """Directed graph of the k nearest neighbours, from k + 1; rows sum to 1 or are empty.

    A neighbour counts when it is closer than the (k+1)-th. Those tied with it are left out, all of
    them: which of several equals comes k-th would otherwise depend on the order of the samples.

    Parameters
    ----------
    near : the k + 1 nearest neighbours
    weighting : {"adaptive", "binary", "cosine", "heat"}
        "adaptive" is s_ij proportional to d_(k+1) - d_ij (the paper's SIG graph); "binary" is 1;
        "cosine" the cosine, at least 0; "heat" exp(-d_ij / (2 t)), t the mean squared distance
        between neighbours in the view.
    sq_norms : squared norms of the samples' rows
    """
    nearest, boundary = near.sq_distances[:, :-1], near.sq_distances[:, -1:]
    columns = near.indices[:, :-1].astype(np.int32)
    gain = boundary - nearest
    gain[gain <= TIE * boundary] = 0.0
    if weighting == "adaptive":
        weights = gain
    else:
        pairs = sq_norms[:, None] * sq_norms[columns]
        products = (sq_norms[:, None] + sq_norms[columns] - nearest) / 2
        scale = np.sort(nearest[gain > 0]).mean() if (gain > 0).any() else 1.0
        weights = np.where(gain > 0, _weigh(weighting, nearest, products, pairs, scale), 0.0)
    n, k = columns.shape
    starts = np.arange(0, n * k + 1, k, dtype=np.int32 if n * k < 2**31 else np.int64)
    return _rows_to_one(csr_array((weights.ravel(), columns.ravel(), starts), shape=(n, n)))


def complete_graph(rows: Rows, weighting: str) -> csr_array:
    """Graph of every pair of different samples; rows sum to 1 or are empty.

    All N^2 weights are stored: for small N only.
    """
    products = rows.inner_products(slice(None))
    norms = rows.sq_norms()
    distances = np.maximum(norms[:, None] + norms - 2 * products, 0.0)
    n = len(norms)
    scale = distances.sum() / (n * (n - 1))
    weights = _weigh(weighting, distances, products, norms[:, None] * norms, scale)
    np.fill_diagonal(weights, 0.0)
    return _rows_to_one(csr_array(weights))


def spread_graph(graph: csr_array, own: IntArray, n: int) -> csr_array:
    """A graph between some of n samples, in ascending order, as one between all."""
    lengths = np.zeros(n, dtype=np.int64)
    lengths[own] = np.diff(graph.indptr)
    columns = own.astype(graph.indices.dtype)[graph.indices]
    return csr_array((graph.data, columns, _starts(lengths)), shape=(n, n))


def given_graph(matrix: FloatArray | csr_array, order: IntArray) -> csr_array:
    """A graph the user made, used as it is but for rows that sum to more than 1: they are scaled
    to 1. A row that sums to less stays so: the view says less about that sample.

    Rows and columns come in the given order of the samples.
    """
    return _rows_to_one(reordered(csr_array(matrix), order), only_above=1.0)


def _weigh(
    weighting: str,
    distances: FloatArray,
    products: FloatArray,
    sq_norm_pairs: FloatArray,
    scale: float,
) -> FloatArray:
    if weighting == "binary":
        return np.ones_like(distances)
    if weighting == "cosine":
        lengths = np.sqrt(sq_norm_pairs)
        return np.maximum(
            np.divide(products, lengths, np.zeros_like(products), where=lengths > 0), 0
        )
    return np.exp(-distances / (2 * scale if scale > 0 else 1.0))


def _rows_to_one(graph: csr_array, only_above: float = 0.0) -> csr_array:
    """Scale rows to sum 1, in place: those whose sum is above the given one."""
    sums = graph.sum(axis=1)
    graph.data /= np.repeat(np.where(sums > only_above, sums, 1.0), np.diff(graph.indptr))
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph


@dataclass(frozen=True)
class GraphStack:
    """The graphs of V views on one sparse pattern, the union of theirs.

    Attributes
    ----------
    indptr, indices : the pattern as CSR, columns sorted
    mirror : integer array of shape (nnz,)
        The place of (j, i) for the entry (i, j), or -1 where the pattern has none.
    weights : array of shape (V, nnz)
        The S_v of the paper; 0 where another view has an edge and this one has not. In Fortran
        order.
    into : the pattern as CSC
        Column starts, rows, and the place of each entry in the CSR pattern.
    order : integer array of shape (n_samples,), optional
        The sample in each row; None for the samples' own order.
    present : boolean array of shape (n_samples, V), optional
        Whether the view has the sample of that row; None where all have all.
    """

    indptr: IntArray
    indices: IntArray
    mirror: IntArray
    weights: FloatArray
    into: tuple[IntArray, IntArray, IntArray]
    order: IntArray | None = None
    present: BoolArray | None = None

    @property
    def n_samples(self) -> int:
        return len(self.indptr) - 1

    def over_samples(self, rows: FloatArray) -> FloatArray:
        """Sums of (n_samples, V) over the samples. A view that lacks some is not to gain or lose
        by that: the sum over those it has counts for all."""
        if self.present is None:
            return np.asarray(rows.sum(axis=0))
        counts = self.present.sum(axis=0)
        return np.asarray((rows * self.present).sum(axis=0) * (self.n_samples / counts))

    def row_sums(self, values: FloatArray) -> FloatArray:
        return np.asarray(self._on_pattern(values).sum(axis=1))

    def mean(self) -> FloatArray:
        """The mean of the views' graphs, rows scaled to sum 1."""
        mean: FloatArray = self.weights.mean(axis=0)
        sums = self.row_sums(mean)
        mean /= np.repeat(np.where(sums > 0, sums, 1.0), np.diff(self.indptr))
        return mean

    def transposed(self, values: FloatArray) -> FloatArray:
        """The value of (j, i) at the place of (i, j)."""
        return _gathered(values, self.mirror)

    def matrix(self, values: FloatArray) -> csr_array:
        """Values on the pattern as a matrix between samples, without stored zeros."""
        graph = self._on_pattern(np.ascontiguousarray(values))
        if self.order is not None:
            return reordered(graph, np.argsort(self.order))
        graph = graph.copy()
        graph.eliminate_zeros()
        return graph

    def by_sample(self, rows: NDArray[Any]) -> NDArray[Any]:
        """One entry a row -> one entry a sample."""
        return rows if self.order is None else rows[np.argsort(self.order)]

    def speaks(self) -> BoolArray:
        """(n_samples, V): whether the view has any edge from that sample."""
        rows = [self.row_sums(np.ascontiguousarray(view)) > 0 for view in self.weights]
        return np.array(rows).T

    def unify(
        self,
        parts: FloatArray,
        F: FloatArray,
        shares: FloatArray,
        pulls: float | FloatArray,
        row_factors: float | FloatArray = 1.0,
    ) -> FloatArray:
        """One graph from parts (V, nnz): each row the projection of factor_i sum_v shares_v a_v,i
        - pull_i ||f_i - f_j||^2 on the simplex."""
        from manyview import _kernels

        factors = np.broadcast_to(row_factors, self.n_samples).astype(np.float64)
        pulls = np.broadcast_to(pulls, self.n_samples).astype(np.float64)
        # numpy's memory comes in large pages, numba's does not; edges are looked up everywhere.
        U = np.empty(len(self.indices))
        _kernels.unify(self.indptr, self.indices, parts, F, shares, factors, pulls, U)
        return U

    def symmetric(self, values: FloatArray, kind: type = np.float64) -> csr_array:
        """(U + U') / 2 for U with the given values, without stored zeros, rows as they lie here."""
        from manyview import _kernels

        into_indptr, into_rows, into_places = self.into
        incoming = _gathered(values, into_places)
        pattern = (self.indptr, self.indices, values, into_indptr, into_rows, incoming)
        indptr = _starts(_kernels.symmetric_row_lengths(*pattern))
        indices = np.empty(indptr[-1], dtype=indptr.dtype)
        data: Any = np.empty(len(indices), dtype=kind)
        _kernels.fill_symmetric(*pattern, indptr, indices, data)
        return csr_array((data, indices, indptr), shape=(self.n_samples, self.n_samples))

    def _on_pattern(self, values: FloatArray) -> csr_array:
        shape = (self.n_samples, self.n_samples)
        return csr_array((values, self.indices, self.indptr), shape=shape)


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
    indptr, indices = graphs[0].indptr, graphs[0].indices
    for graph in graphs[1:]:
        both = (indptr, indices, graph.indptr, graph.indices)
        indptr = _starts(_kernels.merged_row_lengths(*both))
        indices = np.empty(indptr[-1], dtype=indptr.dtype)
        _kernels.merge_columns(*both, indptr, indices)
    indptr, indices = _same_type(indptr, indices)
    # One entry's weights in all views lie side by side: that is how they are visited.
    weights = np.zeros((len(graphs), len(indices)), order="F")
    for view, graph in zip(weights, graphs, strict=True):
        own = _same_type(graph.indptr, graph.indices)
        _kernels.align_weights(indptr, indices, *own, graph.data, view)
    n = len(indptr) - 1
    places = np.arange(len(indices), dtype=indices.dtype)
    columns = csr_array((places, indices, indptr), shape=(n, n)).tocsc()
    mirror = np.empty_like(indices)
    _kernels.find_mirrors(indptr, indices, mirror)
    into = (columns.indptr, columns.indices, columns.data)
    return GraphStack(indptr, indices, mirror, weights, into, order, present)


def _gathered(values: FloatArray, places: IntArray) -> FloatArray:
    """values[places], 0 where the place is negative."""
    from manyview import _kernels

    out = np.empty_like(values)
    _kernels.gather(values, places, out)
    return out


def reordered(graph: csr_array, order: IntArray) -> csr_array:
    """Rows and columns in another order, without stored zeros."""
    from manyview import _kernels

    number = np.empty(len(order), dtype=graph.indices.dtype)
    number[order] = np.arange(len(order))
    indptr = _starts(_kernels.count_nonzero(graph.indptr, graph.data)[order])
    indices = np.empty(indptr[-1], dtype=graph.indices.dtype)
    data = np.empty(len(indices))
    _kernels.permute(graph.indptr, graph.indices, graph.data, order, number, indptr, indices, data)
    return csr_array((data, indices, indptr), shape=graph.shape)


def _starts(lengths: IntArray) -> IntArray:
    """Row starts from row lengths, in the narrowest type that holds them."""
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts.astype(np.int32) if starts[-1] < 2**31 else starts


def _same_type(indptr: IntArray, indices: IntArray) -> tuple[IntArray, IntArray]:
    dtype = np.int32 if len(indices) < 2**31 else np.int64
    return indptr.astype(dtype, copy=False), indices.astype(dtype, copy=False)
