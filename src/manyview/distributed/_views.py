"""Views that are spread: Dask arrays, Dask data frames, Parquet files, or arrays from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Future
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from manyview._typing import BoolArray, IntArray, Matrix
from manyview.distributed._client import DaskSession, even_bounds, row_blocks
from manyview.distributed._parquet import parquet_table
from manyview.graphs import ViewSize
from manyview.inputs import (
    NonFinite,
    as_mask,
    as_matrix,
    check_finite,
    check_in_some_view,
    check_same_index,
    find_non_finite,
    is_collection,
    is_frame,
    name_tables,
    row_digests,
    zero_missing_rows,
)


@dataclass(frozen=True)
class DistributedViews:
    """The same N samples in V views, each in row blocks on the workers.

    Attributes
    ----------
    names : of the views
    widths : their numbers of features
    bounds : where the blocks begin, in the order of the samples
    blocks : a future of the matrix for every view and block
    present : (n_samples, V); None where all have all
    digests : one number a row and view, for `order_from_digests`
    largest : the largest number of every view, whatever its sign
    stored : how many numbers are stored of each view, None where it is dense
    """

    names: tuple[str, ...]
    widths: tuple[int, ...]
    bounds: IntArray
    blocks: list[list[Future]]
    present: BoolArray | None
    digests: list[NDArray[np.uint64]]
    largest: list[float]
    stored: list[int | None]

    @property
    def n_samples(self) -> int:
        return int(self.bounds[-1])

    def sizes(self) -> tuple[ViewSize, ...]:
        """The size of every view."""
        return tuple(
            ViewSize(int(self.present_in(v).sum()), width, self.stored[v])
            for v, width in enumerate(self.widths)
        )

    def present_in(self, view: int) -> BoolArray:
        """Which samples a view has."""
        if self.present is None:
            return np.ones(self.n_samples, dtype=bool)
        return np.asarray(self.present[:, view])


@dataclass(frozen=True)
class _About:
    """What is told of a block of a view."""

    non_finite: NonFinite
    digests: NDArray[np.uint64]
    largest: float
    stored: int | None


def is_distributed(table: Any) -> bool:
    """Whether it is a Dask collection, or a path."""
    return isinstance(table, str | Path) or hasattr(table, "__dask_graph__")


def read_distributed(X: Any, present: Any, session: DaskSession) -> DistributedViews:
    """Views in row blocks of the same samples, one a worker, checked as those of one machine."""
    tables = _named(X)
    names: dict[str, list[Future]] = {}
    chunks = {name: _chunks(table, name, session, names) for name, table in tables.items()}
    shapes = {name: _shapes(own, session) for name, own in chunks.items()}
    n = _same_rows(shapes)
    _check_same_index(tables, names, session)
    widths = tuple(_same_width(name, found) for name, found in shapes.items())
    bounds = even_bounds(n, min(len(session.workers), n))
    blocks = [
        _in_blocks(chunks[name], [rows for rows, _ in shapes[name]], bounds, session)
        for name in tables
    ]
    has = np.ones((n, len(tables)), dtype=bool)
    if present is not None:
        has = as_mask(present, has.shape).copy()
    digests, largest, stored = [], [], []
    for v, name in enumerate(tables):
        own: list[Any] = [None] * (len(bounds) - 1)
        if present is not None:
            own = row_blocks(has[:, v], bounds)
        found = session.gather(session.map_blocks("check", _about, blocks[v], own))
        for start, about in zip(bounds[:-1].tolist(), found, strict=True):
            check_finite(about.non_finite, name, start)
        has[:, v] &= ~np.concatenate([about.non_finite.empty_rows for about in found])
        if not has[:, v].all():
            own = row_blocks(has[:, v], bounds)
            blocks[v] = session.map_blocks("check", zero_missing_rows, blocks[v], own)
        digests.append(np.concatenate([about.digests for about in found]))
        largest.append(max(about.largest for about in found))
        counts = [about.stored for about in found]
        stored.append(None if counts[0] is None else sum(filter(None, counts)))
    check_in_some_view(has)
    return DistributedViews(
        tuple(tables), widths, bounds, blocks, None if has.all() else has, digests, largest, stored
    )


def _named(X: Any) -> dict[str, Any]:
    several = (isinstance(X, list | tuple) and any(map(is_distributed, X))) or is_collection(X)
    tables = name_tables(getattr(X, "views", X) if several else [X])
    check_same_index({name: table for name, table in tables.items() if not is_distributed(table)})
    return tables


def _chunks(
    table: Any, name: str, session: DaskSession, row_names: dict[str, list[Future]]
) -> list[Future]:
    """The rows of a table as matrices, in pieces as they come; what Dask's frames call theirs is
    put among the names."""
    if isinstance(table, str | Path):
        table = parquet_table(Path(table)).matrix
    if not is_distributed(table):
        matrix = as_matrix(table, name)
        bounds = even_bounds(matrix.shape[0], min(len(session.workers), matrix.shape[0]))
        return session.scatter_blocks(row_blocks(matrix, bounds))
    if not hasattr(table, "to_delayed") or not isinstance(getattr(table, "ndim", None), int):
        raise ValueError(
            f"view '{name}' is a {type(table).__name__}; expected a Dask array or data frame"
        )
    if table.ndim != 2:
        raise ValueError(f"view '{name}' has {table.ndim} dimension(s); expected a 2-D table")
    if hasattr(table, "rechunk") and 0 in table.shape:
        raise ValueError(f"view '{name}' is empty, its shape is {tuple(table.shape)}")
    if hasattr(table, "rechunk") and table.numblocks[1] > 1:
        table = table.rechunk({1: -1})
    delayed = np.ravel(np.asarray(table.to_delayed(), dtype=object)).tolist()
    pieces = [session.track(piece) for piece in session.client.compute(delayed)]
    if hasattr(table, "index"):
        row_names[name] = [session.submit("read", _row_names, piece) for piece in pieces]
    return [session.submit("read", _matrix, piece, name) for piece in pieces]


@dataclass(frozen=True)
class _Refused:
    """What is wrong with a piece. Raised here, not on the worker, whose log would be full of it."""

    why: str


def _matrix(piece: Any, name: str) -> Matrix | _Refused:
    if piece.shape[0] == 0:  # partitions may be empty, views not
        return np.empty(piece.shape)
    try:
        return as_matrix(piece, name)
    except ValueError as error:
        return _Refused(str(error))


def _shapes(chunks: Sequence[Future], session: DaskSession) -> list[tuple[int, int]]:
    found = session.gather([session.submit("read", _shape, chunk) for chunk in chunks])
    for one in found:
        if isinstance(one, _Refused):
            raise ValueError(one.why)
    return found


def _shape(matrix: Matrix | _Refused) -> tuple[int, int] | _Refused:
    return matrix if isinstance(matrix, _Refused) else (matrix.shape[0], matrix.shape[1])


def _check_same_index(
    tables: Mapping[str, Any], names: Mapping[str, list[Future]], session: DaskSession
) -> None:
    """Refuse data frames that call the same rows differently, where some are Dask's."""
    known: dict[str, NDArray[np.uint64]] = {}
    for name, table in tables.items():
        if name in names:
            found = session.gather(names[name])
            if not all(counted for counted, _ in found):
                known[name] = np.concatenate([own for _, own in found])
        elif names and is_frame(table):
            known[name] = _row_names(table)[1]
    for name, own in known.items():
        first = next(iter(known))
        if not np.array_equal(known[first], own):
            raise ValueError(
                f"data frames '{first}' and '{name}' have different indexes; expected the same "
                "rows in the same order"
            )


