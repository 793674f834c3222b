"""Which columns of one table belong to which view."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from manyview._typing import IntArray
from manyview.inputs._names import first_few
from manyview.runtime import check_integer

#: Widths left to right, one group of columns per view, or such groups by the name of the view. A
#: group has names or positions of columns, or is a slice of positions.
ViewColumns: TypeAlias = Sequence[Any] | Mapping[str, Any] | None


def view_columns(
    views: ViewColumns, n_columns: int, names: Sequence[str] | None = None
) -> dict[str, slice | IntArray]:
    """The columns of every view by its name; one view of all columns for None.

    Examples
    --------
    >>> from manyview.inputs import view_columns
    >>> view_columns({"size": ["height", "weight"], "rest": slice(2, 5)}, 5, ["height", "weight",
    ...     "age", "hair", "eyes"])
    {'size': array([0, 1]), 'rest': slice(2, 5, 1)}
    """
    if views is None:
        return {"view0": slice(0, n_columns)}
    groups = _groups(views, n_columns)
    if not groups:
        raise ValueError(f"views={views!r}; expected at least one view")
    return {name: _positions(name, group, n_columns, names) for name, group in groups.items()}


def _groups(views: Any, n_columns: int) -> dict[str, Any]:
    if isinstance(views, Mapping):
        return {str(name): group for name, group in views.items()}
    if isinstance(views, str) or not isinstance(views, Iterable):
        raise ValueError(f"views={views!r}; expected widths, columns per view, or a dict of these")
    groups = list(views)
    if all(isinstance(group, Integral) for group in groups):
        groups = _slices(groups, n_columns)
    elif names := [group for group in groups if isinstance(group, str)]:
        raise ValueError(
            f"views has {names[0]!r}; expected a list of columns per view, such as "
            f"[[{names[0]!r}, ...], ...], or a dict of these"
        )
    return {f"view{v}": group for v, group in enumerate(groups)}


def _slices(widths: Sequence[Any], n_columns: int) -> list[slice]:
    widths = [check_integer("width in views", width, 1) for width in widths]
    if sum(widths) != n_columns:
        raise ValueError(
            f"views={widths}; expected widths that add up to the {n_columns} columns of X"
        )
    ends = np.cumsum(widths).tolist()
    return [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]


def _positions(
    view: str, group: Any, n_columns: int, names: Sequence[str] | None
) -> slice | IntArray:
    if isinstance(group, slice):
        return _checked_slice(view, group, n_columns)
    alone = isinstance(group, str) or not isinstance(group, Iterable)
    numbers = {} if names is None else {name: number for number, name in enumerate(names)}
    found = []
    for column in [group] if alone else group:
        position = numbers.get(column) if isinstance(column, str) else column
        whole = isinstance(position, Integral) and not isinstance(position, bool)
        if not whole or not 0 <= int(position) < n_columns:  # type: ignore[arg-type]
            known = "" if names is None else f" or one of the names {first_few(list(names))}"
            raise ValueError(
                f"views has column {column!r} in view '{view}'; expected a position from 0 to "
                f"{n_columns - 1}{known}"
            )
        found.append(int(position))  # type: ignore[arg-type]
    if not found or len(set(found)) < len(found):
        raise ValueError(f"views has {group!r} for view '{view}'; expected distinct columns")
    return np.array(found, dtype=np.intp)


def _checked_slice(view: str, group: slice, n_columns: int) -> slice:
    ends = [end for end in (group.start, group.stop, group.step) if end is not None]
    inside = all(isinstance(end, Integral) and abs(int(end)) <= n_columns for end in ends)
    start, stop, step = group.indices(n_columns) if inside and group.step != 0 else (0, 0, 1)
    if step < 0 or stop <= start:
        raise ValueError(
            f"views has {group!r} for view '{view}'; expected a slice of the {n_columns} columns, "
            "from left to right"
        )
    return slice(start, stop, step)
