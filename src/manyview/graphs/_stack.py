"""Neighbours -> similarity graphs, and the graphs of all views stacked on one sparse pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.graphs._knn import TIE, Neighbors
from manyview.graphs._row_block import (
    RowBlock,
    SplitRule,
    aligned_weights,
    gathered,
    starts,
    united_pattern,
)
from manyview.inputs._scaling import Rows
from manyview.spectral._spectrum import count_components

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
    columns = near.indices[:, :-1].astype(np.int32)
    pairs = (sq_norms[:, None], sq_norms[columns]) if weighting == "cosine" else None
    scale = 1.0
    if weighting == "heat":
        near_enough = np.sort(counted_distances(near.sq_distances))
        scale = float(near_enough.mean()) if len(near_enough) else 1.0
    weights = neighbor_weights(near.sq_distances, weighting, pairs, scale)
    return graph_of_neighbors(columns, weights, len(columns))


def counted_distances(sq_distances: FloatArray) -> FloatArray:
    """Squared distances of the neighbours that count, from those of k + 1."""
    return sq_distances[:, :-1][_gain(sq_distances) > 0]


def _gain(sq_distances: FloatArray) -> FloatArray:
    """How much closer than the last neighbour the others are; 0 for those tied with it."""
    boundary = sq_distances[:, -1:]
    gain = boundary - sq_distances[:, :-1]
    gain[gain <= TIE * boundary] = 0.0
    return np.asarray(gain)


def neighbor_weights(
    sq_distances: FloatArray,
    weighting: str,
    sq_norm_pairs: tuple[FloatArray, FloatArray] | None,
    scale: float,
) -> FloatArray:
    """(n, k): weights of the k nearest neighbours, before rows are scaled to sum 1.

    Parameters
    ----------
    sq_distances : array of shape (n, k + 1)
    sq_norm_pairs : squared norms of the samples (n, 1) and of their neighbours (n, k), for "cosine"
    scale : the mean of `counted_distances` over the view, for "heat"
    """
    gain, nearest = _gain(sq_distances), sq_distances[:, :-1]
    if weighting == "adaptive":
        return gain
    if sq_norm_pairs is None:
        return np.where(gain > 0, _falling(weighting, nearest, scale), 0.0)
    own, theirs = sq_norm_pairs
    return np.where(gain > 0, _cosines((own + theirs - nearest) / 2, own * theirs), 0.0)


def graph_of_neighbors(columns: IntArray, weights: FloatArray, n_samples: int) -> csr_array:
    """Rows of a graph from neighbours (n, k); they sum to 1 or are empty."""
    n, k = columns.shape
    row_starts = np.arange(0, n * k + 1, k, dtype=np.int32 if n * k < 2**31 else np.int64)
    graph = csr_array((weights.ravel(), columns.ravel(), row_starts), shape=(n, n_samples))
    return _rows_to_one(graph)


def complete_graph(rows: Rows, weighting: str) -> csr_array:
    """Graph of every pair of different samples; rows sum to 1 or are empty.

    All N^2 weights are stored: for small N only.
    """
    products = rows.inner_products(slice(None))
    norms = rows.sq_norms()
    distances = np.maximum(norms[:, None] + norms - 2 * products, 0.0)
    n = len(norms)
    scale = distances.sum() / (n * (n - 1))
    if weighting == "cosine":
        weights = _cosines(products, norms[:, None] * norms)
    else:
        weights = _falling(weighting, distances, scale)
    np.fill_diagonal(weights, 0.0)
    return _rows_to_one(csr_array(weights))


def spread_graph(graph: csr_array, own: IntArray, n: int) -> csr_array:
    """A graph between some of n samples, in ascending order, as one between all."""
    lengths = np.zeros(n, dtype=np.int64)
    lengths[own] = np.diff(graph.indptr)
    columns = own.astype(graph.indices.dtype)[graph.indices]
    return csr_array((graph.data, columns, starts(lengths)), shape=(n, n))


def given_graph(matrix: FloatArray | csr_array, order: IntArray) -> csr_array:
    """A graph the user made, used as it is but for rows that sum to more than 1: they are scaled
    to 1. A row that sums to less stays so: the view says less about that sample.

    Rows and columns come in the given order of the samples.
    """
    return _rows_to_one(reordered(csr_array(matrix), order), only_above=1.0)


def _falling(weighting: str, distances: FloatArray, scale: float) -> FloatArray:
    """Weights that fall with distance, or not at all."""
    if weighting == "binary":
        return np.ones_like(distances)
    return np.exp(-distances / (2 * scale if scale > 0 else 1.0))


def _cosines(products: FloatArray, sq_norm_pairs: FloatArray) -> FloatArray:
    """Cosines of at least 0, from inner products; 0 where a row has no length."""
    lengths = np.sqrt(sq_norm_pairs)
    cosines = np.divide(products, lengths, np.zeros_like(products), where=lengths > 0)
    return np.maximum(cosines, 0)


def _rows_to_one(graph: csr_array, only_above: float = 0.0) -> csr_array:
    """Scale rows to sum 1, in place: those whose sum is above the given one."""
    sums = graph.sum(axis=1)
    graph.data /= np.repeat(np.where(sums > only_above, sums, 1.0), np.diff(graph.indptr))
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph


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
