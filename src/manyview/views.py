"""Input in any shape -> one frozen record of named, checked matrices over the same samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array

from manyview._checks import check_integer
from manyview._typing import Matrix


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

    A dict always is; a list or tuple is when its first element is itself a table, so that a plain
    list of rows stays what scikit-learn takes it for: one matrix.
    """
    if isinstance(X, Mapping):
        return not issparse(X)  # scipy's dictionary-of-keys matrix is a mapping as well
    if not isinstance(X, list | tuple):
        return False
    return len(X) == 0 or _n_dims(X[0]) >= 2


def views_from_tables(tables: Mapping[Any, Any] | Sequence[Any]) -> Views:
    """Check a dict or sequence of tables and give them names."""
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
    try:
        matrix = check_array(
            table, accept_sparse="csr", dtype=np.float64, order="C", ensure_all_finite=False
        )
    except (TypeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"view '{name}' is not a table of numbers: {reason}") from error
    if issparse(matrix):
        matrix = csr_array(matrix)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()  # summing duplicates works in place, and this is the user's
            matrix.sum_duplicates()
    _check_finite(matrix, name)
    return matrix


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
