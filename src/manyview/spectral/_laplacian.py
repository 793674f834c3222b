"""Laplacians of symmetric graphs: D - M, or normalised, I - D^-1/2 M D^-1/2.

A sample without edges has a row of zeros in both.
"""

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from scipy.sparse import csr_array, diags_array

from manyview._typing import FloatArray, IntArray
from manyview.graphs import component_labels
from manyview.runtime import RowShare
from manyview.spectral._chebyshev import Operator, SymmetricOperator


class SymmetricGraph(Protocol):
    """A symmetric graph whose rows may be distributed."""

    @property
    def share(self) -> RowShare:
        """The rows that are here."""

    def components(self) -> IntArray:
        """Each sample's connected component, numbered by first samples."""

    def laplacian(self, normalized: bool) -> tuple[SymmetricOperator, FloatArray]:
        """The Laplacian and its null vector."""


Graph: TypeAlias = Any  # csr_array, which has no type, or SymmetricGraph


@dataclass(frozen=True)
class ScaledGraph:
    """A symmetric graph that is kept as its normalised Laplacian, in the memory of the graph."""

    operator: Operator
    null: FloatArray

    @property
    def share(self) -> RowShare:
        return RowShare(len(self.null))

    def components(self) -> IntArray:
        return component_labels(self.operator.weights)

    def laplacian(self, normalized: bool) -> tuple[Operator, FloatArray]:
        if not normalized:
            raise ValueError("normalized=False; expected True for a scaled graph")
        return self.operator, self.null

    def unscaled(self) -> csr_array:
        """The graph again, up to rounding."""
        from manyview import _kernels

        graph = self.operator.weights.astype(np.float64)
        _kernels.divide_edges(graph.indptr, graph.indices, 0, 1 / self.null, graph.data)
        return graph


def share_of(graph: Graph) -> RowShare:
    """The rows of the graph that are here."""
    return RowShare(graph.shape[0]) if isinstance(graph, csr_array) else graph.share


def laplacian(graph: csr_array, normalized: bool) -> tuple[csr_array, float]:
    """The Laplacian as a matrix, and an upper bound of its eigenvalues."""
    degrees = np.asarray(graph.sum(axis=1))
    L = csr_array(diags_array(degrees) - graph)
    if not normalized:
        return L, 2.0 * float(abs(graph).sum(axis=1).max(initial=0.0))
    root = 1 / np.sqrt(_positive(degrees))
    L.data *= np.repeat(root, np.diff(L.indptr))  # one after the other, as below
    L.data *= root[L.indices]
    return L, 2.0


def laplacian_operator(
    graph: Graph, normalized: bool, dtype: type, *, overwrite: bool = False
) -> tuple[Any, FloatArray]:
    """The Laplacian, weights in the given precision, and its null vector.

    `overwrite` allows to write it over the graph.
    """
    if not isinstance(graph, csr_array):
        distributed: SymmetricGraph = graph
        return distributed.laplacian(normalized)
    # The pattern is shared; weights are scaled if it is the normalised one.
    data = graph.data.astype(dtype, copy=normalized and not overwrite)
    weights = csr_array((data, graph.indices, graph.indptr), shape=graph.shape)
    degrees = degrees_of(weights)
    null, bound = null_vector(degrees, normalized)
    return laplacian_rows(weights, degrees, null if normalized else None, bound, 0), null


def laplacian_rows(
    weights: csr_array, degrees: FloatArray, null: FloatArray | None, bound: float, first: int
) -> Operator:
    """Rows of the Laplacian, from `first` on: the normalised one if its null vector is given,
    and then `weights` are overwritten."""
    if null is None:
        return Operator(degrees, weights, bound, first)
    from manyview import _kernels

    own = null[first : first + weights.shape[0]]
    _kernels.divide_edges(weights.indptr, weights.indices, first, null, weights.data)
    return Operator(_products(weights, null) / own, weights, bound, first)


def dense_laplacian(
    graph: csr_array, samples: IntArray, number: IntArray, normalized: bool
) -> FloatArray:
    """The Laplacian of one connected component; `number` has the row of each of its samples.

    Slicing the sparse matrix would take longer than solving the problem.
    """
    starts, stops = graph.indptr[samples], graph.indptr[samples + 1]
    edges = np.concatenate([np.arange(a, b) for a, b in zip(starts, stops, strict=True)])
    L = np.zeros((len(samples), len(samples)))
    rows = np.repeat(np.arange(len(samples)), stops - starts)
    L[rows, number[graph.indices[edges]]] = -graph.data[edges]
    degrees = -L.sum(axis=1)
    L[np.diag_indices(len(samples))] += degrees
    if normalized:
        root = 1 / np.sqrt(_positive(degrees))
        L *= root[:, None]  # one after the other: the product of two roots may overflow
        L *= root
    return L


def degrees_of(rows: csr_array) -> FloatArray:
    return _products(rows, np.ones(rows.shape[1]))


def _products(matrix: csr_array, vector: FloatArray) -> FloatArray:
    """matrix @ vector in double precision, without a copy of weights in single precision."""
    from manyview import _kernels

    return _kernels.row_products(matrix.indptr, matrix.indices, matrix.data, vector)


def null_vector(degrees: FloatArray, normalized: bool) -> tuple[FloatArray, float]:
    """The null vector of a connected graph's Laplacian, and a bound of the eigenvalues."""
    if not normalized:
        return np.ones(len(degrees)), 2.0 * float(degrees.max())
    return np.sqrt(_positive(degrees)), 2.0


def _positive(values: FloatArray) -> FloatArray:
    return np.where(values > 0, values, 1.0)
