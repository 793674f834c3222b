"""Tables as they were read, what was done to their columns, and tables over the same samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from manyview._typing import BoolArray, Matrix

_ASKED = "was to be dropped"


@dataclass(frozen=True)
class DroppedColumn:
    """A column that was left out, and why; `row`, from 1, and `value` if a cell was the cause.

    `is_text` tells whether its cells are kept as `texts` of the table.
    """

    name: str
    reason: str
    row: int | None = None
    value: str | None = None
    is_text: bool = False

    @classmethod
    def as_asked(cls, name: str) -> Self:
        """A column that the user wanted to be left out."""
        return cls(name, _ASKED)

    @property
    def was_asked_for(self) -> bool:
        return self.reason == _ASKED

    def __str__(self) -> str:
        return f"{self.name!r} {self.reason}"


@dataclass(frozen=True)
class Preparation:
    """What was done to the columns of a table before it was a matrix of finite numbers.

    Parameters
    ----------
    dropped : tuple of DroppedColumn
    categories : dict of column to tuple of str
        The categories of each column that was one-hot encoded.
    imputed_cells : int
        How many empty cells were filled with the median of their column.
    """

    dropped: tuple[DroppedColumn, ...] = ()
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    imputed_cells: int = 0

    def summary(self) -> dict[str, Any]:
        """The same in types that JSON has."""
        dropped = [
            {"column": one.name, "reason": one.reason, "row": one.row, "value": one.value}
            for one in self.dropped
        ]
        categories = {name: list(known) for name, known in self.categories.items()}
        return {
            "dropped_columns": dropped,
            "categorical_columns": categories,
            "imputed_cells": self.imputed_cells,
        }


@dataclass(frozen=True)
class Table:
    """One view as it was read.

    Parameters
    ----------
    name : str
        Name of the view.
    matrix : ndarray or csr_array of shape (n_rows, n_features)
        Float64, NaN where a cell is empty.
    ids : tuple of str or None
        One per row, or None where the rows have no names.
    features : tuple of str or None
        One per column, or None where the columns have no names.
    id_name : str or None
        What the ids are called, such as the name of their column.
    index : pandas.Index or None
        That of the data frame.
    categorical : dict of column to sequence of str or None
        Columns that `one_hot` is still to encode, None where a cell is empty.
    preparation : Preparation
    texts : dict of column to sequence of str or None
        Columns that were left out as they are text: metadata of the samples.
    """

    name: str
    matrix: Matrix
    ids: tuple[str, ...] | None
    features: tuple[str, ...] | None
    id_name: str | None = None
    index: Any = None
    categorical: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    preparation: Preparation = field(default_factory=Preparation)
    texts: Mapping[str, Sequence[str | None]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(int, self.matrix.shape))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns; "0", "1", ... where they have none."""
        return numbered(self.shape[1]) if self.features is None else tuple(self.features)


@dataclass(frozen=True)
class AlignedTables:
    """Views over the same samples.

    Parameters
    ----------
    ids : tuple of str
        One per sample; "0", "1", ... where there were none.
    views : dict of name to ndarray or csr_array
        All with one row per sample; a row of zeros where the sample is missing.
    present : bool array of shape (n_samples, n_views)
        Whether the sample is in the view.
    features : dict of name to tuple of str
        One per column; "0", "1", ... where there were none.
    has_ids : bool
        Whether the ids came with the tables.
    id_name : str
        What all tables call the ids, or "id".
    index : pandas.Index or None
        The samples as the index of the data frames has them.
    preparations : dict of name to Preparation
    texts : dict of column to sequence of str or None
        Columns of all tables that were left out as they are text, one cell per sample.
    """

    ids: tuple[str, ...]
    views: dict[str, Matrix]
    present: BoolArray
    features: dict[str, tuple[str, ...]]
    has_ids: bool
    id_name: str = "id"
    index: Any = None
    preparations: Mapping[str, Preparation] = field(default_factory=dict)
    texts: Mapping[str, Sequence[str | None]] = field(default_factory=dict)

    def preparation(self, view: str) -> Preparation:
        """What was done to the columns of a view."""
        return self.preparations.get(view, Preparation())


def numbered(n: int) -> tuple[str, ...]:
    return tuple(map(str, range(n)))