def _row_names(frame: Any) -> tuple[bool, NDArray[np.uint64]]:
    """Whether rows are only counted from 0 on, as partitions do that know no better, and a number
    for the name of each."""
    import pandas as pd

    index = frame.index
    counted = isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
    return counted, pd.util.hash_pandas_object(index).to_numpy(dtype=np.uint64)


def _same_rows(shapes: Mapping[str, Sequence[tuple[int, int]]]) -> int:
    counts = {name: sum(rows for rows, _ in found) for name, found in shapes.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"'{name}' has {n}" for name, n in counts.items())
        raise ValueError(f"views differ in their number of rows: {listed}; expected the same")
    n = next(iter(counts.values()))
    if n < 2:
        raise ValueError(f"n_samples={n}; expected at least 2 samples to cluster")
    return n


def _same_width(name: str, shapes: Sequence[tuple[int, int]]) -> int:
    widths = {width for _, width in shapes}
    if len(widths) > 1:
        raise ValueError(
            f"view '{name}' has pieces of {sorted(widths)} columns; expected the same in all"
        )
    return widths.pop()


def _in_blocks(
    chunks: Sequence[Future], lengths: Sequence[int], bounds: IntArray, session: DaskSession
) -> list[Future]:
    """The same rows in as many pieces as there are blocks."""
    ends = np.cumsum(lengths)
    blocks = []
    for b, (start, stop) in enumerate(pairwise(bounds.tolist())):
        parts, cuts = [], []
        for chunk, end, length in zip(chunks, ends.tolist(), lengths, strict=True):
            low, high = max(start - (end - length), 0), min(stop - (end - length), length)
            if low < high:
                parts.append(chunk)
                cuts.append((low, high))
        blocks.append(session.submit("read", _joined, parts, cuts, block=b))
    return blocks


def _joined(parts: Sequence[Matrix], cuts: Sequence[tuple[int, int]]) -> Matrix:
    pieces = [part[low:high] for part, (low, high) in zip(parts, cuts, strict=True)]
    if len(pieces) == 1:
        return pieces[0]
    if any(isinstance(piece, csr_array) for piece in pieces):
        return csr_array(vstack(pieces, format="csr"))
    return np.concatenate(pieces)


def _about(matrix: Matrix, has: BoolArray | None) -> _About:
    non_finite = find_non_finite(matrix, has)
    known = ~non_finite.empty_rows if has is None else has & ~non_finite.empty_rows
    own = matrix if known.all() else matrix[known]
    values = own.data if isinstance(own, csr_array) else own
    largest = 0.0 if non_finite.n_values else float(np.abs(values).max(initial=0.0))
    stored = int(matrix.nnz) if isinstance(matrix, csr_array) else None
    return _About(non_finite, row_digests(matrix), largest, stored)
