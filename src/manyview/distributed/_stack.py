"""The graphs of the views in row blocks, one per Dask worker: a `Stack` on Dask.

Values of edges stay with their rows. What travels in a round: the embedding, to all workers; the
values of the edges between blocks, each once; and a few numbers per sample, back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from distributed import Future
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.distributed._client import DaskSession, row_blocks
from manyview.distributed._laplacian import DistributedGraph, connected_components
from manyview.graphs import (
    EVERYWHERE,
    PER_ROW,
    RowBlock,
    Step,
    aligned_weights,
    starts,
    united_pattern,
)
from manyview.spectral import is_large


@dataclass
class BlockValues:
    """Values of a graph on the pattern: one future per block, and of the incoming edges if they
    have been exchanged."""

    values: list[Future]
    incoming: list[Future] | None = None


@dataclass(frozen=True)
class BlockStack:
    """The graphs of V views on one pattern, rows distributed over the workers."""

    session: DaskSession
    bounds: IntArray  # where blocks begin
    blocks: list[Future]  # one future of a `RowBlock` per block
    # routes[b][c] is a future of the positions, among the edges of block b, of those to c.
    routes: list[list[Future]]
    view_graphs: BlockValues  # S_v
    n_views: int
    order: IntArray  # the sample in each row
    view_order: IntArray  # the view at each position
    present: BoolArray | None  # (n_samples, V) in the order of the rows; None if all have all

    @property
    def n_samples(self) -> int:
        return int(self.bounds[-1])

    def is_lost(self) -> bool:
        """Whether Dask neither has some block nor can compute it again."""
        futures = [*self.blocks, *(route for routes in self.routes for route in routes)]
        return any(future.status in ("cancelled", "lost", "error") for future in futures)

    def by_sample(self, rows: NDArray[Any]) -> NDArray[Any]:
        out = np.empty_like(rows)
        out[self.order] = rows
        return out

    def edges(self, step: Step, *graphs: BlockValues) -> BlockValues:
        return BlockValues(self._apply(step, graphs))

    def rows(self, step: Step, *graphs: BlockValues) -> NDArray[Any]:
        return self.session.gather_rows(self._apply(step, graphs))

    def total(self, step: Step, *graphs: BlockValues) -> Any:
        return np.sum(self.session.gather(self._apply(step, graphs)), axis=0)

    def symmetric(self, U: BlockValues, dtype: type = np.float64) -> csr_array | DistributedGraph:
        rows = self.session.map_blocks(
            "symmetric", RowBlock.symmetric_rows, self.blocks, U.values, self._incoming(U),
            [dtype] * len(self.blocks),
        )  # fmt: skip
        if is_large(self.n_samples):
            return DistributedGraph(self.session, self.bounds, rows)
        # Few samples: the eigenvectors are computed on the client.
        return csr_array(vstack(self.session.gather(rows), format="csr"))

    def n_components(self, A: BlockValues) -> int:
        union = self.session.map_blocks("components", _union, self.blocks, A.values)
        return int(connected_components(self.session, union, self.bounds).max()) + 1

    def _apply(self, step: Step, graphs: Sequence[BlockValues]) -> list[Future]:
        """Call a step on every block."""
        sent: dict[str, list[Any]] = {}
        for entry in fields(step):
            value = getattr(step, entry.name)
            if entry.metadata == EVERYWHERE:
                sent[entry.name] = [self.session.broadcast(value)] * len(self.blocks)
            elif entry.metadata == PER_ROW and np.ndim(value) > 0:
                own = row_blocks(np.asarray(value), self.bounds)
                sent[entry.name] = self.session.scatter_blocks(own)
        bare = replace(step, **dict.fromkeys(sent))
        operands = [graph.values for graph in graphs]
        if step.takes_incoming:
            operands.insert(1, self._incoming(graphs[0]))
        n_blocks = len(self.blocks)
        arrays = [list(own) for own in zip(*sent.values(), strict=True)] or [[]] * n_blocks
        same = ([bare] * n_blocks, [list(sent)] * n_blocks)
        return self.session.map_blocks(step.name, _call, self.blocks, *same, arrays, *operands)

    def _incoming(self, values: BlockValues) -> list[Future]:
        """The values of the incoming edges of every block, ordered by source block."""
        if values.incoming is None:
            n_blocks = len(self.blocks)
            sent = [
                [
                    self.session.submit("edges", np.take, values.values[b], positions, block=b)
                    for positions in self.routes[b]
                ]
                for b in range(n_blocks)
            ]
            received = [[sent[b][c] for b in range(n_blocks)] for c in range(n_blocks)]
            values.incoming = self.session.map_blocks("edges", np.concatenate, received)
        return values.incoming


def _call(
    block: RowBlock, step: Any, names: list[str], arrays: list[Any], *values: FloatArray
) -> Any:
    """A step on one block, with the arrays that were sent apart from it."""
    if step.overwrites:  # the operands of a task must stay unchanged
        values = (*values[:-1], values[-1].copy(order="F"))
    return replace(step, **dict(zip(names, arrays, strict=True)))(block, *values)


def make_stack(
    session: DaskSession,
    graphs: Sequence[Sequence[Future]],
    bounds: IntArray,
    order: IntArray,
    view_order: IntArray,
    present: BoolArray | None,
) -> BlockStack:
    """Put the rows of the views' graphs, one future per view and block, on one pattern."""
    n_blocks = len(bounds) - 1
    own = [list(views) for views in zip(*graphs, strict=True)]
    patterns = session.map_blocks("stack", _pattern, own, bounds[:-1].tolist())
    routes = [
        [
            session.submit(
                "stack", _route, patterns[b], int(bounds[c]), int(bounds[c + 1]), block=b
            )
            for c in range(n_blocks)
        ]
        for b in range(n_blocks)
    ]
    outgoing = [
        [session.submit("stack", _outgoing, patterns[b], route, block=b) for route in routes[b]]
        for b in range(n_blocks)
    ]
    incoming = [[outgoing[b][c] for b in range(n_blocks)] for c in range(n_blocks)]
    blocks = session.map_blocks("stack", _block, patterns, incoming)
    weights = BlockValues(session.map_blocks("start", _weights, blocks))
    return BlockStack(
        session, bounds, blocks, routes, weights, len(graphs), order, view_order, present
    )


