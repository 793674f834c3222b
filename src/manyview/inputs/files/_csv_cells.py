"""What counts as a number in a cell of text, and what as no value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

NO_VALUE = ("", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "Null", "#N/A")
_TRUE = ("true", "True", "TRUE")
_FALSE = ("false", "False", "FALSE")
TRUTHS = _TRUE + _FALSE
_PLAIN_SPACES = " \t"  # which pyarrow removes around numbers
_SPACES = _PLAIN_SPACES + "\u00a0\u2007\u2009\u202f"  # and those of spreadsheets; no line breaks


class NotNumbersError(Exception):
    """A cell is no number; which one is found in a second look."""


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def are_plain(pa: Any, words: Any) -> bool:
    """Whether pyarrow takes all words for numbers where it is told to expect some."""
    words = _replaced(pa, words, NO_VALUE, None)
    return _converts(pa, pa.compute.utf8_trim(words, characters=_PLAIN_SPACES), _cast)


def as_numbers(pa: Any, words: Any) -> Any:
    """Words as numbers, with words for true, false and no value."""
    words = pa.compute.utf8_trim(words, characters=_SPACES)
    for listed, value in ((NO_VALUE, None), (_TRUE, "1"), (_FALSE, "0")):
        words = _replaced(pa, words, listed, value)
    return _cast(pa, words)


def first_text(pa: Any, words: Any) -> int | None:
    """Index of the first word that is no number: the end of the longest start that converts."""
    if _converts(pa, words, as_numbers):
        return None
    low, high = 0, len(words)
    while high - low > 1:
        middle = (low + high) // 2
        if _converts(pa, words[low:middle], as_numbers):
            low = middle
        else:
            high = middle
    return low


def _replaced(pa: Any, words: Any, listed: Sequence[str], value: str | None) -> Any:
    found = pa.compute.is_in(words, value_set=pa.array(listed))
    return pa.compute.if_else(found, pa.scalar(value, pa.string()), words)


def _cast(pa: Any, words: Any) -> Any:
    try:
        return pa.compute.cast(words, pa.float64())
    except pa.ArrowInvalid as error:
        raise NotNumbersError(str(error)) from error


def _converts(pa: Any, words: Any, convert: Callable[[Any, Any], Any]) -> bool:
    try:
        convert(pa, words)
    except NotNumbersError:
        return False
    return True
