"""Checks of parameters. Every message names the value and what was expected."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any


def check_integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """`value` as an int of at least `low` and at most `high`."""
    number = isinstance(value, Integral) and not isinstance(value, bool)
    if not number or value < low or (high is not None and value > high):
        above = "" if high is None else f" and at most {high}"
        raise ValueError(f"{name}={value!r}; expected an integer of at least {low}{above}")
    return int(value)


def check_real(name: str, value: Any, low: float, *, above: bool = False) -> float:
    """`value` as a finite float of at least `low`, or strictly above it."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    try:
        result = float(value) if number else math.nan
    except OverflowError:
        result = math.inf
    if not (math.isfinite(result) and (result > low if above else result >= low)):
        bound = "above" if above else "of at least"
        raise ValueError(f"{name}={value!r}; expected a finite number {bound} {low:g}")
    return result


def check_choice(name: str, value: Any, choices: Sequence[str | None]) -> None:
    if not (value is None or isinstance(value, str)) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        hint = did_you_mean(value, filter(None, choices))
        raise ValueError(f"{name}={value!r}; expected one of {listed}{hint}")


def did_you_mean(word: Any, known: Iterable[str]) -> str:
    """The end of a message about an unknown word: the nearest of those known, if one is near."""
    by_lower = {name.lower(): name for name in known}
    nearest = get_close_matches(str(word).lower(), by_lower, 1)
    return f"; did you mean {by_lower[nearest[0]]}?" if nearest else ""


def check_verbose(value: Any) -> None:
    if not isinstance(value, Integral):
        raise ValueError(f"verbose={value!r}; expected an integer, or True or False")


@contextmanager
def require_extra(what: str, extra: str) -> Iterator[None]:
    """Around imports: an ImportError in the block names the extra to install."""
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"{what} needs {error.name}, which is not installed; "
            f"expected: pip install 'manyview[{extra}]'"
        ) from error


def require_pandas() -> Any:
    """The module pandas, which is no dependency: who wants data frames has it."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("data frames need pandas: pip install pandas") from error
    return pd
