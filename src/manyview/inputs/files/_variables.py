"""What NPZ and MAT files share: several arrays by name, not all of which are views."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy.sparse import issparse

from manyview.inputs import Table, first_few, id_text
from manyview.inputs.files._limits import ReadOptions, plain_ids, stored_matrix


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


def tables_of(
    path: Path,
    variables: Sequence[Variable],
    ids: tuple[str, ...] | None,
    key: str | None,
    options: ReadOptions,
) -> list[Table]:
    """The chosen arrays, or all of them if all look like tables."""
    if key is None:
        _refuse_others(path, variables)
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


def _refuse_others(path: Path, variables: Sequence[Variable]) -> None:
    """Whatever is no matrix is more often labels or notes than a view: let the user choose."""
    if not variables:
        raise ValueError(f"{path} has no arrays; expected at least one")
    others = [one for one in variables if not one.is_matrix]
    if not others:
        return
    first, odd = others[0], list(dict.fromkeys(one.variable for one in others))
    good = list(dict.fromkeys(one.variable for one in variables if one.variable not in odd))
    example = " ".join(f"{path}:{name}" for name in (good or odd)[:3])
    looks = f"{first.kind} of shape {tuple(first.value.shape)}"
    if first.kind.startswith("complex"):
        choice = f", or choose arrays with PATH:KEY, such as {example}" if good else ""
        raise ValueError(
            f"{path}: array {first.name!r} is complex ({looks}); expected real numbers{choice}"
        )
    raise ValueError(
        f"{path}: {first_few(odd)} cannot be told from labels or notes ({looks}); "
        f"expected matrices, or choose arrays with PATH:KEY, such as {example}"
    )


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
