"""Parquet files as Dask arrays: column names, sizes and ids are read here, the rest by workers."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from dask.utils import natural_sort_key

from manyview._typing import FloatArray
from manyview.inputs import DroppedColumn, Preparation, Table
from manyview.inputs.files import ReadOptions, open_parquet

_EXTENSIONS = (".parquet", ".pq")
# Bytes of numbers per task, at least: smaller row groups are read together.
_CHUNK = 2**25


def parquet_table(path: Path, options: ReadOptions | None = None) -> Table:
    """A Parquet file, or a folder of parts of one table, as a Dask array."""
    options = options or ReadOptions()
    parts = _part_paths(path)
    columns: list[str] = []
    dropped: tuple[DroppedColumn, ...] = ()
    ids: list[str] = []
    chunks = []
    for part in parts:
        with open_parquet(part) as file:
            kinds = file.columns(options)
            found, dropped = list(kinds.feature_names), kinds.dropped
            columns = columns or found
            if set(found) != set(columns):
                odd = sorted(set(found) ^ set(columns))
                raise ValueError(
                    f"{part} and {parts[0]} differ in column {odd[0]!r}; expected the same "
                    "columns in all parts"
                )
            if options.id_column is not None:
                ids += file.ids(options.id_column)
            for groups, rows in _group_chunks(file.group_lengths, len(columns)):
                chunks.append(_chunk(part, groups, columns, rows))
    if not chunks:
        raise ValueError(f"{path} has column names and no rows; expected a table")
    samples = None if options.id_column is None else tuple(ids)
    done = Preparation(dropped)
    return Table("", da.concatenate(chunks), samples, tuple(columns), preparation=done)


def read_rows(path: Path, groups: Sequence[int], columns: Sequence[str], rows: int) -> FloatArray:
    """Row groups of a Parquet file that have so many rows in all; called on the workers."""
    if not path.exists():
        raise ValueError(f"{path}: a worker finds no such file; expected it there on all workers")
    with open_parquet(path) as file:
        found = sum(file.group_lengths[groups[0] : groups[-1] + 1])
        if found != rows:
            raise ValueError(f"{path} changed while it was read: {found} rows; expected {rows}")
        return file.numbers(columns, groups)


def _group_chunks(lengths: Sequence[int], width: int) -> Iterator[tuple[list[int], int]]:
    """Yield row groups that one task reads, and their number of rows."""
    groups: list[int] = []
    rows = 0
    for group, length in enumerate(lengths):
        groups.append(group)
        rows += length
        if 8 * rows * width >= _CHUNK:
            yield groups, rows
            groups, rows = [], 0
    if rows:
        yield groups, rows


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
