"""What text and Parquet files share: named columns, of which some are ids and some are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from manyview.inputs import DroppedColumn, first_few, id_text
from manyview.inputs.files._limits import ReadOptions


def import_pyarrow(path: Path) -> Any:
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"reading {path} needs pyarrow: pip install 'manyview[files]'") from error
    return pyarrow


def id_position(path: Path, columns: Sequence[str], id_column: str | None) -> int | None:
    """Index of the column of ids."""
    if id_column is None:
        return None
    if id_column not in columns:
        raise ValueError(
            f"{path} has no column {id_column!r} for the ids; expected one of {first_few(columns)}"
        )
    return list(columns).index(id_column)


def checked_ids(path: Path, values: Sequence[Any], n_before: int) -> list[str]:
    """Values as ids; an error where there is none."""
    texts = ["" if value is None or value != value else id_text(value) for value in values]
    for row, text in enumerate(texts, start=n_before + 1):
        if not text.strip():
            raise ValueError(f"{path} has no id in row {row}; expected one per row")
    return texts


def check_distinct(path: Path, names: Sequence[str]) -> None:
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise ValueError(f"{path} has two columns named {twice[0]!r}; expected distinct names")


def refuse_no_rows(path: Path) -> NoReturn:
    raise ValueError(f"{path} has column names and no rows; expected a table")


@dataclass(frozen=True)
class Columns:
    """What each column of a file is, by its position: features, categories, ids, or left out."""

    path: Path
    names: tuple[str, ...]
    features: tuple[int, ...]
    categorical: tuple[int, ...]
    id_at: int | None
    dropped: tuple[DroppedColumn, ...]

    @property
    def read(self) -> list[int]:
        """The columns that are read at all."""
        ids = () if self.id_at is None else (self.id_at,)
        return [*self.features, *self.categorical, *ids]

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(self.names[j] for j in self.features)

    @property
    def categorical_names(self) -> tuple[str, ...]:
        return tuple(self.names[j] for j in self.categorical)

    def without(self, others: Mapping[int, DroppedColumn], options: ReadOptions) -> Columns:
        """The same without features that are no numbers; refused unless they are to be dropped."""
        if others and not options.drop_non_numeric:
            rows = {j: column.row or 0 for j, column in others.items()}
            _refuse(self.path, [others[j] for j in sorted(others, key=lambda j: (rows[j], j))])
        features = tuple(j for j in self.features if j not in others)
        if not features and not self.categorical:
            raise ValueError(f"{self.path} has no numeric column left; expected at least one")
        in_order = tuple(others[j] for j in sorted(others))
        return replace(self, features=features, dropped=self.dropped + in_order)


def columns_of(
    path: Path, names: Sequence[str], options: ReadOptions, id_at: int | None
) -> Columns:
    """Columns by what the user said of them."""
    others = [j for j in range(len(names)) if j != id_at]
    dropped = [j for j in others if names[j] in options.drop]
    categorical = [j for j in others if names[j] in options.categorical]
    features = [j for j in others if j not in {*dropped, *categorical}]
    asked = tuple(DroppedColumn.as_asked(names[j]) for j in dropped)
    columns = Columns(path, tuple(names), tuple(features), tuple(categorical), id_at, asked)
    return columns.without({}, options)


def _refuse(path: Path, columns: Sequence[DroppedColumn]) -> NoReturn:
    """Columns that are not numbers, and what is in the first of them."""
    names = [column.name for column in columns]
    what = f"{len(names)} columns are" if len(names) > 1 else "1 column is"
    raise ValueError(
        f"{path}: {what} not numeric ({first_few(names)}), column {columns[0]}; "
        "expected numbers: name the column of sample ids with --id, columns of categories with "
        "--categorical, further texts for empty cells with --na-values, or leave such columns out "
        "with --drop or --drop-non-numeric"
    )
