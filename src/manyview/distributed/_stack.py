"""The graphs of the views in row blocks, each on a worker, as the loop sees them.

Values of edges stay where their rows are. What travels in a round are the embedding, to everybody;
the values of the edges between blocks, each once; and a few numbers a sample, back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Future
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.distributed._client import Session, pieces_of
from manyview.distributed._laplacian import BlockGraph, joined_pieces
from manyview.graphs import RowBlock, SplitRule, aligned_weights, starts, united_pattern
from manyview.spectral import is_large


@dataclass
class SpreadValues:
    """A graph on the pattern: a future of its values in every block, and of those that came in."""

    values: list[Future]
    arrived: list[Future] | None = None


@dataclass(frozen=True)
class BlockStack:
    """The graphs of V views on one pattern, rows spread over the workers.

    Attributes
    ----------
    bounds : where blocks begin
    blocks : a future of a `RowBlock` for every block
    routes : routes[b][c] is a future of the places, among the edges of block b, of those to c
    order : the sample in each row
    present : (n_samples, V) in the order of the rows; None where all have all
    """

    session: Session
    bounds: IntArray
    blocks: list[Future]
    routes: list[list[Future]]
    n_views: int
    order: IntArray
    present: BoolArray | None

    @property
    def n_samples(self) -> int:
        return int(self.bounds[-1])

    def is_lost(self) -> bool:
        """Whether some block is neither there nor can be made again."""
        futures = [*self.blocks, *(route for routes in self.routes for route in routes)]
        return any(future.status in ("cancelled", "lost", "error") for future in futures)

    def by_sample(self, rows: NDArray[Any]) -> NDArray[Any]:
        out = np.empty_like(rows)
        out[self.order] = rows
        return out

    def parts(self) -> list[Future]:
        return self._each("start", _weights)

    def said(self) -> FloatArray:
        return self._rows("labels", RowBlock.said)

    def apart(self, parts: list[Future]) -> FloatArray:
        return self._rows("labels", RowBlock.apart, parts)

    def speaks(self) -> BoolArray:
        return self._rows("start", RowBlock.speaks)

    def mean(self) -> SpreadValues:
        return SpreadValues(self._each("start", RowBlock.mean))

    def symmetric(self, values: SpreadValues, kind: type = np.float64) -> csr_array | BlockGraph:
        arrived = self._arrived(values)
        rows = self._each("symmetric", RowBlock.symmetric_rows, values.values, arrived, kind)
        if is_large(self.n_samples):
            return BlockGraph(self.session, self.bounds, rows)
        # So few samples are solved here, by the solver for few.
        return csr_array(vstack(self.session.gather(rows), format="csr"))

    def unify(
        self,
        parts: list[Future],
        F: FloatArray,
        shares: FloatArray,
        pulls: float | FloatArray,
        row_factors: float | FloatArray = 1.0,
    ) -> SpreadValues:
        everywhere = self.session.send_to_all(F)
        unified = self._each(
            "unify", _unify, parts, everywhere, shares, self._spread(pulls),
            self._spread(row_factors),
        )  # fmt: skip
        return SpreadValues(unified)

    def split(self, U: SpreadValues, parts: list[Future], rule: SplitRule) -> list[Future]:
        return self._each("split", _split, U.values, self._arrived(U), parts, rule)

    def row_misfits(self, U: SpreadValues, parts: list[Future]) -> FloatArray:
        return self._rows("misfits", RowBlock.row_misfits, U.values, parts)

    def starting_row_misfits(self, U: SpreadValues) -> FloatArray:
        return self._rows("misfits", RowBlock.starting_misfits, U.values, self._arrived(U))

    def inconsistency(self, parts: list[Future]) -> FloatArray:
        found = self.session.gather(self._each("objective", RowBlock.inconsistency, parts))
        return np.asarray(np.sum(found, axis=0))

    def variation(self, U: SpreadValues, F: FloatArray) -> float:
        everywhere = self.session.send_to_all(F)
        found = self._each("objective", RowBlock.variation, U.values, everywhere)
        return float(sum(self.session.gather(found)))

    def n_pieces(self, parts: list[Future]) -> int:
        strongest = self._each("components", _strongest, parts)
        return int(joined_pieces(self.session, strongest, self.bounds).max()) + 1

    def confidence(
        self, labels: IntArray, view_weights: FloatArray, trust: FloatArray
    ) -> FloatArray:
        """The share of each sample's votes for its own cluster; samples in their own order."""
        everywhere = [self.session.send_to_all(rows[self.order]) for rows in (labels, trust)]
        rows = self._rows("labels", RowBlock.confidence, everywhere[0], view_weights, everywhere[1])
        return self.by_sample(rows)

    def _arrived(self, values: SpreadValues) -> list[Future]:
        """The values of the edges that come in at every block, in the order of where from."""
        if values.arrived is None:
            n_blocks = len(self.blocks)
            sent = [
                [
                    self.session.submit("edges", np.take, values.values[b], places, block=b)
                    for places in self.routes[b]
                ]
                for b in range(n_blocks)
            ]
            came = [[sent[b][c] for b in range(n_blocks)] for c in range(n_blocks)]
            values.arrived = self.session.each("edges", np.concatenate, came)
        return values.arrived

    def _spread(self, numbers: float | FloatArray) -> Any:
        """One number for all rows, or a list of what belongs to each block."""
        if np.ndim(numbers) == 0:
            return float(numbers)
        return self.session.send(pieces_of(np.asarray(numbers, dtype=np.float64), self.bounds))

    def _each(self, name: str, function: Any, *args: Any) -> list[Future]:
        """A task for every block; lists have an argument for each, others are the same for all."""
        n_blocks = len(self.blocks)
        columns = [arg if isinstance(arg, list) else [arg] * n_blocks for arg in args]
        return self.session.each(name, function, self.blocks, *columns)

    def _rows(self, name: str, function: Any, *args: Any) -> NDArray[Any]:
        return self.session.gather_rows(self._each(name, function, *args))


