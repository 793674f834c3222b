"""The graphs of all views on one sparse pattern of which only some rows are there at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.graphs._bridges import union_components
from manyview.graphs._row_block import (
    RowBlock,
    aligned_weights,
    reordered,
    symmetric_sum,
    united_pattern,
)
from manyview.graphs._steps import BY_ROW, Step
from manyview.runtime import RowShare, Run

#: Graphs of more samples than this are stacked block by block, by methods that allow it. It takes
#: less memory and a tenth more time.
BLOCKWISE_ABOVE = 2_000_000
# Rows of a block, at least: enough for all cores.
_ROWS = 2**16
# Edges into a part of the samples are there at a time: at most so many parts, of at least so many.
_PARTS, _LEAST_SAMPLES = 16, 2**18


@dataclass(frozen=True, kw_only=True)
class BlockwiseStack:
    """A `Stack` on one machine whose pattern is made again for each step, block by block.

    It takes a third of the memory of a `GraphStack`. There are no incoming
    edges, so it is for methods without steps that need them. A graph on the pattern is a csr_array
    with stored zeros.
    """

    graphs: tuple[csr_array, ...]  # of the views, columns sorted
    order: IntArray  # (n_samples,): the sample in each row
    view_order: IntArray  # (V,): the view at each position
    present: BoolArray | None = None  # (n_samples, V); None if all have all

    keeps_embedding: ClassVar[bool] = True

    @property
    def n_samples(self) -> int:
        return int(self.graphs[0].shape[0])

    @property
    def n_views(self) -> int:
        return len(self.graphs)

    @property
    def share(self) -> RowShare:
        return RowShare(self.n_samples)

    @property
    def view_graphs(self) -> tuple[csr_array, ...]:
        return self.graphs

    def edges(self, step: Step, *graphs: Any) -> csr_array:
        most = sum(graph.nnz for graph in self.graphs)
        found = _Rows(self.n_samples, most)
        for block, values in self._blocks(step, *graphs):
            found.append(block.indptr, block.indices, values)
        return found.matrix()

    def rows(self, step: Step, *graphs: Any) -> NDArray[Any]:
        return np.concatenate([values for _, values in self._blocks(step, *graphs)])

    def total(self, step: Step, *graphs: Any) -> Any:
        return np.sum([values for _, values in self._blocks(step, *graphs)], axis=0)

    def compute(self, function: Callable[..., Any], run: Run, *args: Any) -> Any:
        return function(self, run, *args)

    def symmetric(self, U: csr_array, dtype: type = np.float64) -> csr_array:
        n = self.n_samples
        found = _Rows(n, 2 * U.nnz)
        for rows in _cut(n, max(-(-n // _PARTS), _LEAST_SAMPLES)):
            into = U[:, rows].tocsc()
            out = _some_rows(U, rows)
            part = symmetric_sum(_parts(out), _parts(into), n, dtype)
            found.append(part.indptr, part.indices, part.data)
        return found.matrix()

    def n_components(self, A: Sequence[csr_array]) -> int:
        return union_components(A)[0]

    def by_sample(self, rows: NDArray[Any]) -> NDArray[Any]:
        return rows[np.argsort(self.order)]

    def matrix(self, graph: csr_array) -> csr_array:
        """A graph between samples in the order of the input, without stored zeros."""
        return reordered(graph, np.argsort(self.order))

    def view_matrix(self, position: int) -> csr_array:
        """The same for that of a view."""
        return self.matrix(self.graphs[position])

    def _blocks(self, step: Step, *graphs: Any) -> Iterator[tuple[RowBlock, Any]]:
        """Some rows after the other, and the step's values there."""
        length = self.share.segments[0].stop
        none = np.empty(0, dtype=np.int32)
        for rows in _cut(self.n_samples, length * -(-_ROWS // length)):
            own = [_some_rows(graph, rows) for graph in self.graphs]
            indptr, indices = united_pattern(own)
            weights = aligned_weights(indptr, indices, own)
            block = RowBlock(
                n_samples=self.n_samples, first=rows.start, indptr=indptr, indices=indices,
                weights=weights, reverse=none, incoming=(none, none, none),
                incoming_weights=weights[:, :0],
            )  # fmt: skip
            given = [
                weights if graph is self.graphs else _some_rows(graph, rows).data
                for graph in graphs
            ]
            yield block, replace(step, **_of_rows(step, rows))(block, *given)


class _Rows:
    """Rows of a sparse matrix that are appended, in room for at most so many entries.

    Room that is not filled takes no memory.
    """

    def __init__(self, n: int, most: int) -> None:
        self._shape = (n, n)
        self._most, self._filled = most, 0
        self._starts = [np.zeros(1, dtype=np.int64)]
        self._indices: Any = None
        self._data: Any = None

    def append(self, indptr: IntArray, indices: IntArray, data: FloatArray) -> None:
        if self._data is None:
            self._indices = np.empty(self._most, dtype=indices.dtype)
            self._data = np.empty(self._most, dtype=data.dtype)
        end = self._filled + len(indices)
        self._indices[self._filled : end] = indices
        self._data[self._filled : end] = data
        self._starts.append(self._filled + indptr[1:].astype(np.int64))
        self._filled = end

    def matrix(self) -> csr_array:
        indptr = np.concatenate(self._starts)
        if self._filled < 2**31:
            indptr = indptr.astype(np.int32)
        parts = (self._data[: self._filled], self._indices[: self._filled], indptr)
        return csr_array(parts, shape=self._shape)


def _of_rows(step: Step, rows: slice) -> dict[str, NDArray[Any]]:
    """The fields with one value for each row, for some rows."""
    fields_by_row = [entry.name for entry in fields(step) if entry.metadata == BY_ROW]
    values = {name: np.asarray(getattr(step, name)) for name in fields_by_row}
    return {name: value[rows] for name, value in values.items() if value.ndim}


def _cut(n: int, length: int) -> Iterator[slice]:
    for start in range(0, n, length):
        yield slice(start, min(start + length, n))


def _some_rows(matrix: csr_array, rows: slice) -> csr_array:
    """Some rows, which share the memory of the matrix."""
    starts = matrix.indptr[rows.start : rows.stop + 1]
    own = slice(int(starts[0]), int(starts[-1]))
    parts = (matrix.data[own], matrix.indices[own], starts - starts[0])
    return csr_array(parts, shape=(rows.stop - rows.start, matrix.shape[1]))


def _parts(matrix: Any) -> tuple[IntArray, IntArray, FloatArray]:
    return matrix.indptr, matrix.indices, matrix.data


def blockwise_stack(
    graphs: Sequence[csr_array],
    row_order: IntArray | None,
    present: BoolArray | None,
    order: IntArray,
    view_order: IntArray,
) -> BlockwiseStack:
    """The stack of graphs with sorted columns, rows brought into `row_order`."""
    if row_order is not None:
        graphs = [reordered(graph, row_order) for graph in graphs]
        present = None if present is None else present[row_order]
    return BlockwiseStack(graphs=tuple(graphs), order=order, view_order=view_order, present=present)
