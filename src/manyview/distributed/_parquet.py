"""Parquet files as Dask arrays: here only names, sizes and ids are read, by workers the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from dask.utils import natural_sort_key

from manyview._typing import FloatArray
from manyview.inputs import Table
from manyview.inputs.files import (
    Options,
    arrow,
    as_floats,
    check_readable,
    feature_columns,
    open_parquet,
    parquet_errors,
    read_ids,
    refuse_empty,
    side_by_side,
)

#: How names of Parquet files end.
EXTENSIONS = (".parquet", ".pq")
# Bytes of numbers that a task reads at least, if there are so many: smaller row groups go together.
_PIECE = 2**25
# Bytes of numbers at a time while it does.
_BLOCK = 2**22


def parquet_table(path: Path, options: Options | None = None) -> Table:
    """A Parquet file, or a folder of its parts, as a Dask array; columns chosen as on one
    machine."""
    parts = [_part(own, options or Options()) for own in _part_paths(path)]
    columns = parts[0].columns
    for part in parts[1:]:
        if set(part.columns) != set(columns):
            odd = sorted(set(part.columns) ^ set(columns))
            raise ValueError(
                f"{part.path} and {parts[0].path} differ in column {odd[0]!r}; expected the same "
                "columns in all parts"
            )
    pieces = [
        _piece(part.path, groups, columns, rows) for part in parts for groups, rows in part.pieces()
    ]
    if not pieces:
        refuse_empty(path)
    ids = None
    if options is not None and options.id_column is not None:
        ids = tuple(sample for part in parts for sample in part.ids)
    return Table("", da.concatenate(pieces), ids, tuple(columns))


def read_rows(path: Path, groups: Sequence[int], columns: Sequence[str], rows: int) -> FloatArray:
    """Some row groups of a Parquet file, of so many rows; this is what workers do."""
    pa = arrow(path)
    if not path.exists():
        raise ValueError(f"{path}: a worker finds no such file; expected it there on all workers")
    with parquet_errors(pa, path), open_parquet(pa, path) as file:
        found = sum(file.metadata.row_group(group).num_rows for group in groups)
        if found != rows:
            raise ValueError(f"{path} changed while it was read: {found} rows; expected {rows}")
        matrix, start = np.empty((rows, len(columns))), 0
        size = max(1, _BLOCK // (8 * len(columns)))
        for batch in file.iter_batches(
            size, row_groups=list(groups), columns=list(columns), use_threads=False
        ):
            block = side_by_side(pa, [as_floats(pa, batch.column(name)) for name in columns])
            matrix[start : start + len(block)] = block
            start += len(block)
    return matrix


@dataclass(frozen=True)
class _Part:
    """One Parquet file: the columns that are features, ids, and the length of each row group."""

    path: Path
    columns: list[str]
    ids: tuple[str, ...]
    lengths: list[int]

    def pieces(self) -> Iterator[tuple[list[int], int]]:
        """Row groups that one task reads, and how many rows they have."""
        groups: list[int] = []
        rows = 0
        for group, length in enumerate(self.lengths):
            groups.append(group)
            rows += length
            if 8 * rows * len(self.columns) >= _PIECE:
                yield groups, rows
                groups, rows = [], 0
        if rows:
            yield groups, rows


def _part(path: Path, options: Options) -> _Part:
    pa = arrow(path)
    check_readable(path)
    with parquet_errors(pa, path), open_parquet(pa, path) as file:
        columns = feature_columns(pa, path, file.schema_arrow, options)
        about = file.metadata
        lengths = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
        ids: tuple[str, ...] = ()
        if options.id_column is not None:
            ids = read_ids(path, file, options.id_column)
        return _Part(path, columns, ids, lengths)


def _part_paths(path: Path) -> list[Path]:
    path = path.resolve()  # workers run in folders of their own
    if path.is_file():
        return [path]
    if not path.exists():
        files = list(path.parent.glob(path.name))
        if not files:
            raise FileNotFoundError(f"{path}: no such file; expected one of Parquet, or a folder")
        return sorted(files, key=_in_order)
    inside = [own for own in path.iterdir() if not own.name.startswith((".", "_"))]
    folders = sorted(own.name for own in inside if own.is_dir())
    if folders:
        raise ValueError(f"{path} has a folder {folders[0]!r}; expected Parquet files only")
    files = [own for own in inside if own.suffix.lower() in EXTENSIONS]
    if not files:
        raise ValueError(f"{path} has no Parquet files; expected the parts of a table")
    return sorted(files, key=_in_order)


def _in_order(path: Path) -> Any:
    return natural_sort_key(path.name)


def _piece(path: Path, groups: list[int], columns: list[str], rows: int) -> Any:
    # Names of their own each time: the file may have changed since a cluster read it last.
    name = uuid4().hex
    read = dask.delayed(read_rows, pure=False)(
        path, groups, columns, rows, dask_key_name=f"manyview-file-{name}"
    )
    return da.from_delayed(
        read, (rows, len(columns)), dtype=np.float64, name=f"manyview-parquet-{name}"
    )
