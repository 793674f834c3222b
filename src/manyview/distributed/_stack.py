"""The graphs of the views in row blocks, one per rank: a `Stack` on Dask workers.

Values of edges stay with their rows. What ranks send each other in a round: the embedding and the
vectors of the solver, for rows that others look up; the values of the edges between blocks, each
once; and small sums.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
from distributed import Future
from numpy.typing import NDArray
from scipy.sparse import csr_array

from manyview import _kernels
from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.distributed._client import DaskSession, row_blocks
from manyview.distributed._ghosts import Ghosts
from manyview.distributed._laplacian import RankGraph
from manyview.distributed._ranks import Ranks, RankShare
from manyview.distributed._results import ByRow, RankRun, assembled, parts_of
from manyview.distributed._run_ranks import progress, run_ranks
from manyview.graphs import EVERYWHERE, RowBlock, Step, aligned_weights, starts, united_pattern
from manyview.runtime import Run

#: The embedding is a result for up to this many samples; that of more stays on the workers.
EMBEDDING_SAMPLES = 1_000_000


@dataclass(frozen=True)
class BlockStack:
    """The graphs of V views, as the client knows them; `compute` works on them."""

    session: DaskSession
    bounds: IntArray  # where blocks begin
    graphs: list[list[Future]]  # one future of rows per view and block
    order: IntArray  # the sample in each row
    view_order: IntArray  # the view at each position
    present: BoolArray | None  # (n_samples, V) in the order of the rows; None if all have all

    @property
    def n_samples(self) -> int:
        return int(self.bounds[-1])

    def is_lost(self) -> bool:
        """Whether Dask neither has some block nor can compute it again."""
        futures = [future for view in self.graphs for future in view]
        return any(future.status in ("cancelled", "lost", "error") for future in futures)

    def compute(self, function: Callable[..., Any], run: Run, *args: Any) -> Any:
        """function(stack, run, *args) on every rank, `stack` being a `RankStack`."""
        n_blocks = len(self.bounds) - 1
        present: list[Any] = [None] * n_blocks
        if self.present is not None:
            present = row_blocks(self.present, self.bounds)
        graphs = [list(views) for views in zip(*self.graphs, strict=True)]
        given = [
            (graphs[b], rows, self.view_order, present[b])
            for b, rows in enumerate(row_blocks(self.order, self.bounds))
        ]
        same = (self.bounds, function, run.seed, run.rng.bit_generator.state, args)
        with progress(self.session, run) as topic:
            found = run_ranks(self.session, _compute, given, topic, *same)
        return assembled(found, self.order, run)


def _compute(
    ranks: Ranks,
    graphs: Sequence[csr_array],
    order: IntArray,
    view_order: IntArray,
    present: BoolArray | None,
    topic: str,
    bounds: IntArray,
    function: Callable[..., Any],
    seed: int,
    state: Any,
    args: Sequence[Any],
) -> Any:
    """What `function` gives on one rank."""
    run = RankRun(seed, state, topic if ranks.rank == 0 else None)
    with run.recorded_warnings():
        with run.stage("fusion"):
            stack = rank_stack(ranks, graphs, bounds, order, view_order, present)
        return parts_of(function(stack, run, *args), run, with_rest=ranks.rank == 0)


@dataclass(frozen=True)
class RankStack:
    """The rows of the stacked graphs that one rank has: a `Stack`."""

    ranks: Ranks
    share: RankShare
    ghosts: Ghosts
    block: RowBlock
    routes: list[IntArray]  # for each rank the positions of the edges to it
    order: IntArray  # the sample in each row
    view_order: IntArray  # the view at each position
    present: BoolArray | None
    _exchanged: list[Any] = field(default_factory=list)  # values, and those of incoming edges

    @property
    def n_samples(self) -> int:
        return self.share.n_samples

    @property
    def n_views(self) -> int:
        return self.block.n_views

    @property
    def keeps_embedding(self) -> bool:
        return self.n_samples <= EMBEDDING_SAMPLES

    @property
    def view_graphs(self) -> FloatArray:
        return self.block.weights

    def by_sample(self, rows: NDArray[Any]) -> Any:
        return ByRow(rows)

    def compute(self, function: Callable[..., Any], run: Run, *args: Any) -> Any:
        return function(self, run, *args)

    def edges(self, step: Step, *graphs: FloatArray) -> Any:
        everywhere = {
            entry.name: self.ghosts.joined_to(getattr(step, entry.name))
            for entry in fields(step)
            if entry.metadata == EVERYWHERE
        }
        if step.overwrites and graphs[-1] is self.block.weights:
            graphs = (*graphs[:-1], graphs[-1].copy(order="F"))
        if step.takes_incoming:
            graphs = (graphs[0], self._incoming(graphs[0]), *graphs[1:])
        return replace(step, **everywhere)(self.block, *graphs)

    rows = edges

    def total(self, step: Step, *graphs: FloatArray) -> Any:
        return self.share.combine(_sum, self.edges(step, *graphs))

    def symmetric(self, U: FloatArray, dtype: type = np.float64) -> RankGraph:
        rows = self.block.symmetric_rows(U, self._incoming(U), dtype)
        return RankGraph(rows, self.ghosts, self.share)

    def n_components(self, A: FloatArray) -> int:
        graph = self.symmetric(np.ascontiguousarray(A.max(axis=0)))
        return self.share.count(graph.components())

    def _incoming(self, values: FloatArray) -> FloatArray:
        """The values of the incoming edges, ordered by source rank; those of the last graph are
        kept."""
        if not self._exchanged or self._exchanged[0] is not values:
            sent = [values[positions] for positions in self.routes]
            self._exchanged[:] = [values, np.concatenate(self.ranks.exchange_all(sent))]
        return np.asarray(self._exchanged[1])


def _sum(parts: Sequence[Any]) -> Any:
    return np.sum(parts, axis=0)


def rank_stack(
    ranks: Ranks,
    graphs: Sequence[csr_array],
    bounds: IntArray,
    order: IntArray,
    view_order: IntArray,
    present: BoolArray | None,
) -> RankStack:
    """The rows of the views' graphs that this rank has, on one pattern."""
    share = RankShare(ranks, bounds)
    indptr, indices = united_pattern(graphs)
    weights = aligned_weights(indptr, indices, graphs)
    target = np.searchsorted(bounds, indices, side="right") - 1
    routes = [np.flatnonzero(target == other).astype(indices.dtype) for other in range(ranks.count)]
    rows = np.repeat(np.arange(share.start, share.stop, dtype=indices.dtype), np.diff(indptr))
    sent = [
        _Edges(rows[edges], indices[edges], np.asfortranarray(weights[:, edges]))
        for edges in routes
    ]
    incoming = ranks.exchange_all(sent)
    del sent, rows, target
    ghosts = Ghosts(ranks, bounds, _looked_up(ranks.rank, bounds, indices, routes, incoming))
    block = _block(share, ghosts, indptr, indices, weights, incoming)
    return RankStack(ranks, share, ghosts, block, routes, order, view_order, present)


