"""Tables with categories and empty cells -> tables of numbers, encoded by scikit-learn."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import BoolArray, FloatArray, Matrix
from manyview.inputs._missing import check_finite, find_non_finite
from manyview.inputs._names import id_text, nearest_name
from manyview.inputs._tables import DroppedColumn, Table, numbered
from manyview.runtime import check_choice, logger


def prepared(
    tables: Sequence[Table], impute: str | None = None, categorical: Sequence[str] = ()
) -> list[Table]:
    """Tables with categorical columns encoded and, on request, empty cells filled."""
    check_columns_found("categorical", categorical, tables)
    if impute is not None:
        check_choice("impute", impute, ("median",))
    encoded = [one_hot(table) for table in tables]
    return encoded if impute is None else [imputed(table) for table in encoded]


def category_texts(values: Iterable[Any]) -> list[str | None]:
    """Values of any kind as the texts of categories; None where there is no value."""
    return [None if _is_nothing(value) else id_text(value).strip() or None for value in values]


def _is_nothing(value: Any) -> bool:
    missing = value is None or type(value).__name__ in ("NAType", "NaTType")
    return missing or bool(value != value)


def one_hot(table: Table, known: Mapping[str, Sequence[str]] | None = None) -> Table:
    """The table with a column of 0 and 1 per category, after its other columns.

    The categories are those of the table, or those of the training samples, `known`: others then
    are 0 in all columns. An empty cell is NaN in all of them.
    """
    if not table.categorical:
        return table
    matrix = table.matrix
    blocks: list[FloatArray] = [matrix.toarray() if isinstance(matrix, csr_array) else matrix]
    names, categories = list(table.feature_names), {}
    for column, cells in table.categorical.items():
        block, found = _one_hot(table.name, column, cells, None if known is None else known[column])
        blocks.append(block)
        names += [f"{column}={category}" for category in found]
        categories[column] = found
    if len(set(names)) < len(names):
        again = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"view {table.name!r} has a column {again!r} beside a category of that name; expected "
            "distinct names"
        )
    return replace(
        table,
        matrix=np.hstack(blocks),
        features=tuple(names),
        categorical={},
        preparation=replace(table.preparation, categories=categories),
    )


def _one_hot(
    view: str, column: str, cells: Sequence[str | None], known: Sequence[str] | None
) -> tuple[FloatArray, tuple[str, ...]]:
    from sklearn.preprocessing import OneHotEncoder

    values = np.array(cells, dtype=object)[:, None]
    filled = np.array([cell is not None for cell in cells])
    own = sorted({cell for cell in cells if cell is not None})
    label = f"view {view!r}: the categorical column {column!r}"
    if not own and known is None:
        raise ValueError(f"{label} is empty; expected categories")
    if known is None and len(own) == filled.sum() > 2:
        raise ValueError(
            f"{label} has a different value in each of its {len(own)} rows, such as {own[0]!r}; "
            "expected categories that samples share"
        )
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    encoder.fit(np.array(own if known is None else known, dtype=object)[:, None])
    categories = tuple(map(str, encoder.categories_[0]))
    block = np.full((len(cells), len(categories)), np.nan)
    if filled.any():
        block[filled] = encoder.transform(values[filled])
    unknown = [cells[row] for row in np.flatnonzero(~block.any(axis=1)).tolist()]
    if unknown:
        logger.warning(
            "view '%s': %d cell(s) of column '%s' have categories that no training sample has, "
            "such as %r; they count as none of the known ones",
            view, len(unknown), column, unknown[0],
        )  # fmt: skip
    return block, categories


def imputed(table: Table, training: Matrix | None = None) -> Table:
    """The table with the median of the column in its empty cells.

    Medians are those of the table, or of the training samples. A row without any number stays
    empty, as the view lacks that sample. In a sparse matrix, what is not stored is 0.
    """
    from sklearn.impute import SimpleImputer

    matrix = table.matrix
    numbers = _with_zeros(matrix)
    infinite = find_non_finite(numbers)
    if infinite.first_value is not None:
        check_finite(
            infinite, table.name, 0, table.ids or numbered(table.shape[0]), table.feature_names
        )
    found = find_non_finite(matrix)
    if found.first_value is None:
        return table
    rows = ~found.empty_rows
    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    imputer.fit(matrix[rows] if training is None else training)
    if training is None:
        _check_not_empty(table, rows)
    filled: Matrix = imputer.transform(matrix[rows])
    if isinstance(matrix, np.ndarray) and not rows.all():
        whole = matrix.copy()
        whole[rows] = filled
        filled = whole
    done = replace(table.preparation, imputed_cells=found.n_values)
    return replace(table, matrix=filled, preparation=done)


def _with_zeros(matrix: Matrix) -> Matrix:
    """The matrix with 0 for NaN."""
    if isinstance(matrix, csr_array):
        data = np.where(np.isnan(matrix.data), 0.0, matrix.data)
        return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    return np.where(np.isnan(matrix), 0.0, matrix)


def _check_not_empty(table: Table, rows: BoolArray) -> None:
    """Refuse columns without any number: they have no median."""
    if isinstance(table.matrix, csr_array):
        return
    empty = np.flatnonzero(np.isnan(table.matrix[rows]).all(axis=0))
    if len(empty):
        name = table.feature_names[empty[0]]
        raise ValueError(
            f"view {table.name!r} has no number in column {name!r}, so it has no median; expected "
            f"one, or leave the column out with --drop {name}"
        )


def without_columns(table: Table, names: Sequence[str]) -> Table:
    """The table without these columns, as far as it has them."""
    dropped = [name for name in table.features or () if name in names]
    if not dropped:
        return table
    kept = [j for j, name in enumerate(table.feature_names) if name not in dropped]
    if not kept:
        raise ValueError(f"view {table.name!r} has no column left; expected at least one")
    why = tuple(DroppedColumn.as_asked(name) for name in dropped)
    return replace(
        table,
        matrix=table.matrix[:, kept],
        features=tuple(table.feature_names[j] for j in kept),
        preparation=replace(table.preparation, dropped=table.preparation.dropped + why),
    )


def check_columns_found(option: str, wanted: Sequence[str], tables: Sequence[Table]) -> None:
    """Refuse names of columns that no table has."""
    known = [name for table in tables for name in _column_names(table)]
    for name in wanted:
        if name not in known:
            raise ValueError(
                f"{option} has {name!r}, but no view has such a column; {nearest_name(name, known)}"
            )


def _column_names(table: Table) -> list[str]:
    dropped = [one.name for one in table.preparation.dropped]
    return [*(table.features or ()), *table.categorical, *dropped]
