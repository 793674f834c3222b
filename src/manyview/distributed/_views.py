"""Distributed views: from Dask arrays and data frames, Parquet files, or local tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
    Scaler,
    as_mask,
    as_matrix,
    check_finite,
    check_in_some_view,
    check_same_index,
    find_non_finite,
    fit_scaler,
    is_collection,
    is_frame,
    name_tables,
    resolved_scaling,
    row_digests,
    statistics_sample,
    warn_of_view,
    zero_missing_rows,
)


@dataclass(frozen=True)
class DistributedViews:
    """The same N samples in V views, each in row blocks on the workers."""

    names: tuple[str, ...]
    widths: tuple[int, ...]
    bounds: IntArray  # where blocks begin, in the order of the samples
    blocks: list[list[Future]]  # one future of a matrix per view and block
    present: BoolArray | None  # (n_samples, V); None if all views have all samples
    digests: list[NDArray[np.uint64]]  # one hash per view and row, for `order_from_digests`
    largest: list[float]  # the largest absolute value of every view
    stored: list[int | None]  # number of stored entries of every view, None if it is dense
    scalers: tuple[Scaler, ...] = ()  # of every view, once its scaling is chosen

    @property
    def n_samples(self) -> int:
        return int(self.bounds[-1])

    def sizes(self) -> tuple[ViewSize, ...]:
        """The size of every view."""
        return tuple(
            ViewSize(int(self.present_in(v).sum()), width, self.stored[v])
            for v, width in enumerate(self.widths)
        )

    @property
    def scalings(self) -> tuple[str, ...]:
        """The name of each view's scaling."""
        return tuple(scaler.name for scaler in self.scalers)

    def present_in(self, view: int) -> BoolArray:
        """Which samples a view has."""
        if self.present is None:
            return np.ones(self.n_samples, dtype=bool)
        return np.asarray(self.present[:, view])


@dataclass(frozen=True)
class _Check:
    """What a worker reports of a block of a view."""

    non_finite: NonFinite
    digests: NDArray[np.uint64]
    largest: float
    stored: int | None


def is_distributed(table: Any) -> bool:
    """Whether a table is a Dask collection or a path."""
    return isinstance(table, str | Path) or hasattr(table, "__dask_graph__")


def read_distributed(X: Any, present: Any, session: DaskSession) -> DistributedViews:
    """Views in row blocks of the same samples, one per worker, checked as on one machine."""
    tables = _named(X)
    row_names: dict[str, list[Future]] = {}
    chunks = {name: _chunks(table, name, session, row_names) for name, table in tables.items()}
    shapes = {name: _shapes(own, session) for name, own in chunks.items()}
    n = _same_rows(shapes)
    _check_same_index(tables, row_names, session)
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
        own = None if present is None else row_blocks(has[:, v], bounds)
        checks = session.gather(session.map_blocks("check", _check, blocks[v], own))
        for start, check in zip(bounds[:-1].tolist(), checks, strict=True):
            check_finite(check.non_finite, name, start)
        has[:, v] &= ~np.concatenate([check.non_finite.empty_rows for check in checks])
        if not has[:, v].all():
            own = row_blocks(has[:, v], bounds)
            blocks[v] = session.map_blocks("check", zero_missing_rows, blocks[v], own)
        digests.append(np.concatenate([check.digests for check in checks]))
        largest.append(max(check.largest for check in checks))
        counts = [check.stored for check in checks]
        stored.append(None if counts[0] is None else sum(filter(None, counts)))
    check_in_some_view(has)
    return DistributedViews(
        tuple(tables), widths, bounds, blocks, None if has.all() else has, digests, largest, stored
    )


def with_scalers(
    views: DistributedViews, scalings: Sequence[str | None], session: DaskSession
) -> DistributedViews:
    """The views with a scaler each; columns are judged by samples that the workers send."""
    scalers = []
    for v, scaling in enumerate(scalings):
        own: list[Any] = [None] * len(views.blocks[v])
        if views.present is not None:
            own = row_blocks(views.present[:, v], views.bounds)
        share = [len(views.blocks[v])] * len(own)
        parts = session.gather(session.map_blocks("check", _some_rows, views.blocks[v], own, share))
        sample = _concat(parts, [slice(None)] * len(parts))
        found = resolved_scaling(sample, views.names[v], scaling)
        warn_of_view(views.names[v], sample, found)
        scalers.append(fit_scaler(sample, found, views.largest[v]))
    return replace(views, scalers=tuple(scalers))


def _some_rows(matrix: Matrix, present: BoolArray | None, n_blocks: int) -> Matrix:
    """The share of one block of several in the samples that columns are judged by."""
    return statistics_sample(matrix if present is None else matrix[present], n_blocks)


