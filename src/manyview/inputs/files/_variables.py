"""What NPZ and MAT files share: several arrays by name, not all of which are views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from manyview._typing import Matrix
from manyview.inputs import Table, few, id_text
from manyview.inputs.files._limits import NAME_BYTES, Options, check_fits, plain_ids, stored_matrix


@dataclass(frozen=True)
class Unread:
    """What stands for an array that can't be a matrix, whatever is in it."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def ndim(self) -> int:
        return len(self.shape)


@dataclass(frozen=True)
class Variable:
    """One array of a file: a variable's own, or one cell of it."""

    variable: str
    name: str
    value: Any

    @property
    def is_matrix(self) -> bool:
        numeric = hasattr(self.value, "dtype") and self.value.dtype.kind in "buif"
        return numeric and self.value.ndim == 2 and min(self.value.shape) > 1


def tables_of(
    path: Path, arrays: Sequence[Variable], key: str | None, options: Options
) -> list[Table]:
    """The chosen arrays, or all of them if all look like tables."""
    ids = None
    if options.id_column is not None:
        ids = _ids(path, arrays, options.id_column)
        arrays = [array for array in arrays if array.variable != options.id_column]
    if key is not None:
        check_keys(path, [key], [name for a in arrays for name in (a.variable, a.name)])
        arrays = [array for array in arrays if key in (array.variable, array.name)]
    else:
        _refuse_vectors(path, arrays)
    return [_table(path, array, ids, options) for array in arrays]


def _table(path: Path, array: Variable, ids: tuple[str, ...] | None, options: Options) -> Table:
    label = f"{path}: array {array.name!r}"
    value = array.value
    if not hasattr(value, "dtype"):
        raise ValueError(f"{label} is a {type(value).__name__}; expected numbers")
    if value.ndim == 1:
        matrix: Matrix = stored_matrix(value[:, None], label)
    else:
        matrix = stored_matrix(value, label, transpose=options.transpose)
    if ids is not None and len(ids) != matrix.shape[0]:
        raise ValueError(
            f"{label} has {matrix.shape[0]} rows, but '{options.id_column}' has {len(ids)} ids; "
            "expected the same number"
        )
    return Table(array.name, matrix, ids, None)


def check_keys(path: Path, keys: Sequence[str], known: Sequence[str]) -> None:
    for key in keys:
        if key not in known:
            there = few(list(dict.fromkeys(known))) or "none"
            raise ValueError(f"{path} has no array {key!r}; expected one of {there}")


def _refuse_vectors(path: Path, arrays: Sequence[Variable]) -> None:
    """Whatever is no matrix is more often labels or notes than a view: let the user choose."""
    if not arrays:
        raise ValueError(f"{path} has no arrays; expected at least one")
    odd = list(dict.fromkeys(array.variable for array in arrays if not array.is_matrix))
    if not odd:
        return
    first = next(array for array in arrays if not array.is_matrix)
    good = list(dict.fromkeys(array.variable for array in arrays if array.variable not in odd))
    example = " ".join(f"{path}:{name}" for name in (good or odd)[:3])
    if hasattr(first.value, "dtype") and first.value.dtype.kind == "c":
        choice = f", or choose arrays with PATH:KEY, such as {example}" if good else ""
        raise ValueError(
            f"{path}: array {first.name!r} is complex ({_looks(first.value)}); "
            f"expected real numbers{choice}"
        )
    raise ValueError(
        f"{path}: {few(odd)} cannot be told from labels or notes ({_looks(first.value)}); "
        f"expected matrices, or choose arrays with PATH:KEY, such as {example}"
    )


def _looks(value: Any) -> str:
    if not hasattr(value, "dtype"):
        return f"a {type(value).__name__}"
    kind = "sparse" if issparse(value) else str(value.dtype)
    return f"{kind} of shape {tuple(value.shape)}"


def _ids(path: Path, arrays: Sequence[Variable], name: str) -> tuple[str, ...]:
    check_keys(path, [name], [array.variable for array in arrays])
    parts = [array.value for array in arrays if array.variable == name]
    shape = parts[0].shape
    if len(parts) == 1 and not isinstance(parts[0], Unread):
        if issparse(parts[0]) or sum(length > 1 for length in shape) > 1:
            raise ValueError(
                f"{path}: ids {name!r} have shape {tuple(shape)}; expected one dimension"
            )
        check_fits(path, parts[0].size * NAME_BYTES, f"{parts[0].size:,} ids")
        parts = parts[0].ravel()
    if any(isinstance(part, Unread) for part in parts):
        raise ValueError(f"{path}: ids {name!r} cannot be read; expected numbers or text")
    values = [_text_of(part) for part in parts]  # or a cell array of numbers, taken apart
    for row, value in enumerate(values, start=1):
        if value in ("", "nan"):
            raise ValueError(f"{path}: '{name}' has no id in row {row}; expected one a row")
    return plain_ids(values)


def _text_of(item: Any) -> str:
    """The text of one id; MATLAB wraps each text of a cell array in an array."""
    if isinstance(item, np.ndarray):
        item = item.ravel()[0] if item.size == 1 else ""
    if isinstance(item, np.generic):
        item = item.item()
    return id_text(item).strip()
