"""Tables in any form -> one frozen record of named, checked matrices over the same samples.

A view need not have every sample. A missing one is a row of NaN, or False in `present`.
"""

import os
from collections.abc import Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array

from manyview._typing import BoolArray, IntArray, Matrix
from manyview.inputs._cut import ViewColumns, view_columns
from manyview.inputs._foreign import known_array, known_frame
from manyview.inputs._missing import (
    as_mask,
    check_finite,
    check_in_some_view,
    find_non_finite,
    zero_missing_rows,
)
from manyview.inputs._sparse import check_sparse

#: Dense tables in single precision of so many bytes are not converted to double precision.
LARGE_BYTES = 2**26
# How polars and pandas spell the types of columns that are text or time.
_NO_NUMBERS = ("String", "Utf8", "str", "Date", "Time", "Duration", "datetime", "timedelta")


@dataclass(frozen=True)
class Views:
    """The same N samples described by V matrices, one row per sample.

    `present` (N, V) says which samples a view has; None where all have all. The row of a missing
    sample is finite and has no meaning. `features` has the names of each view's columns, None
    where they have none. `scalings` has the name of each view's scaling once it is chosen.
    """

    names: tuple[str, ...]
    matrices: tuple[Matrix, ...]
    present: BoolArray | None = None
    features: tuple[tuple[str, ...] | None, ...] | None = None
    scalings: tuple[str, ...] = ()

    @property
    def n_samples(self) -> int:
        return int(self.matrices[0].shape[0])

    def samples_of(self, view: int) -> IntArray | None:
        """Indices of the samples that a view has; None for all."""
        if self.present is None or self.present[:, view].all():
            return None
        return np.flatnonzero(self.present[:, view])

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(int(matrix.shape[1]) for matrix in self.matrices)


def is_collection(X: Any) -> bool:
    """Whether X is several tables rather than one.

    A dict is, and a data set with a dict of views. A list, a tuple, the values of a dict or an
    array of objects is if one of its elements is itself a table: a plain list of rows is one
    matrix, as for scikit-learn.
    """
    if isinstance(X, Mapping):
        return not issparse(X)  # scipy's dictionary-of-keys matrix is a mapping as well
    if isinstance(getattr(X, "views", None), Mapping):
        return True  # what our datasets are
    of_objects = isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1
    if isinstance(X, list | tuple | ValuesView) or of_objects:
        return len(X) == 0 or any(_n_dims(item) >= 2 or _is_series(item) for item in X)
    return False


def _is_series(item: Any) -> bool:
    """A column of a data frame: neither a table nor a row of numbers."""
    return hasattr(item, "to_frame")


def views_from_tables(tables: Any, present: Any = None) -> Views:
    """Check a collection of tables and give them names."""
    known: Mapping[str, tuple[str, ...]] = getattr(tables, "features", {})
    if present is None:
        present = getattr(tables, "present", None)
    named = name_tables(getattr(tables, "views", tables))
    views = Views(
        tuple(named),
        tuple(as_matrix(table, name) for name, table in named.items()),
        features=tuple(known.get(name) or column_names(named[name]) for name in named),
    )
    _check_same_rows(views)
    check_same_index(named)
    return _with_missing(views, present)


def name_tables(tables: Any) -> dict[str, Any]:
    """A collection of tables by name."""
    if isinstance(tables, Mapping):
        named = {str(name): table for name, table in tables.items()}
        if len(named) < len(tables):
            raise ValueError(f"view names {list(tables)} are not distinct as text")
    else:
        named = {f"view{v}": table for v, table in enumerate(tables)}
    if not named:
        raise ValueError("got no views; expected at least one 2-D table")
    return {name: known_frame(table, f"view '{name}'") for name, table in named.items()}


def column_names(table: Any) -> tuple[str, ...] | None:
    """Names of a data frame's columns; None where they are not text, or it is no data frame."""
    columns = getattr(table, "columns", None)
    names = None if columns is None else list(columns)
    return tuple(names) if names and all(isinstance(name, str) for name in names) else None


def is_frame(table: Any) -> bool:
    """Whether it is a data frame whose rows have names, as in pandas."""
    return hasattr(table, "iloc") and hasattr(table, "index")


def check_same_index(named: Mapping[str, Any]) -> None:
    """Refuse data frames with different indexes where row i is to be sample i in all."""
    frames = [(name, table) for name, table in named.items() if is_frame(table)]
    for name, table in frames[1:]:
        if not table.index.equals(frames[0][1].index):
            raise ValueError(
                f"data frames '{frames[0][0]}' and '{name}' have different indexes; expected the "
                "same rows in the same order (reset_index(drop=True) if they are), or "
                "manyview.cluster, which joins them by index"
            )


def views_from_matrix(
    X: Matrix, columns: ViewColumns = None, present: Any = None, names: Any = None
) -> Views:
    """Cut one checked matrix into views; `columns` as in `view_columns`, `names` are its own."""
    if isinstance(X, csr_array):
        X = _with_sorted_indices(X)
    groups = view_columns(columns, X.shape[1], names)
    features = None if names is None else np.asarray(names)
    views = Views(
        tuple(groups),
        tuple(X[:, group] for group in groups.values()),
        features=None
        if features is None
        else tuple(tuple(features[group].tolist()) for group in groups.values()),
    )
    return _with_missing(views, present)


