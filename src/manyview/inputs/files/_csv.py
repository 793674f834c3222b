"""Delimited text: rows are parsed in blocks of a megabyte or more, and copied into one array.

So the memory needed is about that of the numbers.
"""

import csv
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from gzip import BadGzipFile
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np

from manyview._typing import FloatArray
from manyview.inputs import Table
from manyview.inputs.files._columns import (
    checked_ids,
    id_position,
    log_dropped,
    refuse_columns,
    refuse_no_columns,
    refuse_no_rows,
)
from manyview.inputs.files._csv_format import (
    FALSE,
    NO_VALUE,
    TRUE,
    TextFormat,
    opened,
    text_format,
)
from manyview.inputs.files._limits import ReadOptions, check_fits, damaged, plain_ids

Rows: TypeAlias = list[list[str]]

_SHOWN = 40  # characters of a cell
_SPACES = " \t\u00a0\u2007\u2009\u202f"  # also those of spreadsheets; no line breaks
_WORDS = dict.fromkeys(NO_VALUE, np.nan) | dict.fromkeys(TRUE, 1.0) | dict.fromkeys(FALSE, 0.0)
_ODD = re.compile(r"[^0-9.eE+-]")


def read_text(path: Path, key: str | None, options: ReadOptions) -> list[Table]:
    text = text_format(path)
    id_at = id_position(path, text.columns, options.id_column)
    if text.has_index and id_at != 0 and not options.drop_non_numeric:
        # Data frames write row numbers and row names like this, and neither is a measurement.
        raise ValueError(
            f"{path}: the first column has no name, as if it named the rows; expected a name, or "
            f"use it as ids with --id {text.columns[0]}, or leave it out with --drop-non-numeric"
        )
    first, end = int(text.has_index), len(text.columns)
    if text.has_open_end and _is_empty(text, end - 1):
        end -= 1  # every line ends in a delimiter
    table, features = None, [j for j in range(first, end) if j != id_at]
    while table is None:
        table, features = _attempt(text, features, id_at, options.drop_non_numeric)
    used = {*features, id_at}
    log_dropped(path, [name for j, name in enumerate(text.columns) if j not in used])
    return [table]


def _attempt(
    text: TextFormat, features: list[int], id_at: int | None, drop_non_numeric: bool
) -> tuple[Table | None, list[int]]:
    """The table and its columns; no table where a block after the first has text in some."""
    matrix: _GrowingMatrix | None = None
    ids: list[str] = []
    n_rows, is_valid = 0, True
    for rows in _blocks(text):
        block = _block(text, rows, features)
        if block is None:
            wrong = {j: cells for j in features if _numbers(cells := _column(rows, j)) is None}
            if not drop_non_numeric:
                _refuse_text(text, n_rows, wrong)
            features = [j for j in features if j not in wrong]
            block = _block(text, rows, features)
            is_valid = is_valid and matrix is None
        if is_valid:
            if matrix is None:
                n_expected = _expected_rows(text, len(rows))
                matrix = _GrowingMatrix(text.path, len(features), n_expected)
            if id_at is not None:
                ids += checked_ids(text.path, _column(rows, id_at), n_rows)
            matrix.append(block)
        n_rows += len(rows)
    if not is_valid:
        return None, features
    if matrix is None or n_rows == text.blank_end:
        refuse_no_rows(text.path)
    names = tuple(text.columns[j] for j in features)
    numbers = matrix.finish(n_rows - text.blank_end)
    return Table("", numbers, None if id_at is None else plain_ids(ids), names), features


