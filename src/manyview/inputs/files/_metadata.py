"""What is known of samples beside the views: metadata with columns of any kind, or classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from manyview.inputs import Table, first_few
from manyview.inputs.files._limits import ReadOptions
from manyview.inputs.files._spec import (
    COLUMNAR,
    SHEETS,
    TEXT_TABLES,
    Spec,
    extension_of,
    parse_spec,
    read_spec,
)

#: Cells, None where they are empty: in the order of the rows, or by id.
Cells = list[str | None] | dict[str, str | None]


@dataclass(frozen=True)
class MetadataTable:
    """Columns by name, each an array of numbers or of texts; `index` has the ids of the rows."""

    values: Mapping[str, Any]
    index: Sequence[str] | None

    @property
    def columns(self) -> list[str]:
        return list(self.values)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


def read_metadata(spec: str, options: ReadOptions) -> MetadataTable:
    """The columns of ``FILE``, of ``FILE@COLUMN`` with the ids in that column, or of a sheet,
    ``FILE:SHEET``; numbers first."""
    table = _table(parse_spec(spec), options, (*TEXT_TABLES, *COLUMNAR, *SHEETS))
    numbers = dict(zip(table.feature_names, table.matrix.T, strict=True))
    texts = {name: np.array(cells, dtype=object) for name, cells in table.texts.items()}
    return MetadataTable(numbers | texts, table.ids)


def read_column(spec: str, options: ReadOptions) -> tuple[Path, str, Cells]:
    """The file and the column that ``FILE:COLUMN`` names, and its cells as text.

    They are by id if there is a column of ids; ``FILE:COLUMN@IDS`` names that, too.
    """
    parsed = parse_spec(spec)
    path, column = parsed.path, parsed.key
    # What views leave out may be the classes.
    options = replace(options, drop=(), categorical=() if column is None else (column,))
    table = _table(replace(parsed, key=None), options, (*TEXT_TABLES, *COLUMNAR))
    if column is None or column not in table.categorical:
        wrong = "was given without a column" if column is None else f"has no column {column!r}"
        names = first_few([*table.feature_names, *table.texts])
        raise ValueError(f"{path} {wrong}; expected {path}:COLUMN with one of {names}")
    cells = list(table.categorical[column])
    return path, column, cells if table.ids is None else dict(zip(table.ids, cells, strict=True))


def _table(spec: Spec, options: ReadOptions, known: Sequence[str]) -> Table:
    """The only table of a file. What is to be left out of views may be shown beside them."""
    extension = extension_of(spec.path)
    if extension not in known:
        raise ValueError(f"{spec.path} is no table; expected a file of {', '.join(known)}")
    options = replace(options, drop_non_numeric=True, drop=(), transpose=False)
    tables = [item.table for item in read_spec(spec, extension, options)]
    if len(tables) > 1:
        raise ValueError(
            f"{spec.path} has {len(tables)} sheets; expected one, chosen as {spec.path}:SHEET"
        )
    return tables[0]
