"""Metadata of samples: a table with columns of any kind."""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manyview.inputs import id_text
from manyview.inputs.files._columns import (
    check_distinct,
    checked_ids,
    id_position,
    import_pyarrow,
    refuse_no_rows,
)

_TEXT = (".csv", ".tsv", ".txt")
_PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class MetadataTable:
    """Columns by name, each an array of numbers or of objects; `index` has the ids of the rows."""

    values: Mapping[str, Any]
    index: Sequence[str] | None

    @property
    def columns(self) -> list[str]:
        return list(self.values)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


def read_metadata(spec: str, id_column: str | None = None) -> MetadataTable:
    """Read ``FILE`` or ``FILE@COLUMN``, with the column of the ids.

    Text files have a header, and commas, semicolons or tabs between cells.
    """
    path, _, own = spec.rpartition("@")
    if Path(spec).exists() or not path:
        path, own = spec, ""
    file, id_column = Path(path), own or id_column
    kind = Path(file.stem if file.suffix == ".gz" else file).suffix.lower()
    if kind not in (*_TEXT, *_PARQUET):
        raise ValueError(f"metadata in {file}; expected a file of {', '.join(_TEXT + _PARQUET)}")
    table = _arrow_table(file, kind, id_column)
    check_distinct(file, table.column_names)
    if table.num_rows == 0:
        refuse_no_rows(file)
    id_at = id_position(file, table.column_names, id_column)
    ids = None if id_at is None else checked_ids(file, table.column(id_at).to_pylist(), 0)
    values = {
        name: _values(table.column(j)) for j, name in enumerate(table.column_names) if j != id_at
    }
    return MetadataTable(values, ids and [id_text(name) for name in ids])


def _arrow_table(path: Path, kind: str, id_column: str | None) -> Any:
    pa = import_pyarrow(path)
    try:
        if kind in _PARQUET:
            return pa.parquet.read_table(path)
        # Ids stay texts: 007 is not 7.
        types = {} if id_column is None else {id_column: pa.string()}
        return pa.csv.read_csv(
            path,
            parse_options=pa.csv.ParseOptions(delimiter=_delimiter(path), newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(column_types=types, strings_can_be_null=True),
        )
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {error}; expected a table with a header") from error


def _delimiter(path: Path) -> str:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig") as text:
        header = text.readline()
    return max(",;\t", key=header.count)


def _values(column: Any) -> Any:
    """Numbers as they are, anything else as objects; NaN and None where there is nothing."""
    values = column.to_pylist()
    if all(value is None or type(value) in (int, float) for value in values):
        return np.array(values, dtype=np.float64)
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects
