"""Parquet files as Dask arrays: column names, sizes and ids are read here, the rest by workers."""

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
from manyview.inputs.files import ReadOptions, open_parquet

_EXTENSIONS = (".parquet", ".pq")
# Bytes of numbers per task, at least: smaller row groups are read together.
_CHUNK = 2**25


def parquet_table(path: Path, options: ReadOptions | None = None) -> Table:
    """A Parquet file, or a folder of parts of one table, as a Dask array."""
    parts = [_part(own, options or ReadOptions()) for own in _part_paths(path)]
    columns = parts[0].columns
    for part in parts[1:]:
        if set(part.columns) != set(columns):
            odd = sorted(set(part.columns) ^ set(columns))
            raise ValueError(
                f"{part.path} and {parts[0].path} differ in column {odd[0]!r}; expected the same "
                "columns in all parts"
            )
    chunks = [
        _chunk(part.path, groups, columns, rows) for part in parts for groups, rows in part.chunks()
    ]
    if not chunks:
        raise ValueError(f"{path} has column names and no rows; expected a table")
    ids = None
    if options is not None and options.id_column is not None:
        ids = tuple(sample for part in parts for sample in part.ids)
    return Table("", da.concatenate(chunks), ids, tuple(columns))


def read_rows(path: Path, groups: Sequence[int], columns: Sequence[str], rows: int) -> FloatArray:
    """Row groups of a Parquet file that have so many rows in all; called on the workers."""
    if not path.exists():
        raise ValueError(f"{path}: a worker finds no such file; expected it there on all workers")
    with open_parquet(path) as file:
        found = sum(file.group_lengths[groups[0] : groups[-1] + 1])
        if found != rows:
            raise ValueError(f"{path} changed while it was read: {found} rows; expected {rows}")
        return file.numbers(columns, groups)


@dataclass(frozen=True)
class _Part:
    """One Parquet file: feature columns, ids, and the length of each row group."""

    path: Path
    columns: list[str]
    ids: tuple[str, ...]
    lengths: list[int]

    def chunks(self) -> Iterator[tuple[list[int], int]]:
        """Yield the row groups that one task reads, and their number of rows."""
        groups: list[int] = []
        rows = 0
        for group, length in enumerate(self.lengths):
            groups.append(group)
            rows += length
            if 8 * rows * len(self.columns) >= _CHUNK:
                yield groups, rows
                groups, rows = [], 0
        if rows:
            yield groups, rows


def _part(path: Path, options: ReadOptions) -> _Part:
    with open_parquet(path) as file:
        columns = file.feature_columns(options)
        ids = () if options.id_column is None else file.ids(options.id_column)
        return _Part(path, columns, ids, file.group_lengths)


def _part_paths(path: Path) -> list[Path]:
    path = path.resolve()  # workers run in other folders
    if path.is_file():
        return [path]
    if not path.exists():
        files = list(path.parent.glob(path.name))
        if not files:
            raise FileNotFoundError(f"{path}: no such file; expected a Parquet file or a folder")
        return _sorted(files)
    inside = [own for own in path.iterdir() if not own.name.startswith((".", "_"))]
    folders = sorted(own.name for own in inside if own.is_dir())
    if folders:
        raise ValueError(f"{path} has a folder {folders[0]!r}; expected Parquet files only")
    files = [own for own in inside if own.suffix.lower() in _EXTENSIONS]
    if not files:
        raise ValueError(f"{path} has no Parquet files; expected the parts of a table")
    return _sorted(files)


def _sorted(files: list[Path]) -> list[Path]:
    return sorted(files, key=lambda path: natural_sort_key(path.name))


def _chunk(path: Path, groups: list[int], columns: list[str], rows: int) -> Any:
    # A new name each time, as the file may have changed since Dask read it last.
    name = uuid4().hex
    read = dask.delayed(read_rows, pure=False)(
        path, groups, columns, rows, dask_key_name=f"manyview-file-{name}"
    )
    return da.from_delayed(
        read, (rows, len(columns)), dtype=np.float64, name=f"manyview-parquet-{name}"
    )
