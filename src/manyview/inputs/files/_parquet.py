"""Parquet files, streamed into one array."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manyview._typing import FloatArray
from manyview.inputs import Table
from manyview.inputs.files._columns import (
    check_distinct,
    checked_ids,
    id_position,
    import_pyarrow,
    log_dropped,
    refuse_columns,
    refuse_no_columns,
    refuse_no_rows,
)
from manyview.inputs.files._limits import (
    NAME_BYTES,
    ReadOptions,
    check_fits,
    check_readable,
    damaged,
    plain_ids,
    readable,
)

_BLOCK = 2**22  # bytes of numbers at a time, about
_OPEN_COLUMNS = 256  # at a time: every one that is open holds buffers, however short it is


def read_parquet(
    path: Path, key: str | None, options: ReadOptions, stored: Any = None
) -> list[Table]:
    """The table of a file, or of bytes `stored` that were made from it."""
    with open_parquet(path, stored) as file:
        columns = file.feature_columns(options)
        ids = None if options.id_column is None else file.ids(options.id_column)
        if sum(file.group_lengths) == 0:
            refuse_no_rows(path)
        return [Table("", file.numbers(columns), ids, tuple(columns))]


@contextmanager
def open_parquet(path: Path, stored: Any = None) -> Iterator[ParquetFile]:
    """An open file; errors while it is read are of one line that names the path."""
    pa = import_pyarrow(path)
    check_readable(path)
    source = str(path) if stored is None else pa.BufferReader(stored)
    try:
        with (
            readable(path, "Parquet", pa.ArrowException, OSError, NotImplementedError, KeyError),
            # Both settings keep whole row groups, often the whole file, out of memory.
            pa.parquet.ParquetFile(source, pre_buffer=False, buffer_size=2**16) as file,
        ):
            yield ParquetFile(path, pa, file)
    except (ValueError, TypeError) as error:
        if str(path) in str(error):  # our own messages name it; others come from pyarrow
            raise
        damaged(path, "Parquet", error)


@dataclass(frozen=True)
class ParquetFile:
    """What is read of a Parquet file: names of features, ids, and numbers."""

    path: Path
    _pa: Any
    _file: Any

    @property
    def group_lengths(self) -> list[int]:
        """Rows of each row group."""
        about = self._file.metadata
        return [about.row_group(group).num_rows for group in range(about.num_row_groups)]

    def feature_columns(self, options: ReadOptions) -> list[str]:
        """Columns that are features; all others but the ids are left out or refused.

        A stored index may be of numbers, but it counts or names the rows and is no measurement.
        """
        schema = self._file.schema_arrow
        names = list(schema.names)
        check_distinct(self.path, names)
        id_position(self.path, names, options.id_column)
        index = _index_columns(schema)
        fields = [field for field in schema if field.name != options.id_column]
        others = [f for f in fields if f.name in index or not _is_numeric(self._pa, f.type)]
        left_out = [field.name for field in others]
        if others and not options.drop_non_numeric:
            is_index = left_out[0] in index
            role = "the index of a data frame" if is_index else f"of type {others[0].type}"
            refuse_columns(self.path, left_out, f"is {role}")
        log_dropped(self.path, left_out)
        kept = [field.name for field in fields if field.name not in set(left_out)]
        return kept or refuse_no_columns(self.path)

    def ids(self, column: str) -> tuple[str, ...]:
        ids: list[str] = []
        n_rows = _BLOCK // NAME_BYTES
        for batch in self._file.iter_batches(n_rows, columns=[column], use_threads=False):
            values = _decoded(batch.column(column))
            check_fits(self.path, 2 * values.nbytes + NAME_BYTES * len(values), "ids")
            ids += checked_ids(self.path, values.to_pylist(), len(ids))
        return plain_ids(ids)

    def numbers(self, columns: Sequence[str], groups: Sequence[int] | None = None) -> FloatArray:
        """Columns of some row groups, or of all, as float64; NaN where there is no value."""
        lengths = self.group_lengths
        groups = list(range(len(lengths)) if groups is None else groups)
        n_rows = sum(lengths[group] for group in groups)
        what = f"{n_rows:,} rows of {len(columns):,} numbers, which it declares to have,"
        check_fits(self.path, 8 * n_rows * len(columns), what)
        matrix = np.empty((n_rows, len(columns)))
        for first in range(0, len(columns), _OPEN_COLUMNS):
            part = list(columns[first : first + _OPEN_COLUMNS])
            size, start = _BLOCK // (8 * len(part)), 0
            for batch in self._file.iter_batches(
                size, row_groups=groups, columns=part, use_threads=False
            ):
                block = _block(self._pa, [batch.column(name) for name in part])
                matrix[start : start + len(block), first : first + len(part)] = block
                start += len(block)
            if start != n_rows:
                raise ValueError(f"{self.path} has {start} rows; expected {n_rows}, as it declares")
        return matrix


def _block(pa: Any, columns: Sequence[Any]) -> FloatArray:
    # Integers beyond 2^53 are rounded.
    floats = [pa.compute.cast(_decoded(one), pa.float64(), safe=False) for one in columns]
    batch = pa.RecordBatch.from_arrays(floats, [str(j) for j in range(len(floats))])
    block: FloatArray = batch.to_tensor(null_to_nan=True).to_numpy()
    return block


def _decoded(column: Any) -> Any:
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


def _index_columns(schema: Any) -> set[str]:
    """Columns that pandas stored as the index of a data frame."""
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