def make_stack(
    session: Session,
    graphs: Sequence[Sequence[Future]],
    bounds: IntArray,
    order: IntArray,
    present: BoolArray | None,
) -> BlockStack:
    """Put the rows of the views' graphs, a future for every view and block, on one pattern."""
    n_blocks = len(bounds) - 1
    own = [list(views) for views in zip(*graphs, strict=True)]
    halves = session.each("stack", _half, own, bounds[:-1].tolist())
    routes = [
        [
            session.submit("stack", _route, halves[b], int(bounds[c]), int(bounds[c + 1]), block=b)
            for c in range(n_blocks)
        ]
        for b in range(n_blocks)
    ]
    going = [
        [session.submit("stack", _going, halves[b], route, block=b) for route in routes[b]]
        for b in range(n_blocks)
    ]
    coming = [[going[b][c] for b in range(n_blocks)] for c in range(n_blocks)]
    blocks = session.each("stack", _block, halves, coming)
    return BlockStack(session, bounds, blocks, routes, len(graphs), order, present)


@dataclass(frozen=True)
class _Half:
    """Rows on their pattern, before anything came in."""

    n_samples: int
    first: int
    indptr: IntArray
    indices: IntArray
    weights: FloatArray


@dataclass(frozen=True)
class _Going:
    """Edges to the rows of another block."""

    rows: IntArray
    columns: IntArray
    weights: FloatArray


def _half(graphs: Sequence[csr_array], first: int) -> _Half:
    indptr, indices = united_pattern(graphs)
    weights = aligned_weights(indptr, indices, graphs)
    return _Half(int(graphs[0].shape[1]), first, indptr, indices, weights)


def _route(half: _Half, start: int, stop: int) -> IntArray:
    return np.flatnonzero((half.indices >= start) & (half.indices < stop)).astype(
        half.indices.dtype
    )


def _going(half: _Half, places: IntArray) -> _Going:
    rows = np.repeat(np.arange(len(half.indptr) - 1), np.diff(half.indptr))[places] + half.first
    return _Going(
        rows.astype(half.indices.dtype),
        half.indices[places],
        np.asfortranarray(half.weights[:, places]),
    )


def _block(half: _Half, coming: Sequence[_Going]) -> RowBlock:
    rows = np.concatenate([going.rows for going in coming])
    columns = np.concatenate([going.columns for going in coming]) - half.first
    n_rows = len(half.indptr) - 1
    # Blocks come in the order of their rows, so that only columns are left to be sorted.
    places = np.argsort(columns, kind="stable").astype(half.indices.dtype)
    into = (
        starts(np.bincount(columns, minlength=n_rows)),
        rows[places].astype(half.indices.dtype),
        places,
    )
    return RowBlock(
        n_samples=half.n_samples,
        first=half.first,
        indptr=half.indptr,
        indices=half.indices,
        weights=half.weights,
        mirror=_mirror(half, into, columns),
        into=into,
        weights_there=np.asfortranarray(
            np.concatenate([going.weights for going in coming], axis=1)
        ),
    )


def _mirror(half: _Half, into: tuple[IntArray, IntArray, IntArray], columns: IntArray) -> IntArray:
    """The place of (j, i) among what came in, for every own (i, j)."""
    _, rows, places = into
    own = np.repeat(np.arange(len(half.indptr) - 1, dtype=np.int64), np.diff(half.indptr))
    wanted = own * half.n_samples + half.indices
    there = columns[places].astype(np.int64) * half.n_samples + rows
    found = np.minimum(np.searchsorted(there, wanted), max(len(there) - 1, 0))
    if len(there) == 0:
        return np.full(len(wanted), -1, dtype=half.indices.dtype)
    return np.where(there[found] == wanted, places[found], -1).astype(half.indices.dtype)


def _weights(block: RowBlock) -> FloatArray:
    return block.weights


def _unify(
    block: RowBlock,
    parts: FloatArray,
    F: FloatArray,
    shares: FloatArray,
    pulls: float | FloatArray,
    row_factors: float | FloatArray,
) -> FloatArray:
    factors = np.broadcast_to(row_factors, block.n_rows).astype(np.float64)
    pulls = np.broadcast_to(pulls, block.n_rows).astype(np.float64)
    return block.unify_rows(parts, F, shares, pulls, factors)


def _split(
    block: RowBlock, U: FloatArray, arrived: FloatArray, parts: FloatArray, rule: SplitRule
) -> FloatArray:
    out = parts.copy(order="F")  # what a task was given must stay as it is
    block.split_rows(U, arrived, rule, out)
    return out


def _strongest(block: RowBlock, parts: FloatArray) -> csr_array:
    graph = block.on_pattern(np.ascontiguousarray(parts.max(axis=0))).copy()
    graph.eliminate_zeros()
    return graph
