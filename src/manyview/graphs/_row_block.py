"""Rows of the graphs of all views on one sparse pattern.

On one machine a block has all rows; on Dask each worker has one block. What is computed on a row
needs its own edges, the embedding of its neighbours and, for symmetric graphs, its incoming edges.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray

#: Weights between more samples than this are in single precision. Neighbours are approximate there.
SINGLE_ABOVE = 20_000
# Rows whose edges are handled together where every edge needs a number of its row.
_ROWS_AT_ONCE = 2**15


@dataclass(frozen=True, kw_only=True)
class RowBlock:
    """Rows of the graphs of V views on one sparse pattern: the union of their edges.

    Values of edges are arrays in the order of the pattern. Values of incoming edges, whose rows may
    be in another block, are separate arrays; on one machine they are the same array.
    """

    n_samples: int  # columns: all samples
    first: int  # index of the first row
    indptr: IntArray  # the pattern as CSR, columns sorted
    indices: IntArray
    weights: FloatArray  # (V, nnz): S_v of the paper; 0 where only other views have the edge
    # (nnz,): for the edge (i, j) the index of (j, i) among the incoming edges, -1 if there is none.
    reverse: IntArray
    # The incoming edges as CSC: column starts for these rows, source rows, and each edge's index
    # among the incoming values.
    incoming: tuple[IntArray, IntArray, IntArray]
    incoming_weights: FloatArray  # (V, n_incoming)

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_views(self) -> int:
        return len(self.weights)

    def as_matrix(self, values: FloatArray) -> csr_array:
        """Values on the pattern as a matrix that shares their memory."""
        return csr_array((values, self.indices, self.indptr), shape=(self.n_rows, self.n_samples))

    def row_sums(self, values: FloatArray) -> FloatArray:
        return np.asarray(self.as_matrix(values).sum(axis=1))

    def row_sums_by_view(self, values: FloatArray) -> FloatArray:
        """(n_rows, V): sums of the edges of each row in each view, from values (V, nnz)."""
        return np.array([self.row_sums(np.ascontiguousarray(view)) for view in values]).T

    def symmetric_rows(
        self, values: FloatArray, incoming: FloatArray, dtype: type = np.float64
    ) -> csr_array:
        """Rows of (U + U') / 2, without stored zeros."""
        starts_in, rows_in, order_in = self.incoming
        into = (starts_in, rows_in, gathered(incoming, order_in))
        return symmetric_sum((self.indptr, self.indices, values), into, self.n_samples, dtype)


def symmetric_sum(
    out: tuple[IntArray, IntArray, FloatArray],
    into: tuple[IntArray, IntArray, FloatArray],
    n_samples: int,
    dtype: type = np.float64,
) -> csr_array:
    """Rows of (U + U') / 2, without stored zeros, from the edges out of and into some samples.

    Edges are starts, other ends and values; the first have sorted columns, the others sorted rows.
    """
    from manyview import _kernels

    edges = (out[0], out[1], out[2], *into)
    indptr = starts(_kernels.symmetric_row_lengths(*edges))
    indices = np.empty(indptr[-1], dtype=indptr.dtype)
    data: Any = np.empty(len(indices), dtype=dtype)
    _kernels.fill_symmetric(*edges, indptr, indices, data)
    return csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_samples))


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
    dtype = weight_type(graphs[0].shape[1])
    weights: Any = np.zeros((len(graphs), len(indices)), dtype, order="F")
    for view, graph in zip(weights, graphs, strict=True):
        own = same_type(graph.indptr, graph.indices)
        _kernels.align_weights(indptr, indices, *own, graph.data, view)
    return np.asarray(weights)


def gathered(values: FloatArray, places: IntArray) -> FloatArray:
    """values[places], 0 where the place is negative."""
    from manyview import _kernels

    out = np.empty(len(places), dtype=values.dtype)
    _kernels.gather(values, places, out)
    return out


def weight_type(n_samples: int) -> type:
    """The type of the weights of a graph between so many samples."""
    return np.float32 if n_samples > SINGLE_ABOVE else np.float64


def by_edge(indptr: IntArray, values: NDArray[Any]) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Values of rows as values of their edges, for some edges after the other: which, and values.

    For all edges at once they would need more memory than the weights.
    """
    for start in range(0, len(values), _ROWS_AT_ONCE):
        ends = indptr[start : start + _ROWS_AT_ONCE + 1]
        own = values[start : start + _ROWS_AT_ONCE]
        yield slice(int(ends[0]), int(ends[-1])), np.repeat(own, np.diff(ends))


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
    data = np.empty(len(indices), dtype=graph.data.dtype)
    _kernels.permute(graph.indptr, graph.indices, graph.data, order, number, indptr, indices, data)
    return csr_array((data, indices, indptr), shape=graph.shape)
