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
from manyview.inputs import DroppedColumn, Table, category_texts
from manyview.inputs.files._columns import (
    Columns,
    check_distinct,
    checked_ids,
    columns_of,
    id_position,
    import_pyarrow,
)
from manyview.inputs.files._csv_format import NO_VALUE
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

    def transposed_table(self, options: ReadOptions) -> Table:
        """The table of a file with a feature per row, whose columns are samples.

        The names of features are the index of a data frame, if it is stored, or the first column.
        """
        if options.id_column is not None:
            raise ValueError(
                f"{self.path} is to be transposed, so its header has the ids; expected no --id"
            )
        index = _index_columns(self._file.schema_arrow)
        names = list(self._file.schema_arrow.names)
        named_by = next((name for name in names if name in index), names[0])
        columns = self.columns(ReadOptions(id_column=named_by))
        matrix = np.ascontiguousarray(self.numbers(columns.feature_names).T)
        features = self.ids(named_by)
        check_distinct(self.path, features)
        return Table("", matrix, plain_ids(columns.feature_names), features)

    def columns(self, options: ReadOptions) -> Columns:
        """Columns by what they are; those that are no numbers are left out or refused.

        A stored index may be of numbers, but it counts or names the rows and is no measurement.
        """
        schema = self._file.schema_arrow
        check_distinct(self.path, schema.names)
        id_at = id_position(self.path, schema.names, options.id_column)
        columns = columns_of(self.path, schema.names, options, id_at)
        index, others = _index_columns(schema), {}
        for j in columns.features:
            field = schema.field(j)
            if field.name in index:
                others[j] = DroppedColumn(field.name, "is the index of a data frame")
            elif not _is_numeric(self._pa, field.type):
                why, is_text = f"is of type {field.type}", _is_text(self._pa, field.type)
                others[j] = DroppedColumn(field.name, why, is_text=is_text)
        return columns.without(others, options)

    def categories(self, column: str, options: ReadOptions) -> list[str | None]:
        """The cells of a column as text; None where there is no value."""
        empty = NO_VALUE + options.na_values
        cells = (cell for values in self._cells(column) for cell in category_texts(values))
        return [None if cell in empty else cell for cell in cells]

    def ids(self, column: str) -> tuple[str, ...]:
        ids: list[str] = []
        for values in self._cells(column):
            ids += checked_ids(self.path, values, len(ids))
        return plain_ids(ids)

    def _cells(self, column: str) -> Iterator[list[Any]]:
        """The values of a column, some rows at a time."""
        n_rows = _BLOCK // NAME_BYTES
        for batch in self._file.iter_batches(n_rows, columns=[column], use_threads=False):
            values = _decoded(batch.column(column))
            what = f"the values of column {column!r}"
            check_fits(self.path, 2 * values.nbytes + NAME_BYTES * len(values), what)
            yield values.to_pylist()

    def numbers(
        self,
        columns: Sequence[str],
        groups: Sequence[int] | None = None,
        into: FloatArray | None = None,
    ) -> FloatArray:
        """Columns of some row groups, or of all, as float64, in a new array or `into` one; NaN
        where there is no value."""
        lengths = self.group_lengths
        groups = list(range(len(lengths)) if groups is None else groups)
        n_rows = sum(lengths[group] for group in groups)
        matrix = room_for(self.path, n_rows, len(columns)) if into is None else into
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


def room_for(path: Path, n_rows: int, n_columns: int) -> FloatArray:
    what = f"{n_rows:,} rows of {n_columns:,} numbers, declared to be there,"
    check_fits(path, 8 * n_rows * n_columns, what)
    return np.empty((n_rows, n_columns))


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


def _is_text(pa: Any, kind: Any) -> bool:
    """Texts and dates, but no lists or bytes."""
    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    checks = (types.is_string, types.is_large_string, types.is_string_view, types.is_temporal)
    return any(check(kind) for check in checks)


def _is_numeric(pa: Any, kind: Any) -> bool:
    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    checks = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(check(kind) for check in checks) or types.is_null(kind)