@dataclass(frozen=True)
class _Pattern:
    """Rows on their pattern, without incoming edges."""

    n_samples: int
    first: int
    indptr: IntArray
    indices: IntArray
    weights: FloatArray


@dataclass(frozen=True)
class _Edges:
    """Edges to the rows of another block."""

    rows: IntArray
    columns: IntArray
    weights: FloatArray


def _pattern(graphs: Sequence[csr_array], first: int) -> _Pattern:
    indptr, indices = united_pattern(graphs)
    weights = aligned_weights(indptr, indices, graphs)
    return _Pattern(int(graphs[0].shape[1]), first, indptr, indices, weights)


def _route(own: _Pattern, start: int, stop: int) -> IntArray:
    """Positions of the edges to rows start..stop-1."""
    found = np.flatnonzero((own.indices >= start) & (own.indices < stop))
    return found.astype(own.indices.dtype)


def _outgoing(own: _Pattern, positions: IntArray) -> _Edges:
    rows = np.repeat(np.arange(len(own.indptr) - 1), np.diff(own.indptr))[positions] + own.first
    return _Edges(
        rows.astype(own.indices.dtype),
        own.indices[positions],
        np.asfortranarray(own.weights[:, positions]),
    )


def _block(own: _Pattern, incoming: Sequence[_Edges]) -> RowBlock:
    dtype, n_rows = own.indices.dtype, len(own.indptr) - 1
    rows = np.concatenate([edges.rows for edges in incoming])
    columns = np.concatenate([edges.columns for edges in incoming]) - own.first
    # Blocks come in the order of their rows, so that only columns have to be sorted.
    order = np.argsort(columns, kind="stable").astype(dtype)
    by_column = (starts(np.bincount(columns, minlength=n_rows)), rows[order].astype(dtype), order)
    weights = np.concatenate([edges.weights for edges in incoming], axis=1)
    return RowBlock(
        n_samples=own.n_samples,
        first=own.first,
        indptr=own.indptr,
        indices=own.indices,
        weights=own.weights,
        reverse=_reverse(own, by_column, columns),
        incoming=by_column,
        incoming_weights=np.asfortranarray(weights),
    )


def _reverse(
    own: _Pattern, incoming: tuple[IntArray, IntArray, IntArray], columns: IntArray
) -> IntArray:
    """For every (i, j) the index of (j, i) among the incoming edges, -1 if there is none."""
    _, rows, order = incoming
    own_rows = np.repeat(np.arange(len(own.indptr) - 1, dtype=np.int64), np.diff(own.indptr))
    wanted = own_rows * own.n_samples + own.indices
    if len(order) == 0:
        return np.full(len(wanted), -1, dtype=own.indices.dtype)
    there = columns[order].astype(np.int64) * own.n_samples + rows
    found = np.minimum(np.searchsorted(there, wanted), len(there) - 1)
    return np.where(there[found] == wanted, order[found], -1).astype(own.indices.dtype)


def _weights(block: RowBlock) -> FloatArray:
    return block.weights


def _union(block: RowBlock, A: FloatArray) -> csr_array:
    """Rows of the union of graphs (V, nnz)."""
    graph = block.as_matrix(np.ascontiguousarray(A.max(axis=0))).copy()
    graph.eliminate_zeros()
    return graph
