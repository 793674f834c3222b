"""Ids and names as text."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from manyview.runtime import did_you_mean

_LENGTH = 100  # letters that are shown of each


def id_text(value: Any) -> str:
    """One id as text: 1, 1.0 and "1" are the same sample."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


def per_view(parameter: str, value: Any, names: Sequence[str]) -> list[Any]:
    """A parameter for each view: one value for all, a list in their order, or a dict by name, in
    which views that are left out have "auto"."""
    if isinstance(value, Mapping):
        foreign = [name for name in value if name not in names]
        if foreign:
            raise ValueError(
                f"{parameter} has view '{foreign[0]}'; expected some of {', '.join(names)}"
                + did_you_mean(foreign[0], names)
            )
        return [value.get(name, "auto") for name in names]
    if not isinstance(value, list | tuple):
        return [value] * len(names)
    if len(value) != len(names):
        raise ValueError(f"{parameter} has {len(value)} entries for {len(names)} views")
    return list(value)


def first_few(items: Sequence[Any], shown: int = 5) -> str:
    """The first few items, texts in quotes, and dots where there are more."""
    dots = ", ..." if len(items) > shown else ""
    texts = [
        item[:_LENGTH] + "..." if isinstance(item, str) and len(item) > _LENGTH else item
        for item in items[:shown]
    ]
    return ", ".join(map(repr, texts)) + dots


def nearest_name(name: str, known: Sequence[str]) -> str:
    """The known name that is most like an unknown one, or the first few, as the end of an error."""
    near = difflib.get_close_matches(name, known, 1)
    if near:
        return f"the nearest is {near[0]!r}"
    return f"expected one of {first_few(known)}" if known else "expected none"
