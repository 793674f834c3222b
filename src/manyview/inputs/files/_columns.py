"""What text and Parquet files share: named columns, of which some are ids and some are refused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from manyview._typing import FloatArray
from manyview.inputs import DroppedColumn, Preparation, Table, first_few, id_text
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
    """What each column of a file is, by its position: features, categories, ids, or left out.

    Of those that are left out, `texts` are kept as metadata.
    """

    path: Path
    names: tuple[str, ...]
    features: tuple[int, ...]
    categorical: tuple[int, ...]
    id_at: int | None
    dropped: tuple[DroppedColumn, ...]
    texts: tuple[int, ...] = ()

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(self.names[j] for j in self.features)

    @property
    def categorical_names(self) -> tuple[str, ...]:
        return tuple(self.names[j] for j in self.categorical)

    @property
    def text_names(self) -> tuple[str, ...]:
        return tuple(self.names[j] for j in self.texts)

    def table(
        self,
        matrix: FloatArray,
        ids: tuple[str, ...] | None,
        words: Mapping[str, Sequence[str | None]],
    ) -> Table:
        """The table of the features' numbers, and of the cells of categories and texts by name."""
        return Table(
            "",
            matrix,
            ids,
            self.feature_names,
            categorical={name: words[name] for name in self.categorical_names},
            preparation=Preparation(self.dropped),
            texts={name: words[name] for name in self.text_names},
        )

    def without(self, others: Mapping[int, DroppedColumn], options: ReadOptions) -> Columns:
        """The same without features that are no numbers; refused unless they are to be dropped."""
        if others and not options.drop_non_numeric:
            rows = {j: column.row or 0 for j, column in others.items()}
            _refuse(self.path, [others[j] for j in sorted(others, key=lambda j: (rows[j], j))])
        return replace(
            self,
            features=tuple(j for j in self.features if j not in others),
            dropped=self.dropped + tuple(others[j] for j in sorted(others)),
            texts=self.texts + tuple(j for j in sorted(others) if others[j].is_text),
        )


def columns_of(
    path: Path, names: Sequence[str], options: ReadOptions, id_at: int | None
) -> Columns:
    """Columns by what the user said of them."""
    others = [j for j in range(len(names)) if j != id_at]
    dropped = [j for j in others if names[j] in options.drop]
    categorical = [j for j in others if names[j] in options.categorical]
    features = [j for j in others if j not in {*dropped, *categorical}]
    asked = tuple(DroppedColumn.as_asked(names[j]) for j in dropped)
    return Columns(path, tuple(names), tuple(features), tuple(categorical), id_at, asked)


# A number whose decimal sign is a comma; 1,000 may be one with a thousands separator.
_DECIMAL_COMMA = r"\s*[-+]?\d*,(\d{1,2}|\d{4,})\s*"


def _refuse(path: Path, columns: Sequence[DroppedColumn]) -> NoReturn:
    """Columns that are not numbers, and what is in the first of them."""
    names = [column.name for column in columns]
    what = f"{len(names)} columns are" if len(names) > 1 else "1 column is"
    comma = any(re.fullmatch(_DECIMAL_COMMA, column.value or "") for column in columns)
    first = "say --decimal , for decimal commas, " if comma else ""
    raise ValueError(
        f"{path}: {what} not numeric ({first_few(names)}), column {columns[0]}; "
        f"expected numbers: {first}name ids with --id, categories with --categorical, texts for "
        "empty cells with --na-values, or leave columns out with --drop or --drop-non-numeric"
    )
