"""Parquet files as Dask arrays: column names, sizes and ids are read here, the rest by workers."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import dask
import dask.array as da
import numpy as np

from manyview._typing import FloatArray
from manyview.inputs import Preparation, Table
from manyview.inputs.files import ReadOptions, open_parquet, parquet_parts

# Bytes of numbers per task, at least: smaller row groups are read together.
_CHUNK = 2**25


def parquet_table(path: Path, options: ReadOptions | None = None) -> Table:
    """A Parquet file, or a folder of parts of one table, as a Dask array."""
    # Workers run in other folders, so the path is resolved.
    parts = parquet_parts(path.resolve(), options or ReadOptions())
    names = parts.columns.feature_names
    chunks = [
        _chunk(part, groups, names, rows)
        for part, lengths in parts.group_lengths.items()
        for groups, rows in _group_chunks(lengths, len(names))
    ]
    done = Preparation(parts.columns.dropped)
    return Table("", da.concatenate(chunks), parts.ids, names, preparation=done)


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


def _chunk(path: Path, groups: list[int], columns: Sequence[str], rows: int) -> Any:
    # A new name each time, as the file may have changed since Dask read it last.
    name = uuid4().hex
    read = dask.delayed(read_rows, pure=False)(
        path, groups, columns, rows, dask_key_name=f"manyview-file-{name}"
    )
    return da.from_delayed(
        read, (rows, len(columns)), dtype=np.float64, name=f"manyview-parquet-{name}"
    )
