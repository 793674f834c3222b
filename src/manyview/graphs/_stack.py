"""The graphs of all views stacked on one sparse pattern, on one machine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.graphs._components import count_components
from manyview.graphs._row_block import (
    RowBlock,
    aligned_weights,
    reordered,
    united_pattern,
)
from manyview.graphs._steps import Step
from manyview.runtime import RowShare, Run


@dataclass(frozen=True, kw_only=True)
class GraphStack(RowBlock):
    """All rows of the graphs of V views on one pattern: a `Stack` on one machine.

    All rows are local, so values of incoming edges are the values themselves.
    """

    # (n_samples,): the sample in each row; None for the order of the input.
    order: IntArray | None = None
    # (V,): the view at each position; None for the order of the input.
    view_order: IntArray | None = None
    # (n_samples, V): whether the view has the sample of that row; None if all have all.
    present: BoolArray | None = None

    keeps_embedding: ClassVar[bool] = True

    @property
    def share(self) -> RowShare:
        return RowShare(self.n_samples)

    @property
    def view_graphs(self) -> FloatArray:
        return self.weights

    def edges(self, step: Step, *graphs: FloatArray) -> Any:
        if step.overwrites and graphs[-1] is self.weights:
            graphs = (*graphs[:-1], graphs[-1].copy(order="F"))
        if step.takes_incoming:
            graphs = (graphs[0], *graphs)
        return step(self, *graphs)

    # One block has all rows, so there is nothing to put together or to add up.
    rows = total = edges

    def compute(self, function: Callable[..., Any], run: Run, *args: Any) -> Any:
        return function(self, run, *args)

    def symmetric(self, U: FloatArray, dtype: type = np.float64) -> csr_array:
        return self.symmetric_rows(U, U, dtype)

    def n_components(self, A: FloatArray) -> int:
        return count_components(self.symmetric(A.max(axis=0)))

    def matrix(self, values: FloatArray) -> csr_array:
        """Values on the pattern as a matrix between samples, without stored zeros."""
        graph = self.as_matrix(np.ascontiguousarray(values))
        if self.order is not None:
            return reordered(graph, np.argsort(self.order))
        graph = graph.copy()
        graph.eliminate_zeros()
        return graph

    def view_matrix(self, position: int) -> csr_array:
        """The same for the graph of a view."""
        return self.matrix(self.weights[position])

    def by_sample(self, rows: NDArray[Any]) -> NDArray[Any]:
        return rows if self.order is None else rows[np.argsort(self.order)]


def stack_graphs(
    graphs: Sequence[csr_array],
    order: IntArray | None = None,
    present: BoolArray | None = None,
) -> GraphStack:
    """Put graphs with sorted columns and positive weights on their common pattern.

    `order` gives the sample of each row. Large graphs are faster in an order in which neighbours
    are close in memory.
    """
    from manyview import _kernels

    if order is not None:
        graphs = [reordered(graph, order) for graph in graphs]
        present = None if present is None else present[order]
    indptr, indices = united_pattern(graphs)
    weights = aligned_weights(indptr, indices, graphs)
    n = len(indptr) - 1
    positions = np.arange(len(indices), dtype=indices.dtype)
    columns = csr_array((positions, indices, indptr), shape=(n, n)).tocsc()
    reverse = np.empty_like(indices)
    incoming = (columns.indptr, columns.indices, columns.data)
    _kernels.find_mirrors(indptr, indices, *incoming, reverse)
    return GraphStack(
        n_samples=n,
        first=0,
        indptr=indptr,
        indices=indices,
        weights=weights,
        reverse=reverse,
        incoming=incoming,
        incoming_weights=weights,
        order=order,
        present=present,
    )
