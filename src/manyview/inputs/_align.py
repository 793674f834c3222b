"""Tables as they were read -> matrices over the same samples, and who is missing where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import BoolArray, FloatArray, IntArray, Matrix
from manyview.inputs._missing import find_non_finite
from manyview.runtime import logger

_SHOWN = 5  # names or ids an error lists before it only counts
_LENGTH = 100  # letters of each that it shows


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
        One a row, or None where the rows have no names.
    features : tuple of str or None
        One a column, or None where the columns have no names.
    """

    name: str
    matrix: Matrix
    ids: tuple[str, ...] | None
    features: tuple[str, ...] | None


@dataclass(frozen=True)
class AlignedTables:
    """Views over the same samples.

    Parameters
    ----------
    ids : tuple of str
        One a sample; "0", "1", ... where there were none.
    views : dict of name to ndarray or csr_array
        All with one row a sample; a row of zeros where the sample is absent.
    present : bool array of shape (n_samples, n_views)
        Whether the sample is in the view.
    features : dict of name to tuple of str
        One a column; "0", "1", ... where there were none.
    has_ids : bool
        Whether the ids came with the tables.
    """

    ids: tuple[str, ...]
    views: dict[str, Matrix]
    present: BoolArray
    features: dict[str, tuple[str, ...]]
    has_ids: bool


def align(tables: Sequence[Table]) -> AlignedTables:
    """Put the rows of all tables into one order of samples.

    Ids join rows, and samples come in the order in which the tables first name them. Without ids
    row i of every table is sample i. A sample is absent from a view where the view has no row for
    it or a row of empty cells only. Matrices that need no change are passed on, not copied.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview.inputs import Table, align
    >>> text = Table("text", np.array([[1.0], [2.0]]), ("a", "b"), None)
    >>> image = Table("image", np.array([[3.0], [4.0]]), ("b", "c"), None)
    >>> aligned = align([text, image])
    >>> aligned.ids
    ('a', 'b', 'c')
    >>> aligned.present.tolist()
    [[True, False], [True, True], [False, True]]
    """
    _check_names(tables)
    for table in tables:
        _check_shape(table)
    has_ids = _check_same_kind(tables)
    ids = _joined_ids(tables) if has_ids else _numbered(_common_rows(tables))
    index = {sample: i for i, sample in enumerate(ids)} if has_ids else {}
    present = np.zeros((len(ids), len(tables)), dtype=bool)
    views: dict[str, Matrix] = {}
    for v, table in enumerate(tables):
        places = _places(table, index)
        filled = _filled_rows(table)
        present[places[filled], v] = True
        views[table.name] = _placed(table.matrix, places, filled, len(ids))
    _check_someone_knows(ids, present)
    if has_ids:
        _log_strangers(tables)
    features = {table.name: _feature_names(table) for table in tables}
    return AlignedTables(ids, views, present, features, has_ids)