def _named(X: Any) -> dict[str, Any]:
    several = (isinstance(X, list | tuple) and any(map(is_distributed, X))) or is_collection(X)
    tables = name_tables(getattr(X, "views", X) if several else [X])
    check_same_index({name: table for name, table in tables.items() if not is_distributed(table)})
    return tables


def _chunks(
    table: Any, name: str, session: DaskSession, row_names: dict[str, list[Future]]
) -> list[Future]:
    """The rows of a table as matrices, in chunks as given; hashes of a Dask frame's row names are
    added to `row_names`."""
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
    chunks = [session.track(chunk) for chunk in session.client.compute(delayed)]
    if hasattr(table, "index"):
        row_names[name] = [session.submit("read", _row_names, chunk) for chunk in chunks]
    return [session.submit("read", _matrix, chunk, name) for chunk in chunks]


def _matrix(chunk: Any, name: str) -> Matrix | str:
    """A chunk as a matrix, or what is wrong with it: raised here, it would fill workers' logs."""
    if chunk.shape[0] == 0:  # partitions may be empty, views not
        return np.empty(chunk.shape)
    try:
        return as_matrix(chunk, name)
    except ValueError as error:
        return str(error)


def _shapes(chunks: Sequence[Future], session: DaskSession) -> list[tuple[int, int]]:
    found = session.gather([session.submit("read", _shape, chunk) for chunk in chunks])
    for shape in found:
        if isinstance(shape, str):
            raise ValueError(shape)
    return found


def _shape(matrix: Matrix | str) -> tuple[int, int] | str:
    return matrix if isinstance(matrix, str) else (matrix.shape[0], matrix.shape[1])


def _check_same_index(
    tables: Mapping[str, Any], row_names: Mapping[str, list[Future]], session: DaskSession
) -> None:
    """Refuse data frames with different row names if some are Dask's."""
    known: dict[str, NDArray[np.uint64]] = {}
    for name, table in tables.items():
        if name in row_names:
            found = session.gather(row_names[name])
            if not all(is_default for is_default, _ in found):
                known[name] = np.concatenate([own for _, own in found])
        elif row_names and is_frame(table):
            known[name] = _row_names(table)[1]
    for name, own in known.items():
        first = next(iter(known))
        if not np.array_equal(known[first], own):
            raise ValueError(
                f"data frames '{first}' and '{name}' have different indexes; expected the same "
                "rows in the same order"
            )


def _row_names(frame: Any) -> tuple[bool, NDArray[np.uint64]]:
    """Whether the index is the default one, as in partitions without names, and its hashes."""
    import pandas as pd

    index = frame.index
    is_default = isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
    return is_default, pd.util.hash_pandas_object(index).to_numpy(dtype=np.uint64)


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
            f"view '{name}' has chunks of {sorted(widths)} columns; expected the same in all"
        )
    return widths.pop()


def _in_blocks(
    chunks: Sequence[Future], lengths: Sequence[int], bounds: IntArray, session: DaskSession
) -> list[Future]:
    """The rows of chunks of any lengths, in blocks."""
    ends = np.cumsum(lengths)
    blocks = []
    for b, (start, stop) in enumerate(pairwise(bounds.tolist())):
        parts, slices = [], []
        for chunk, end, length in zip(chunks, ends.tolist(), lengths, strict=True):
            low, high = max(start - (end - length), 0), min(stop - (end - length), length)
            if low < high:
                parts.append(chunk)
                slices.append(slice(low, high))
        blocks.append(session.submit("read", _concat, parts, slices, block=b))
    return blocks


def _concat(chunks: Sequence[Matrix], slices: Sequence[slice]) -> Matrix:
    parts = [chunk[rows] for chunk, rows in zip(chunks, slices, strict=True)]
    if len(parts) == 1:
        return parts[0]
    if any(isinstance(part, csr_array) for part in parts):
        return csr_array(vstack(parts, format="csr"))
    return np.concatenate(parts)


def _check(matrix: Matrix, present: BoolArray | None) -> _Check:
    non_finite = find_non_finite(matrix, present)
    known = ~non_finite.empty_rows if present is None else present & ~non_finite.empty_rows
    own = matrix if known.all() else matrix[known]
    values = own.data if isinstance(own, csr_array) else own
    largest = 0.0 if non_finite.n_values else float(np.abs(values).max(initial=0.0))
    stored = int(matrix.nnz) if isinstance(matrix, csr_array) else None
    return _Check(non_finite, row_digests(matrix), largest, stored)
