"""Which samples a view has: masks, rows of NaN, and values that are not finite."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import BoolArray, Matrix
from manyview.inputs._blocks import row_blocks
from manyview.inputs._names import first_few


def as_mask(present: Any, shape: tuple[int, ...]) -> BoolArray:
    """`present` as an array of that shape."""
    mask = np.asarray(present)
    if mask.shape != shape or mask.dtype != bool:
        raise ValueError(
            f"present has shape {mask.shape} and type {mask.dtype}; expected {shape}, one row per "
            "sample and one column per view, of True and False"
        )
    return mask


@dataclass(frozen=True)
class NonFinite:
    """Rows of a matrix that are all NaN, and the other values that are not finite."""

    empty_rows: BoolArray
    n_values: int = 0
    first_value: tuple[int, int] | None = None


def find_non_finite(matrix: Matrix, looked_at: BoolArray | None = None) -> NonFinite:
    """Where a matrix has no numbers, in all of its rows or in those looked at.

    A sparse row is never empty: what is not stored is zero.
    """
    empty = np.zeros(matrix.shape[0], dtype=bool)
    if isinstance(matrix, csr_array):
        stored = np.flatnonzero(~np.isfinite(matrix.data))
        rows = np.searchsorted(matrix.indptr, stored, side="right") - 1
        if looked_at is not None:
            stored, rows = stored[looked_at[rows]], rows[looked_at[rows]]
        if len(stored) == 0:
            return NonFinite(empty)
        return NonFinite(empty, len(stored), (int(rows[0]), int(matrix.indices[stored[0]])))
    if all(np.isfinite(matrix[rows]).all() for rows in row_blocks(matrix.shape)):
        return NonFinite(empty)
    finite = np.isfinite(matrix)
    blank = np.flatnonzero(~finite.any(axis=1))
    empty[blank] = np.isnan(matrix[blank]).all(axis=1)  # a row of infinities is not empty
    wrong = ~(finite | empty[:, None])
    if looked_at is not None:
        wrong &= looked_at[:, None]
    if not wrong.any():
        return NonFinite(empty)
    row, column = divmod(int(wrong.argmax()), wrong.shape[1])
    return NonFinite(empty, int(wrong.sum()), (row, column))


def check_finite(
    found: NonFinite,
    name: str,
    first_row: int = 0,
    ids: Sequence[str] | None = None,
    features: Sequence[str] = (),
    advice: str = "",
) -> None:
    """Refuse values that are not finite, except in rows of NaN only; rows start at `first_row`."""
    if found.first_value is None:
        return
    row, column = found.first_value
    where = f"in row {first_row + row}, column {column}"
    if ids is not None:
        where = f"for sample {ids[row]!r} in column {features[column]!r}"
    raise ValueError(
        f"view '{name}' has {found.n_values} empty (NaN) or infinite cell(s), the first {where}; "
        f"expected finite numbers, or only empty cells where the view lacks the sample{advice}"
    )


def check_in_some_view(present: BoolArray, ids: Sequence[Any] | None = None) -> None:
    """Refuse samples that no view has."""
    nowhere = np.flatnonzero(~present.any(axis=1)).tolist()
    if nowhere:
        listed = first_few(nowhere if ids is None else [ids[i] for i in nowhere], 10)
        raise ValueError(
            f"{len(nowhere)} sample(s) are missing from all views: {listed}; expected every sample "
            "in at least one view"
        )


def zero_missing_rows(matrix: Matrix, present: BoolArray) -> Matrix:
    """Missing rows as zeros where they hold NaN or infinity; a copy where that is a change."""
    values = matrix.data if isinstance(matrix, csr_array) else matrix[~present]
    if np.isfinite(values).all():
        return matrix
    matrix = matrix.copy()
    if isinstance(matrix, csr_array):
        matrix.data[~np.isfinite(matrix.data)] = 0.0
    else:
        matrix[~present] = 0.0
    return matrix
