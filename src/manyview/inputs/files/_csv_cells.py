"""Cells of text as numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from manyview._typing import FloatArray
from manyview.inputs import DroppedColumn
from manyview.inputs.files._csv_format import FALSE, NO_VALUE, TRUE
from manyview.inputs.files._limits import ReadOptions

_GROUP = 256  # columns that are converted together
_SHOWN = 40  # characters of a cell
_SPACES = " \t\u00a0\u2007\u2009\u202f"  # also those of spreadsheets; no line breaks


def numbers_of(
    pa: Any, columns: Sequence[Any], n_rows: int, options: ReadOptions
) -> FloatArray | None:
    """Columns of text as a block of numbers; None where a cell is none."""
    block = np.empty((n_rows, len(columns)))
    for first in range(0, len(columns), _GROUP):
        group = columns[first : first + _GROUP]
        numbers = _as_numbers(pa, pa.concat_arrays(group), options)
        if numbers is None:
            return None
        flat = numbers.to_numpy(zero_copy_only=False)
        block[:, first : first + _GROUP] = flat.reshape(len(group), -1).T
    return block


def is_numeric(pa: Any, cells: Any, options: ReadOptions) -> bool:
    return _as_numbers(pa, cells, options) is not None


def category_cells(pa: Any, cells: Any, options: ReadOptions) -> list[str | None]:
    """Cells as categories, None where there is no value."""
    trimmed = pa.compute.utf8_trim(cells, characters=_SPACES)
    texts: list[str | None] = _replaced(pa, trimmed, _no_value(options), None).to_pylist()
    return texts


def why_no_number(
    pa: Any, name: str, cells: Any, n_before: int, options: ReadOptions
) -> DroppedColumn:
    """The first cell of a column that is no number, in the words of an error."""
    row = _first_text(pa, cells, options)
    value = cells[row].as_py()
    shown = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
    row += n_before + 1
    return DroppedColumn(name, f"has {shown!r} in row {row}", row, shown)


def _no_value(options: ReadOptions) -> tuple[str, ...]:
    return NO_VALUE + options.na_values


def _as_numbers(pa: Any, cells: Any, options: ReadOptions) -> Any:
    """Texts as numbers, null where there is no value; None where one is neither."""
    empty = _no_value(options)
    try:
        return _cast(pa, _replaced(pa, cells, empty, None), options.decimal)
    except pa.ArrowInvalid:  # to look for spaces and truths as well takes twice as long
        cells = pa.compute.utf8_trim(cells, characters=_SPACES)
    for words, value in ((empty, None), (TRUE, "1"), (FALSE, "0")):
        cells = _replaced(pa, cells, words, value)
    try:
        return _cast(pa, cells, options.decimal)
    except pa.ArrowInvalid:
        return None


def _cast(pa: Any, cells: Any, decimal: str) -> Any:
    if decimal != ".":
        # A point is no decimal sign then; it must not become one.
        cells = pa.compute.replace_substring(cells, ".", "?")
        cells = pa.compute.replace_substring(cells, decimal, ".")
    return pa.compute.cast(cells, pa.float64())


def _replaced(pa: Any, cells: Any, words: Sequence[str], value: str | None) -> Any:
    is_word = pa.compute.is_in(cells, value_set=pa.array(words))
    return pa.compute.if_else(is_word, pa.scalar(value, pa.string()), cells)


def _first_text(pa: Any, cells: Any, options: ReadOptions) -> int:
    """Index of the first cell that is no number: the end of the longest start that converts."""
    low, high = 0, len(cells)
    while high - low > 1:
        middle = (low + high) // 2
        if is_numeric(pa, cells[low:middle], options):
            low = middle
        else:
            high = middle
    return low
