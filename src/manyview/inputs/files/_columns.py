"""What text and Parquet files share: named columns, of which some are ids and some are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from manyview._typing import FloatArray
from manyview.inputs import few, id_text
from manyview.inputs.files._limits import check_fits
from manyview.runtime import logger


class GrowingMatrix:
    """A matrix that grows by blocks of rows."""

    def __init__(self, path: Path, n_columns: int, n_expected: int) -> None:
        self._path = path
        self._check(n_expected, n_columns)
        self._matrix = np.empty((n_expected, n_columns))
        self._n = 0

    def append(self, block: FloatArray) -> None:
        end = self._n + len(block)
        if end > len(self._matrix):
            # Memory is extended where it lies, or its pages are moved: there is no second copy.
            # No view of it exists, hence no check for one.
            rows = max(end, len(self._matrix) * 3 // 2)
            self._check(rows - len(self._matrix), self._matrix.shape[1])
            self._matrix.resize((rows, self._matrix.shape[1]), refcheck=False)
        self._matrix[self._n : end] = block
        self._n = end

    def _check(self, n_rows: int, n_columns: int) -> None:
        what = f"room for {n_rows:,} more rows of {n_columns:,} numbers"
        check_fits(self._path, 8 * n_rows * n_columns, what)

    def finish(self, n_dropped: int = 0) -> FloatArray:
        """The matrix, without so many of its last rows."""
        n_rows = self._n - n_dropped
        self._matrix.resize((n_rows, self._matrix.shape[1]), refcheck=False)
        return self._matrix


def arrow(path: Path) -> Any:
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"reading {path} needs pyarrow: pip install 'manyview[files]'") from error
    return pyarrow


def side_by_side(pa: Any, columns: Sequence[Any]) -> FloatArray:
    """Columns of float64 as one block, NaN where there is no value."""
    names = [str(j) for j in range(len(columns))]
    batch = pa.RecordBatch.from_arrays(columns, names)
    block: FloatArray = batch.to_tensor(null_to_nan=True).to_numpy()
    return block


def position(path: Path, columns: Sequence[str], id_column: str | None) -> int | None:
    """Where the ids are."""
    if id_column is None:
        return None
    if id_column not in columns:
        raise ValueError(
            f"{path} has no column {id_column!r} for the ids; expected one of {few(columns)}"
        )
    return list(columns).index(id_column)


def checked_ids(path: Path, values: Sequence[Any], n_before: int) -> list[str]:
    """Values as ids; an error where there is none."""
    texts = ["" if value is None or value != value else id_text(value) for value in values]
    for row, text in enumerate(texts, start=n_before + 1):
        if not text.strip():
            raise ValueError(f"{path} has no id in row {row}; expected one a row")
    return texts


def check_distinct(path: Path, names: Sequence[str]) -> None:
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise ValueError(f"{path} has two columns named {twice[0]!r}; expected distinct names")


def check_some(path: Path, kept: Sequence[int]) -> None:
    if not kept:
        raise ValueError(f"{path} has no numeric column left; expected at least one")


def refuse_columns(path: Path, names: Sequence[str], why_the_first: str) -> NoReturn:
    """Columns that are not numbers, and what is in the first of them."""
    what = f"{len(names)} columns are" if len(names) > 1 else "1 column is"
    raise ValueError(
        f"{path}: {what} not numeric ({few(names)}), column {names[0]!r} {why_the_first}; "
        "expected numbers: name the column of sample ids with --id, "
        "or leave such columns out with --drop-non-numeric"
    )


def refuse_empty(path: Path) -> NoReturn:
    raise ValueError(f"{path} has column names and no rows; expected a table")


def log_dropped(path: Path, names: Sequence[str]) -> None:
    if names:
        logger.info("%s: left out %d columns: %s", path, len(names), few(names))