class _GrowingMatrix:
    """A matrix that grows by blocks of rows."""

    def __init__(self, path: Path, n_columns: int, n_expected: int) -> None:
        self._path = path
        self._n = 0
        self._check(n_expected, n_columns)
        self._matrix: FloatArray = np.empty((n_expected, n_columns))

    def append(self, block: FloatArray) -> None:
        end = self._n + len(block)
        if end > len(self._matrix):
            n_rows, n_columns = max(end, len(self._matrix) * 3 // 2), self._matrix.shape[1]
            self._check(n_rows - len(self._matrix), n_columns)
            # Memory is extended where it lies, or its pages are moved: there is no second copy.
            # No view of it exists, hence no check for one.
            self._matrix.resize((n_rows, n_columns), refcheck=False)
        self._matrix[self._n : end] = block
        self._n = end

    def finish(self, n_rows: int) -> FloatArray:
        self._matrix.resize((n_rows, self._matrix.shape[1]), refcheck=False)
        return self._matrix

    def _check(self, n_rows: int, n_columns: int) -> None:
        what = f"room for {n_rows:,} more rows of {n_columns:,} numbers"
        check_fits(self._path, 8 * n_rows * n_columns, what)


def _expected_rows(text: TextFormat, n_in_block: int) -> int:
    """Somewhat more rows than there should be, from those of the first block.

    Memory that is never written to costs nothing, growing does.
    """
    if text.zipped:
        return n_in_block
    n_blocks = text.path.stat().st_size / text.block_size
    return int(max(1.0, 1.1 * n_blocks) * n_in_block) + 1


def _blocks(text: TextFormat) -> Iterator[Rows]:
    """Some rows at a time, without the header."""
    block: Rows = []
    n_rows = size = 0
    for row, length in _rows(text):
        if not row:  # a blank line
            if len(text.columns) > 1:
                continue
            # In a table of one column it is an empty cell. Skipping it would shift all samples
            # that follow.
            row = [""]
        n_rows += 1
        if len(row) != len(text.columns):
            raise ValueError(
                f"{text.path}: row {n_rows} has {len(row)} fields; "
                f"expected {len(text.columns)} as in the first line"
            )
        block.append(row)
        size += length
        if size >= text.block_size // 4:
            yield block
            block, size = [], 0
    if block:
        yield block


def _rows(text: TextFormat) -> Iterator[tuple[list[str], int]]:
    """The cells of each row after the header, and how many characters they take in the file."""
    size = 0

    def lines() -> Iterator[str]:
        nonlocal size
        while line := stream.readline(text.block_size - size):
            size += len(line)
            if size == text.block_size:
                raise csv.Error(f"row of more than {size} characters")
            yield line

    with _explained(text), opened(text.path, text.zipped) as raw:
        stream = TextIOWrapper(raw, encoding="utf-8-sig", newline="")
        rows = csv.reader(lines(), delimiter=text.delimiter)
        for row in islice(rows, text.blank_start + int(text.has_header), None):
            yield row, size
            size = 0


@contextmanager
def _explained(text: TextFormat) -> Iterator[None]:
    """Errors say in one line what is wrong with the file; cells may be as long as rows."""
    path, before = text.path, csv.field_size_limit(text.block_size)
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not in UTF-8 ({error.reason}); expected UTF-8") from error
    except csv.Error as error:
        raise ValueError(
            f"{path}: a row is longer than {text.block_size:,} characters, perhaps by a quote that "
            "is never closed; expected shorter rows"
        ) from error
    except (EOFError, zlib.error, BadGzipFile) as error:
        damaged(path, "text", error)
    finally:
        csv.field_size_limit(before)


def _column(rows: Rows, column: int) -> list[str]:
    return [row[column] for row in rows]


def _block(text: TextFormat, rows: Rows, features: Sequence[int]) -> Any:
    """Rows as a block of numbers; None where a cell is none."""
    if not features:
        refuse_no_columns(text.path)
    numbers = _numbers([row[j] for row in rows for j in features])
    return None if numbers is None else numbers.reshape(len(rows), -1)


def _numbers(cells: Sequence[str]) -> FloatArray | None:
    """Texts as numbers, NaN where there is no value; None where one is neither."""
    # To look for odd characters once takes a third of the time of looking at every cell.
    for number in (_number,) if _ODD.search("".join(cells)) else (float, _number):
        with suppress(ValueError):
            return np.fromiter(map(number, cells), np.float64, len(cells))
    return None


def _number(cell: str) -> float:
    """As `float`, but words for truth and for no value are known, and digits are plain ones."""
    text = cell.strip(_SPACES)
    if text in _WORDS:
        return _WORDS[text]
    if "_" in text or not text.isascii() or text != text.strip():
        raise ValueError(text)
    return float(text)


def _is_empty(text: TextFormat, column: int) -> bool:
    return all(row[column] in NO_VALUE for rows in _blocks(text) for row in rows)


def _refuse_text(text: TextFormat, n_before: int, wrong: Mapping[int, list[str]]) -> NoReturn:
    """Name the columns that are not numbers, and the first cell that shows it."""
    rows = {j: _first_text(cells) for j, cells in wrong.items()}
    columns = sorted(rows, key=lambda j: (rows[j], j))
    row = rows[columns[0]]
    value = wrong[columns[0]][row]
    shown = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
    names = [text.columns[j] for j in columns]
    refuse_columns(text.path, names, f"has {shown!r} in row {n_before + row + 1}")


def _first_text(cells: Sequence[str]) -> int:
    """Index of the first cell that is no number."""
    return next(i for i, cell in enumerate(cells) if _numbers([cell]) is None)
