"""Parquet files, streamed into one array."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from manyview._typing import FloatArray
from manyview.inputs import Table
from manyview.inputs.files._columns import (
    arrow,
    check_distinct,
    check_some,
    checked_ids,
    log_dropped,
    position,
    refuse_columns,
    refuse_empty,
    side_by_side,
)
from manyview.inputs.files._limits import (
    NAME_BYTES,
    Options,
    check_fits,
    damaged,
    plain_ids,
    readable,
)

_BLOCK = 2**22  # bytes of numbers at a time, about
_ID_BYTES = 64  # of one id in memory, about
_OPEN_COLUMNS = 256  # at a time


def read_parquet(path: Path, key: str | None, options: Options) -> list[Table]:
    pa = arrow(path)
    with parquet_errors(pa, path), open_parquet(pa, path) as file:
        columns = feature_columns(pa, path, file.schema_arrow, options)
        ids = None if options.id_column is None else read_ids(path, file, options.id_column)
        return [Table("", _read_matrix(pa, path, file, columns), ids, tuple(columns))]


def open_parquet(pa: Any, path: Path) -> Any:
    # Both settings keep whole row groups, often the whole file, out of memory.
    return pa.parquet.ParquetFile(str(path), pre_buffer=False, buffer_size=2**16)


@contextmanager
def parquet_errors(pa: Any, path: Path) -> Iterator[None]:
    """Our own messages name the path; what does not comes from pyarrow."""
    try:
        with readable(path, "Parquet", pa.ArrowException, OSError, NotImplementedError, KeyError):
            yield
    except (ValueError, TypeError) as error:
        if str(path) in str(error):
            raise
        damaged(path, "Parquet", error)


def feature_columns(pa: Any, path: Path, schema: Any, options: Options) -> list[str]:
    """Columns that are features; others but that of ids are dropped or refused."""
    names = list(schema.names)
    check_distinct(path, names)
    id_at = position(path, names, options.id_column)
    odd = _odd_columns(pa, schema, id_at)
    if odd and not options.drop_non_numeric:
        _refuse_types(path, schema, odd)
    log_dropped(path, [names[j] for j in odd])
    left_out = {*odd, id_at}
    kept = [j for j in range(len(names)) if j not in left_out]
    check_some(path, kept)
    return [names[j] for j in kept]


def read_ids(path: Path, file: Any, column: str) -> tuple[str, ...]:
    ids: list[str] = []
    for batch in file.iter_batches(_BLOCK // _ID_BYTES, columns=[column], use_threads=False):
        values = _decoded(batch.column(column))
        check_fits(path, 2 * values.nbytes + NAME_BYTES * len(values), "ids")
        ids += checked_ids(path, values.to_pylist(), len(ids))
    return plain_ids(ids)


def _read_matrix(pa: Any, path: Path, file: Any, columns: Sequence[str]) -> FloatArray:
    """All columns, some at a time: every one that is open holds buffers, however short it is."""
    n_rows = file.metadata.num_rows
    if n_rows == 0:
        refuse_empty(path)
    what = f"{n_rows:,} rows of {len(columns):,} numbers, which it declares to have,"
    check_fits(path, 8 * n_rows * len(columns), what)
    matrix = np.empty((n_rows, len(columns)))
    for first in range(0, len(columns), _OPEN_COLUMNS):
        part = columns[first : first + _OPEN_COLUMNS]
        start = 0
        for batch in file.iter_batches(_BLOCK // (8 * len(part)), columns=part, use_threads=False):
            block = side_by_side(pa, [as_floats(pa, batch.column(name)) for name in part])
            matrix[start : start + len(block), first : first + len(part)] = block
            start += len(block)
        if start != n_rows:
            raise ValueError(f"{path} has {start} rows; expected {n_rows}, as it says itself")
    return matrix


def _odd_columns(pa: Any, schema: Any, id_at: int | None) -> list[int]:
    """Columns that are not features: no numbers, or the index of a data frame.

    A stored index may well be of numbers, but it counts or names the rows and measures nothing.
    """
    index = _index_columns(schema)
    return [
        j
        for j, one in enumerate(schema)
        if j != id_at and (one.name in index or not _is_numeric(pa, one.type))
    ]


def _index_columns(schema: Any) -> set[str]:
    metadata = schema.metadata or {}
    try:
        stored = json.loads(metadata.get(b"pandas", b"{}")).get("index_columns", [])
    except (ValueError, AttributeError):
        return set()
    return {name for name in stored if isinstance(name, str)}


def _is_numeric(pa: Any, kind: Any) -> bool:
    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    checks = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(check(kind) for check in checks) or types.is_null(kind)


def _refuse_types(path: Path, schema: Any, odd: Sequence[int]) -> NoReturn:
    first = schema.field(odd[0])
    is_index = first.name in _index_columns(schema)
    role = "the index of a data frame" if is_index else f"of type {first.type}"
    refuse_columns(path, [schema.field(j).name for j in odd], f"is {role}")


def _decoded(column: Any) -> Any:
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


def as_floats(pa: Any, column: Any) -> Any:
    column = _decoded(column)
    if column.type == pa.float64():
        return column
    return pa.compute.cast(column, pa.float64(), safe=False)  # integers beyond 2^53 are rounded