def id_text(value: Any) -> str:
    """One id as text: 1, 1.0 and "1" are the same sample."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


def first_few(items: Sequence[str], shown: int = _SHOWN) -> str:
    """The first few items, quoted, and dots where there are more."""
    dots = ", ..." if len(items) > shown else ""
    short = (item if len(item) <= _LENGTH else item[:_LENGTH] + "..." for item in items[:shown])
    return ", ".join(map(repr, short)) + dots


def _check_names(tables: Sequence[Table]) -> None:
    if not tables:
        raise ValueError("got no tables; expected at least one")
    twice = [name for name, n in Counter(table.name for table in tables).items() if n > 1]
    if twice:
        raise ValueError(f"view name {twice[0]!r} comes more than once; expected distinct names")


def _check_shape(table: Table) -> None:
    shape = tuple(table.matrix.shape)
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"view {table.name!r} has shape {shape}; expected rows and columns")
    for what, names, n in (("rows", table.ids, shape[0]), ("columns", table.features, shape[1])):
        if names is not None and len(names) != n:
            raise ValueError(
                f"view {table.name!r} has {n} {what}, but names for {len(names)}; "
                "expected the same number"
            )


def _check_same_kind(tables: Sequence[Table]) -> bool:
    """Whether all tables have ids; an error where only some do."""
    named = [table.name for table in tables if table.ids is not None]
    nameless = [table.name for table in tables if table.ids is None]
    if named and nameless:
        raise ValueError(
            f"{first_few(named)} came with ids, {first_few(nameless)} without; "
            "expected ids in all or in none"
        )
    return bool(named)


def _joined_ids(tables: Sequence[Table]) -> tuple[str, ...]:
    joined: dict[str, None] = {}  # a set that keeps the order
    for table in tables:
        _check_ids(table)
        joined.update(dict.fromkeys(table.ids or ()))
    return tuple(joined)


def _check_ids(table: Table) -> None:
    ids = table.ids or ()
    for row, sample in enumerate(ids, start=1):
        if not sample.strip():
            raise ValueError(f"view {table.name!r} has an empty id in row {row}; expected a name")
    if len(set(ids)) < len(ids):
        counts = Counter(ids)
        twice = [sample for sample in counts if counts[sample] > 1]
        raise ValueError(
            f"view {table.name!r} has {counts[twice[0]]} rows with the id {twice[0]!r}, and "
            f"{len(twice)} such id(s); expected every id once"
        )


def _common_rows(tables: Sequence[Table]) -> int:
    """The number of rows, which must be the same where no ids join them."""
    shapes = [tuple(map(int, table.matrix.shape)) for table in tables]
    if len({rows for rows, _ in shapes}) == 1:
        return shapes[0][0]
    counts = ", ".join(
        f"{table.name!r} has {rows} rows" for table, (rows, _) in zip(tables, shapes, strict=True)
    )
    raise ValueError(
        f"tables without ids differ in length: {counts}; expected the same number"
        + _transposed_hint(tables)
    )


def _transposed_hint(tables: Sequence[Table]) -> str:
    """Which tables would fit if their rows were columns, if that makes all fit."""
    shapes = [tuple(map(int, table.matrix.shape)) for table in tables]
    shared = set.intersection(*(set(shape) for shape in shapes))
    if not shared:
        return ""
    n = max(shared)
    turned = [t.name for t, (rows, _) in zip(tables, shapes, strict=True) if rows != n]
    return f" ({first_few(turned)} with {n} columns might be transposed)"


def _numbered(n: int) -> tuple[str, ...]:
    return tuple(map(str, range(n)))


def _feature_names(table: Table) -> tuple[str, ...]:
    if table.features is not None:
        return tuple(table.features)
    return _numbered(int(table.matrix.shape[1]))


def _places(table: Table, index: dict[str, int]) -> IntArray:
    """The sample that each row of the table is about."""
    if table.ids is None:
        return np.arange(table.matrix.shape[0])
    return np.fromiter((index[sample] for sample in table.ids), np.intp, len(table.ids))


def _filled_rows(table: Table) -> BoolArray:
    """Rows that have numbers; an error where a row has some, or has infinities."""
    gaps = find_non_finite(table.matrix)
    if gaps.first_value is not None:
        _refuse_holes(table, *gaps.first_value, gaps.n_values)
    return ~gaps.empty_rows


def _refuse_holes(table: Table, row: int, column: int, n_places: int) -> None:
    sample = str(row) if table.ids is None else table.ids[row]
    raise ValueError(
        f"view {table.name!r} contains NaN or infinity in {n_places} place(s), the first for "
        f"sample {sample!r} in column {_feature_names(table)[column]!r}; expected finite numbers, "
        "or a row of empty cells only where a sample is missing"
    )


def _placed(matrix: Matrix, places: IntArray, filled: BoolArray, n_samples: int) -> Matrix:
    """The matrix with its row i at places[i], and zeros where no filled row goes."""
    in_place = len(places) == n_samples and bool((places == np.arange(n_samples)).all())
    if in_place and filled.all():
        return matrix
    if isinstance(matrix, csr_array):
        return _placed_sparse(matrix, places, n_samples)
    return _placed_dense(matrix, places, filled, n_samples)


def _placed_dense(
    matrix: FloatArray, places: IntArray, filled: BoolArray, n_samples: int
) -> FloatArray:
    placed = np.zeros((n_samples, matrix.shape[1]))
    placed[places] = matrix  # selecting the filled rows first would take a third copy
    placed[places[~filled]] = 0.0
    return placed


def _placed_sparse(matrix: csr_array, places: IntArray, n_samples: int) -> csr_array:
    order = np.argsort(places)
    picked = matrix[order]
    lengths = np.zeros(n_samples, dtype=picked.indptr.dtype)
    lengths[places[order]] = np.diff(picked.indptr)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(picked.indptr.dtype)
    return csr_array((picked.data, picked.indices, indptr), shape=(n_samples, matrix.shape[1]))


def _check_someone_knows(ids: tuple[str, ...], present: BoolArray) -> None:
    unknown = np.flatnonzero(~present.any(axis=1))
    if len(unknown):
        listed = first_few([ids[i] for i in unknown])
        raise ValueError(
            f"{len(unknown)} sample(s) are absent from all views: {listed}; "
            "expected numbers in at least one"
        )


def _log_strangers(tables: Sequence[Table]) -> None:
    """Ids spelled differently join nothing, which is no error but seldom what was meant."""
    counts = Counter(sample for table in tables for sample in table.ids or ())
    for table in tables:
        if len(tables) > 1 and all(counts[sample] == 1 for sample in table.ids or ()):
            logger.warning(
                "view '%s' shares no id with the other views; its first is %r",
                table.name,
                (table.ids or ("",))[0],
            )
