"""Cells of text as numbers."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from sys import intern
from typing import TypeAlias

import numpy as np

from manyview._typing import FloatArray
from manyview.inputs import DroppedColumn
from manyview.inputs.files._csv_format import FALSE, NO_VALUE, TRUE
from manyview.inputs.files._limits import ReadOptions

Rows: TypeAlias = list[list[str]]

_SHOWN = 40  # characters of a cell
_SPACES = " \t\u00a0\u2007\u2009\u202f"  # also those of spreadsheets; no line breaks
_ODD = re.compile(r"[^0-9.eE+-]")


def column_of(rows: Rows, column: int) -> list[str]:
    return [row[column] for row in rows]


def numbers_of(rows: Rows, columns: Sequence[int], options: ReadOptions) -> FloatArray | None:
    """Some columns as a block of numbers; None where a cell is none."""
    numbers = _numbers([row[j] for row in rows for j in columns], options)
    return None if numbers is None else numbers.reshape(len(rows), len(columns))


def is_numeric(cells: Sequence[str], options: ReadOptions) -> bool:
    return _numbers(cells, options) is not None


def category_cells(cells: Sequence[str], options: ReadOptions) -> list[str | None]:
    """Cells as categories, None where there is no value; equal ones are one object."""
    empty = {*NO_VALUE, *options.na_values}
    return [None if (text := cell.strip(_SPACES)) in empty else intern(text) for cell in cells]


def why_no_number(
    name: str, cells: Sequence[str], n_before: int, options: ReadOptions
) -> DroppedColumn:
    """The first cell of a column that is no number, in the words of an error."""
    row = next(i for i, cell in enumerate(cells) if not is_numeric([cell], options))
    value = cells[row]
    shown = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
    row += n_before + 1
    return DroppedColumn(name, f"has {shown!r} in row {row}", row, shown, is_text=True)


def _numbers(cells: Sequence[str], options: ReadOptions) -> FloatArray | None:
    """Texts as numbers, NaN where there is no value; None where one is neither."""
    words = dict.fromkeys(TRUE, 1.0) | dict.fromkeys(FALSE, 0.0)
    words |= dict.fromkeys((*NO_VALUE, *options.na_values), np.nan)
    ways: list[Callable[[str], float]] = [partial(_number, words, options.decimal)]
    # To look for odd characters once takes a third of the time of looking at every cell.
    if not options.na_values and options.decimal == "." and not _ODD.search("".join(cells)):
        ways.insert(0, float)
    for number in ways:
        with suppress(ValueError):
            return np.fromiter(map(number, cells), np.float64, len(cells))
    return None


def _number(words: dict[str, float], decimal: str, cell: str) -> float:
    """As `float`, but words for truth and for no value are known, and digits are plain ones."""
    text = cell.strip(_SPACES)
    if text in words:
        return words[text]
    if "_" in text or not text.isascii() or text != text.strip():
        raise ValueError(text)
    if decimal != ".":
        # A point is no decimal sign then; it must not become one.
        text = text.replace(".", "?").replace(decimal, ".")
    return float(text)
