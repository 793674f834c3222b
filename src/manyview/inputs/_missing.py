"""Which samples a view has: masks, rows that hold nothing, holes in those that hold something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import BoolArray, Matrix


def as_mask(present: Any, shape: tuple[int, ...]) -> BoolArray:
    """`present` as an array of that shape."""
    mask = np.asarray(present)
    if mask.shape != shape or mask.dtype != bool:
        raise ValueError(
            f"present has shape {mask.shape} and type {mask.dtype}; expected {shape}, one row a "
            "sample and one column a view, of True and False"
        )
    return mask


@dataclass(frozen=True)
class NonFinite:
    """Rows of a matrix that hold nothing but NaN, and what else is not finite."""

    empty_rows: BoolArray
    n_values: int = 0
    first_value: tuple[int, int] | None = None


def find_non_finite(matrix: Matrix, looked_at: BoolArray | None = None) -> NonFinite:
    """Where a matrix has no numbers, in some of its rows; None for all.

    A sparse row can't be told to be empty: nothing stored is zero.
    """
    empty = np.zeros(matrix.shape[0], dtype=bool)
    if isinstance(matrix, csr_array):
        return _stored_holes(matrix, empty, looked_at)
    finite = np.isfinite(matrix)
    if finite.all():
        return NonFinite(empty)
    blank = np.flatnonzero(~finite.any(axis=1))
    empty[blank] = np.isnan(matrix[blank]).all(axis=1)  # a row of infinities is not empty
    holes = ~(finite | empty[:, None])
    if looked_at is not None:
        holes &= looked_at[:, None]
    if not holes.any():
        return NonFinite(empty)
    row, column = divmod(int(holes.argmax()), holes.shape[1])
    return NonFinite(empty, int(holes.sum()), (row, column))


def _stored_holes(matrix: csr_array, empty: BoolArray, looked_at: BoolArray | None) -> NonFinite:
    stored = np.flatnonzero(~np.isfinite(matrix.data))
    rows = np.searchsorted(matrix.indptr, stored, side="right") - 1
    if looked_at is not None:
        stored, rows = stored[looked_at[rows]], rows[looked_at[rows]]
    if len(stored) == 0:
        return NonFinite(empty)
    return NonFinite(empty, len(stored), (int(rows[0]), int(matrix.indices[stored[0]])))


def zero_missing_rows(matrix: Matrix, present: BoolArray) -> Matrix:
    """Absent rows of zeros where they hold NaN or infinity; what is the user's stays as it is."""
    values = matrix.data if isinstance(matrix, csr_array) else matrix[~present]
    if np.isfinite(values).all():
        return matrix
    matrix = matrix.copy()
    if isinstance(matrix, csr_array):
        matrix.data[~np.isfinite(matrix.data)] = 0.0
    else:
        matrix[~present] = 0.0
    return matrix