def _n_dims(table: Any) -> int:
    if hasattr(table, "shape"):
        return len(table.shape)
    if isinstance(table, list | tuple):
        return 1 + (_n_dims(table[0]) if table else 0)
    if hasattr(table, "__dataframe__") or hasattr(table, "__arrow_c_stream__"):
        return 2
    return np.ndim(table) if hasattr(table, "__array__") else 0


def as_matrix(table: Any, name: str) -> Matrix:
    """A table as a checked matrix of floats, dense or csr; NaN and infinity are left in it.

    They are in double precision, but for `LARGE_BYTES` of single precision, such as a file that is
    mapped into memory: these stay as they are, and are converted block by block where they are
    used.
    """
    if hasattr(table, "obs_names"):
        raise ValueError(
            f"view '{name}' is a {type(table).__name__}; expected its matrix, or manyview.cluster, "
            "which takes it as it is"
        )
    if isinstance(table, str | os.PathLike):
        raise ValueError(
            f"view '{name}' is a path; expected a table, as manyview.inputs.files.read_views makes "
            "of it, or a Dask client, whose workers read Parquet files"
        )
    table = known_array(table, f"view '{name}'")
    dims = _n_dims(table)
    if dims != 2:
        raise ValueError(f"view '{name}' has {dims} dimension(s); expected a 2-D table")
    if hasattr(table, "shape") and 0 in table.shape:
        raise ValueError(f"view '{name}' is empty, its shape is {tuple(table.shape)}")
    check_numbers(table, f"view '{name}'")
    is_single = isinstance(table, np.ndarray) and table.dtype == np.float32
    dtype = np.float32 if is_single and table.nbytes >= LARGE_BYTES else np.float64
    try:
        matrix = check_array(
            table, accept_sparse="csr", dtype=dtype, order="C", ensure_all_finite=False
        )
    except (TypeError, ValueError, OverflowError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"view '{name}' is not a table of numbers: {reason}") from error
    if issparse(matrix):
        matrix = _with_sorted_indices(csr_array(matrix))
    return matrix


def _with_sorted_indices(matrix: csr_array) -> csr_array:
    """Sorted, without duplicates; a copy where that is a change, for the matrix is the user's."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def check_numbers(table: Any, label: str) -> None:
    """Refuse what is no table, and values that only convert to numbers: text, dates, masked."""
    if _n_dims(table) == 0 or _is_series(table):
        raise ValueError(f"{label} is a {type(table).__name__}; expected a 2-D table of numbers")
    check_sparse(table, label)
    if np.ma.isMaskedArray(table) and np.ma.getmaskarray(table).any():
        masked = int(np.ma.getmaskarray(table).sum())
        raise ValueError(f"{label} has {masked} masked value(s); expected finite numbers")
    columns = list(getattr(table, "columns", []))
    if len(set(columns)) < len(columns):
        again = next(name for name in columns if columns.count(name) > 1)
        raise ValueError(
            f"{label} has {columns.count(again)} columns named {again!r}; expected distinct names"
        )
    wheres = [f" in column {name!r}" for name in columns] or [""]
    kinds = table.dtypes if columns else [getattr(table, "dtype", None)]
    for kind, where in zip(kinds, wheres, strict=True):
        text = str(kind)
        if getattr(kind, "kind", "") in tuple("mMUS") or text.startswith(_NO_NUMBERS):
            raise ValueError(
                f"{label} is not a table of numbers: it has values of type {text}{where}"
            )
    for where, column in _object_columns(table, wheres):
        words = [value for value in column if isinstance(value, str)]
        if words:
            raise ValueError(
                f"{label} is not a table of numbers: it has the text {words[0]!r}{where}"
            )


def _object_columns(table: Any, wheres: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Values that may be anything, also text: an array of objects, or such columns of a frame."""
    if isinstance(table, np.ndarray) and table.dtype == object:
        yield "", table.ravel()
    elif hasattr(table, "iloc"):
        for number, kind in enumerate(table.dtypes):
            if getattr(kind, "kind", "") == "O":
                yield wheres[number], table.iloc[:, number]


def _with_missing(views: Views, present: Any) -> Views:
    """The same views with `present`, in which dense rows of NaN are missing as well."""
    shape = (views.n_samples, len(views.names))
    found = np.ones(shape, dtype=bool) if present is None else as_mask(present, shape).copy()
    matrices = []
    for v, (name, matrix) in enumerate(zip(views.names, views.matrices, strict=True)):
        non_finite = find_non_finite(matrix, found[:, v])
        check_finite(non_finite, name)
        found[:, v] &= ~non_finite.empty_rows
        matrices.append(zero_missing_rows(matrix, found[:, v]))
    check_in_some_view(found)
    return replace(views, matrices=tuple(matrices), present=None if found.all() else found)


def _check_same_rows(views: Views) -> None:
    rows = [int(matrix.shape[0]) for matrix in views.matrices]
    if len(set(rows)) > 1:
        counts = ", ".join(f"'{name}' has {n}" for name, n in zip(views.names, rows, strict=True))
        raise ValueError(f"views differ in their number of rows: {counts}; expected the same")
