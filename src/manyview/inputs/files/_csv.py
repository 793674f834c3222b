"""Delimited text: pyarrow parses blocks of a few megabytes, which are copied into one array.

So the memory needed is about that of the numbers.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from manyview._typing import FloatArray
from manyview.inputs import Table
from manyview.inputs.files._columns import (
    checked_ids,
    id_position,
    import_pyarrow,
    log_dropped,
    refuse_columns,
    refuse_no_columns,
    refuse_no_rows,
)
from manyview.inputs.files._csv_format import FALSE, NO_VALUE, TRUE, TextFormat, text_format
from manyview.inputs.files._limits import ReadOptions, check_fits, damaged, plain_ids
from manyview.inputs.files._text_source import STREAM_ERRORS, TextSource, text_source

_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
_SHOWN = 40  # characters of a cell
_SPACES = " \t\u00a0\u2007\u2009\u202f"  # also those of spreadsheets; no line breaks


def read_text(path: Path, key: str | None, options: ReadOptions) -> list[Table]:
    return [read_source(text_source(path), options)]


def read_source(source: TextSource, options: ReadOptions) -> Table:
    path, text = source.path, text_format(source)
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
    return table


def _attempt(
    text: TextFormat, features: list[int], id_at: int | None, drop_non_numeric: bool
) -> tuple[Table | None, list[int]]:
    """The table and its columns; no table where a block after the first has text in some."""
    pa = import_pyarrow(text.path)
    matrix: _GrowingMatrix | None = None
    ids: list[str] = []
    n_rows, is_valid = 0, True
    wanted = features if id_at is None else [*features, id_at]
    for batch in _batches(text, wanted):
        cells = {j: batch.column(f"f{j}") for j in wanted}
        block = _block(text, [cells[j] for j in features])
        if block is None:
            wrong = {j: cells[j] for j in features if _as_numbers(pa, cells[j]) is None}
            if not drop_non_numeric:
                _refuse_text(text, n_rows, wrong)
            features = [j for j in features if j not in wrong]
            block = _block(text, [cells[j] for j in features])
            is_valid = is_valid and matrix is None
        if is_valid:
            if matrix is None:
                n_expected = _expected_rows(text, batch.num_rows)
                matrix = _GrowingMatrix(text.path, len(features), n_expected)
            if id_at is not None:
                ids += checked_ids(text.path, cells[id_at].to_pylist(), n_rows)
            matrix.append(block)
        n_rows += batch.num_rows
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
    if text.source.size is None:
        return n_in_block
    n_blocks = text.source.size / text.block_size
    return int(max(1.0, 1.1 * n_blocks) * n_in_block) + 1


def _batches(text: TextFormat, columns: Sequence[int]) -> Iterator[Any]:
    """Blocks of the file as record batches: some columns as text, named f0, f1, ..."""
    pa = import_pyarrow(text.path)
    read = pa.csv.ReadOptions(
        use_threads=False,  # with threads errors do not know their row
        block_size=text.block_size,
        skip_rows=text.blank_start,
        skip_rows_after_names=int(text.has_header),
        column_names=[f"f{j}" for j in range(len(text.columns))],
    )
    parse = pa.csv.ParseOptions(
        delimiter=text.delimiter,
        newlines_in_values=True,
        # In a table of one column a blank line is an empty cell. Skipping it would shift all
        # samples that follow.
        ignore_empty_lines=len(text.columns) > 1,
    )
    types = {f"f{j}": pa.string() for j in columns}
    convert = pa.csv.ConvertOptions(include_columns=list(types), column_types=types)
    try:
        stream = text.source.stream()
        with stream, pa.csv.open_csv(stream, read, parse, convert) as reader:
            yield from (batch for batch in reader if batch.num_rows)
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError, OSError, *STREAM_ERRORS) as error:
        _explain(text, error)


def _explain(text: TextFormat, error: Exception) -> NoReturn:
    """Raise what is wrong with a text file, from what pyarrow says of it."""
    path, message = text.path, str(error)
    if ragged := _RAGGED.search(message):
        line, expected, came = map(int, ragged.groups())
        row = line - text.blank_start - int(text.has_header)
        raise ValueError(
            f"{path}: row {row} has {came} fields; expected {expected} as in the first line"
        ) from error
    if "invalid UTF8" in message:
        raise ValueError(f"{path} is not in UTF-8; expected UTF-8") from error
    if "straddl" in message:
        raise ValueError(
            f"{path}: a row is longer than {text.block_size:,} bytes, perhaps by a quote that "
            "is never closed; expected shorter rows"
        ) from error
    damaged(path, "text", error)


def _block(text: TextFormat, columns: Sequence[Any]) -> Any:
    """Columns of text as a block of numbers; None where a cell is none."""
    if not columns:
        refuse_no_columns(text.path)
    pa = import_pyarrow(text.path)
    numbers = _as_numbers(pa, pa.concat_arrays(columns))
    if numbers is None:
        return None
    return numbers.to_numpy(zero_copy_only=False).reshape(len(columns), -1).T


def _as_numbers(pa: Any, cells: Any) -> Any:
    """Texts as numbers, null where there is no value; None where one is neither."""
    try:
        return pa.compute.cast(_replaced(pa, cells, NO_VALUE, None), pa.float64())
    except pa.ArrowInvalid:  # to look for spaces and truths as well takes twice as long
        cells = pa.compute.utf8_trim(cells, characters=_SPACES)
    for words, value in ((NO_VALUE, None), (TRUE, "1"), (FALSE, "0")):
        cells = _replaced(pa, cells, words, value)
    try:
        return pa.compute.cast(cells, pa.float64())
    except pa.ArrowInvalid:
        return None


def _replaced(pa: Any, cells: Any, words: Sequence[str], value: str | None) -> Any:
    is_word = pa.compute.is_in(cells, value_set=pa.array(words))
    return pa.compute.if_else(is_word, pa.scalar(value, pa.string()), cells)


def _is_empty(text: TextFormat, column: int) -> bool:
    pa = import_pyarrow(text.path)
    words = pa.array(NO_VALUE)
    cells = (batch.column(0) for batch in _batches(text, [column]))
    return all(pa.compute.all(pa.compute.is_in(one, value_set=words)).as_py() for one in cells)


def _refuse_text(text: TextFormat, n_before: int, wrong: Mapping[int, Any]) -> NoReturn:
    """Name the columns that are not numbers, and the first cell that shows it."""
    pa = import_pyarrow(text.path)
    rows = {j: _first_text(pa, cells) for j, cells in wrong.items()}
    columns = sorted(rows, key=lambda j: (rows[j], j))
    row = rows[columns[0]]
    value = wrong[columns[0]][row].as_py()
    shown = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
    names = [text.columns[j] for j in columns]
    refuse_columns(text.path, names, f"has {shown!r} in row {n_before + row + 1}")


def _first_text(pa: Any, cells: Any) -> int:
    """Index of the first cell that is no number: the end of the longest start that converts."""
    low, high = 0, len(cells)
    while high - low > 1:
        middle = (low + high) // 2
        if _as_numbers(pa, cells[low:middle]) is None:
            high = middle
        else:
            low = middle
    return low
