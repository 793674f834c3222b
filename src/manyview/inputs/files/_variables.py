"""What NPZ and MAT files share: several arrays by name, not all of which are views."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from scipy.sparse import issparse

from manyview.inputs import Table, first_few, id_text
from manyview.inputs.files._limits import ReadOptions, plain_ids, stored_matrix
from manyview.runtime import logger

_NAMED = 10  # arrays that are left out are named, up to so many
_NUMBERS = ("bool", "int", "uint", "float", "sparse")
_WORDS = {"char": "text", "cell": "a cell array", "struct": "a structure"}


@dataclass(frozen=True)
class Unread:
    """Stands for an array that can't be a matrix, whatever is in it."""

    shape: tuple[int, ...]
    kind: str


@dataclass(frozen=True)
class Variable:
    """One array of a file: a variable, or one cell of it."""

    variable: str
    name: str
    value: Any

    @property
    def is_matrix(self) -> bool:
        numeric = not isinstance(self.value, Unread) and self.value.dtype.kind in "buif"
        return numeric and self.value.ndim == 2 and min(self.value.shape) > 1

    @property
    def kind(self) -> str:
        value = self.value
        if isinstance(value, Unread):
            return value.kind
        return "sparse" if issparse(value) else str(value.dtype)

    @property
    def may_be_a_view(self) -> bool:
        """Whether it is too much for labels, though no matrix: complex, or of three dimensions."""
        if self.kind.startswith("complex"):
            return True
        return self.kind.startswith(_NUMBERS) and sum(n > 1 for n in self.value.shape) > 1

    @property
    def looks(self) -> str:
        n = math.prod(self.value.shape)
        if n == 0 or not self.kind.startswith(_NUMBERS):
            return "empty" if n == 0 else _WORDS.get(self.kind, self.kind)
        return "one number" if n == 1 else f"a vector of {n:,} numbers"


def tables_of(
    path: Path,
    variables: Sequence[Variable],
    ids: tuple[str, ...] | None,
    key: str | None,
    options: ReadOptions,
) -> list[Table]:
    """The chosen arrays, or all that are matrices."""
    if key is None:
        variables = _views_among(path, variables)
    else:
        check_keys(path, [key], [name for one in variables for name in (one.variable, one.name)])
        variables = [one for one in variables if key in (one.variable, one.name)]
    return [_table(path, variable, ids, options) for variable in variables]


def _table(
    path: Path, variable: Variable, ids: tuple[str, ...] | None, options: ReadOptions
) -> Table:
    label, value = f"{path}: array {variable.name!r}", variable.value
    if isinstance(value, Unread):
        raise ValueError(
            f"{label} holds values of type {value.kind} and has shape {value.shape}; "
            "expected a matrix of real numbers"
        )
    is_vector = value.ndim == 1
    value = value[:, None] if is_vector else value
    matrix = stored_matrix(value, label, transpose=options.transpose and not is_vector)
    if ids is not None and len(ids) != matrix.shape[0]:
        raise ValueError(
            f"{label} has {matrix.shape[0]} rows, but '{options.id_column}' has {len(ids)} ids; "
            "expected the same number"
        )
    return Table(variable.name, matrix, ids, None)


def check_keys(path: Path, keys: Sequence[str], known: Sequence[str]) -> None:
    for key in keys:
        if key not in known:
            there = first_few(list(dict.fromkeys(known))) or "none"
            raise ValueError(f"{path} has no array {key!r}; expected one of {there}")


def _views_among(path: Path, variables: Sequence[Variable]) -> list[Variable]:
    """The matrices. Vectors, text and the like are labels or notes: left out, and named."""
    if not variables:
        raise ValueError(f"{path} has no arrays; expected at least one")
    views = [one for one in variables if one.is_matrix]
    others = [one for one in variables if not one.is_matrix]
    odd = next((one for one in others if one.may_be_a_view), None)
    if odd is not None or not views:
        _refuse(path, odd or others[0], views)
    if others:
        names = ", ".join(f"{one.name!r} ({one.looks})" for one in others[:_NAMED])
        more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
        vector = next((one.name for one in others if one.kind.startswith(_NUMBERS)), None)
        hint = "" if vector is None else f"; {path}:{vector} reads {vector!r} as a view"
        logger.warning("%s: left out %s%s: probably labels or notes%s", path, names, more, hint)
    return views


def _refuse(path: Path, odd: Variable, views: Sequence[Variable]) -> NoReturn:
    looks = f"{odd.kind} of shape {tuple(odd.value.shape)}"
    example = " ".join(f"{path}:{one.name}" for one in views[:3])
    choice = f", or choose arrays with PATH:KEY, such as {example}" if views else ""
    if odd.kind.startswith("complex"):
        what = f"array {odd.name!r} is complex ({looks}); expected real numbers"
    elif odd.may_be_a_view:
        what = f"array {odd.name!r} is no matrix ({looks}); expected rows and columns"
    else:
        what = f"{odd.name!r} cannot be told from labels or notes ({looks}); expected a matrix"
        choice = f", or choose it with {path}:{odd.name}"
    raise ValueError(f"{path}: {what}{choice}")


def checked_ids(
    path: Path, name: str, shape: tuple[int, ...], values: Sequence[Any]
) -> tuple[str, ...]:
    """The values of an array of that name and shape as ids."""
    if sum(length > 1 for length in shape) > 1:
        raise ValueError(f"{path}: ids {name!r} have shape {shape}; expected one dimension")
    ids = [id_text(value).strip() for value in values]
    for row, sample in enumerate(ids, start=1):
        if sample in ("", "nan"):
            raise ValueError(f"{path}: {name!r} has no id in row {row}; expected one per row")
    return plain_ids(ids)