@dataclass(frozen=True)
class _Edges:
    """Edges to the rows of another rank."""

    rows: IntArray
    columns: IntArray
    weights: FloatArray


def _looked_up(
    rank: int,
    bounds: IntArray,
    indices: IntArray,
    routes: Sequence[IntArray],
    incoming: Sequence[_Edges],
) -> IntArray:
    """The rows of other ranks that edges from and to the own rows lead to, in ascending order."""
    found = [indices[:0]]
    for other, (start, stop) in enumerate(pairwise(bounds.tolist())):
        if other != rank:
            is_used = np.zeros(stop - start, dtype=bool)
            is_used[indices[routes[other]] - start] = True
            is_used[incoming[other].rows - start] = True
            found.append((start + np.flatnonzero(is_used)).astype(indices.dtype))
    return np.concatenate(found)


def _block(
    share: RankShare,
    ghosts: Ghosts,
    indptr: IntArray,
    indices: IntArray,
    weights: FloatArray,
    incoming: Sequence[_Edges],
) -> RowBlock:
    dtype, n_rows = indices.dtype, len(share)
    sources = ghosts.number(np.concatenate([edges.rows for edges in incoming]))
    columns = np.concatenate([edges.columns for edges in incoming]) - share.start
    own = ghosts.number(indices)
    # Ranks come in the order of their rows, so that only columns have to be sorted.
    edges = np.arange(len(columns) + 1, dtype=dtype)
    sorted_ = csr_array((edges[:-1], columns, edges), shape=(len(columns), n_rows)).tocsc()
    order = sorted_.data
    by_column = (starts(np.diff(sorted_.indptr)), sources[order], order)
    reverse = np.empty_like(own)
    _kernels.find_mirrors(indptr, own, *by_column, reverse)
    weights_in = np.concatenate([edges.weights for edges in incoming], axis=1)
    return RowBlock(
        n_samples=ghosts.n_columns,
        first=ghosts.first,
        indptr=indptr,
        indices=own,
        weights=weights,
        reverse=reverse,
        incoming=by_column,
        incoming_weights=np.asfortranarray(weights_in),
    )
