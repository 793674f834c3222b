"""Input in any shape -> one frozen record of named, checked matrices over the same samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, ValuesView
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array

from manyview._checks import check_integer
from manyview._typing import Matrix

# How polars and pandas spell the types of columns that are text or time.
_NO_NUMBERS = ("String", "Utf8", "str", "Date", "Time", "Duration", "datetime", "timedelta")


@dataclass(frozen=True)
class Views:
    """The same N samples described by V matrices, one row a sample."""

    names: tuple[str, ...]
    matrices: tuple[Matrix, ...]

    @property
    def n_samples(self) -> int:
        return int(self.matrices[0].shape[0])

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(int(matrix.shape[1]) for matrix in self.matrices)


def is_collection(X: Any) -> bool:
    """Whether X is several tables rather than one.

    A dict always is, and so is a data set with a dict of views. A list, a tuple, the values of a
    dict or an array of objects is when one of its elements is itself a table, so that a plain list
    of rows stays what scikit-learn takes it for: one matrix.
    """
    if isinstance(X, Mapping):
        return not issparse(X)  # scipy's dictionary-of-keys matrix is a mapping as well
    if isinstance(getattr(X, "views", None), Mapping):
        return True  # what our datasets are
    if isinstance(X, list | tuple | ValuesView) or _holds_objects(X):
        return len(X) == 0 or any(_n_dims(item) >= 2 or _is_series(item) for item in X)
    return False


def _holds_objects(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1


def _is_series(item: Any) -> bool:
    """A column of a data frame: neither a table nor a row of numbers."""
    return hasattr(item, "to_frame")


def views_from_tables(tables: Any) -> Views:
    """Check a collection of tables and give them names."""
    tables = getattr(tables, "views", tables)
    if isinstance(tables, Mapping):
        named = {str(name): table for name, table in tables.items()}
        if len(named) < len(tables):
            raise ValueError(f"view names {list(tables)} are not distinct as text")
    else:
        named = {f"view{v}": table for v, table in enumerate(tables)}
    if not named:
        raise ValueError("got no views; expected at least one 2-D table")
    views = Views(tuple(named), tuple(_as_matrix(table, name) for name, table in named.items()))
    _check_same_rows(views)
    return views


def views_from_matrix(X: Matrix, widths: Any = None) -> Views:
    """Cut one checked matrix into views of the given widths, left to right."""
    if isinstance(X, csr_array):
        X = _canonical(X)
    if widths is None:
        views = Views(("view0",), (X,))
    else:
        listed = isinstance(widths, Iterable) and not isinstance(widths, str)
        widths = [check_integer("width in views", width, 1) for width in widths] if listed else []
        if sum(widths) != X.shape[1]:
            raise ValueError(
                f"views={widths}; expected widths that add up to the {X.shape[1]} columns of X"
            )
        ends = np.cumsum(widths)
        parts = tuple(X[:, end - width : end] for end, width in zip(ends, widths, strict=True))
        views = Views(tuple(f"view{v}" for v in range(len(parts))), parts)
    for name, matrix in zip(views.names, views.matrices, strict=True):
        _check_finite(matrix, name)
    return views


def _n_dims(table: Any) -> int:
    if hasattr(table, "shape"):
        return len(table.shape)
    if isinstance(table, list | tuple):
        return 1 + (_n_dims(table[0]) if table else 0)
    return 0


def _as_matrix(table: Any, name: str) -> Matrix:
    dims = _n_dims(table)
    if dims != 2:
        raise ValueError(f"view '{name}' has {dims} dimension(s); expected a 2-D table")
    if hasattr(table, "shape") and 0 in table.shape:
        raise ValueError(f"view '{name}' is empty, its shape is {tuple(table.shape)}")
    check_numbers(table, f"view '{name}'")
    try:
        matrix = check_array(
            table, accept_sparse="csr", dtype=np.float64, order="C", ensure_all_finite=False
        )
    except (TypeError, ValueError, OverflowError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"view '{name}' is not a table of numbers: {reason}") from error
    if issparse(matrix):
        matrix = _canonical(csr_array(matrix))
    _check_finite(matrix, name)
    return matrix


def _canonical(matrix: csr_array) -> csr_array:
    """Sorted, without duplicates; a copy where that takes a change, for this is the user's."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def check_numbers(table: Any, label: str) -> None:
    """Refuse what converts to numbers but is none: text, dates, masked values."""
    if np.ma.isMaskedArray(table) and np.ma.getmaskarray(table).any():
        masked = int(np.ma.getmaskarray(table).sum())
        raise ValueError(f"{label} has {masked} masked value(s); expected finite numbers")
    types = getattr(table, "dtypes", None)
    if types is None:
        types = [getattr(table, "dtype", None)]
    for kind in types:
        text = str(kind)
        if getattr(kind, "kind", "") in tuple("mMUS") or text.startswith(_NO_NUMBERS):
            raise ValueError(f"{label} is not a table of numbers: it has values of type {text}")
    if isinstance(table, np.ndarray) and table.dtype == object:
        words = [value for value in table.ravel() if isinstance(value, str)]
        if words:
            raise ValueError(f"{label} is not a table of numbers: it has the text {words[0]!r}")


def _check_finite(matrix: Matrix, name: str) -> None:
    if isinstance(matrix, csr_array):
        bad = ~np.isfinite(matrix.data)
        entries = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices
        places = np.stack(entries, axis=1)[bad]
    else:
        places = np.argwhere(~np.isfinite(matrix))
    if len(places) == 0:
        return
    row, column = places[0]
    raise ValueError(
        f"view '{name}' contains NaN or infinity in {len(places)} place(s), the first in row "
        f"{row}, column {column}; expected finite numbers"
    )


def _check_same_rows(views: Views) -> None:
    rows = [int(matrix.shape[0]) for matrix in views.matrices]
    if len(set(rows)) > 1:
        counts = ", ".join(f"'{name}' has {n}" for name, n in zip(views.names, rows, strict=True))
        raise ValueError(f"views differ in their number of rows: {counts}; expected the same")
