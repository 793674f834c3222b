"""Checks of parameters. Every message names what came and what was expected."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any


def check_integer(name: str, value: Any, low: int) -> int:
    """`value` as an int of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < low:
        raise ValueError(f"{name}={value!r}; expected an integer of at least {low}")
    return int(value)


def check_real(name: str, value: Any, low: float, *, above: bool = False) -> float:
    """`value` as a finite float of at least `low`, or strictly above it."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    fits = number and (value > low if above else value >= low) and value < float("inf")
    if not fits:
        bound = "above" if above else "of at least"
        raise ValueError(f"{name}={value!r}; expected a finite number {bound} {low:g}")
    return float(value)


def check_choice(name: str, value: Any, choices: Sequence[str | None]) -> None:
    if not (value is None or isinstance(value, str)) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}={value!r}; expected one of {listed}")
