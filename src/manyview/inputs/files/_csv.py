"""Delimited text: rows are parsed in blocks of a megabyte or more, and copied into one array.

So the memory needed is about that of the numbers.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from manyview._typing import FloatArray
from manyview.inputs import DroppedColumn, Table
from manyview.inputs.files._columns import (
    Columns,
    checked_ids,
    columns_of,
    id_position,
    refuse_no_rows,
)
from manyview.inputs.files._csv_cells import (
    Rows,
    category_cells,
    column_of,
    is_numeric,
    numbers_of,
    why_no_number,
)
from manyview.inputs.files._csv_format import NO_VALUE, TextFormat, text_format
from manyview.inputs.files._csv_stream import opened_lines, refuse_encoding
from manyview.inputs.files._csv_transposed import transposed
from manyview.inputs.files._limits import ReadOptions, check_fits, damaged, plain_ids
from manyview.inputs.files._text_source import STREAM_ERRORS, TextSource, text_source


def read_text(path: Path, key: str | None, options: ReadOptions) -> list[Table]:
    return [read_source(text_source(path), options)]


def read_source(source: TextSource, options: ReadOptions) -> Table:
    path, text = source.path, text_format(source, options)
    blocks = partial(row_blocks, options=options)
    if options.transpose and options.id_column is not None:
        raise ValueError(f"{path} is to be transposed, so its header has the ids; expected no --id")
    id_at, end = id_position(path, text.columns, options.id_column), len(text.columns)
    if text.has_open_end and _is_empty(text, end - 1, options):
        end -= 1  # every line ends in a delimiter
    if options.transpose:
        text, whole = transposed(text, end, blocks(text))
        id_at, end = 0, len(text.columns)
        blocks = partial(_in_memory, whole)
    columns = columns_of(path, text.columns[:end], options, id_at)
    if text.has_index and 0 in columns.features:
        columns = _without_index(columns, options)
    table = None
    while table is None:
        table, columns = _attempt(text, blocks(text), columns, options)
    return table


def _without_index(columns: Columns, options: ReadOptions) -> Columns:
    """Without the first column: data frames write row numbers and row names like this, and neither
    is a measurement."""
    name = columns.names[0]
    if not options.drop_non_numeric:
        raise ValueError(
            f"{columns.path}: the first column has no name, as if it named the rows; expected a "
            f"name, or use it as ids with --id {name}, or leave it out with --drop {name}"
        )
    return columns.without(
        {0: DroppedColumn(name, "has no name, as if it named the rows")}, options
    )


def _attempt(
    text: TextFormat, blocks: Iterable[Rows], columns: Columns, options: ReadOptions
) -> tuple[Table | None, Columns]:
    """The table and its columns; no table where a block after the first has text in some."""
    matrix: _GrowingMatrix | None = None
    ids: list[str] = []
    words: defaultdict[int, list[str | None]] = defaultdict(list)
    n_rows, is_valid = 0, True
    for rows in blocks:
        block = numbers_of(rows, columns.features, options)
        if block is None:
            cells = {j: column_of(rows, j) for j in columns.features}
            wrong = {
                j: why_no_number(columns.names[j], own, n_rows, options)
                for j, own in cells.items()
                if not is_numeric(own, options)
            }
            columns = columns.without(wrong, options)
            block = numbers_of(rows, columns.features, options)
            is_valid = is_valid and matrix is None
        if is_valid and block is not None:
            if matrix is None:
                n_expected = _expected_rows(text, len(rows))
                matrix = _GrowingMatrix(text.path, len(columns.features), n_expected)
            if columns.id_at is not None:
                ids += checked_ids(text.path, column_of(rows, columns.id_at), n_rows)
            for j in (*columns.categorical, *columns.texts):
                words[j] += category_cells(column_of(rows, j), options)
            matrix.append(block)
        n_rows += len(rows)
    if not is_valid:
        return None, columns
    n_rows -= text.blank_end
    if matrix is None or n_rows == 0:
        refuse_no_rows(text.path)
    named = {columns.names[j]: own[:n_rows] for j, own in words.items()}
    samples = None if columns.id_at is None else plain_ids(ids)
    return columns.table(matrix.finish(n_rows), samples, named), columns


def _in_memory(rows: Rows, text: TextFormat) -> Iterator[Rows]:
    """The rows of a file that is in memory already."""
    yield rows


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
    if text.n_bytes is None:
        return n_in_block
    n_blocks = text.n_bytes / text.block_size
    return int(max(1.0, 1.1 * n_blocks) * n_in_block) + 1


def row_blocks(text: TextFormat, options: ReadOptions) -> Iterator[Rows]:
    """Some rows of a text file at a time, without the header; all have as many cells."""
    block: Rows = []
    n_rows = size = 0
    for row, length in _rows(text, options):
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
                f"expected {len(text.columns)} as in the first line{_hint(text)}"
            )
        block.append(row)
        size += length
        if size >= text.block_size // 4:
            yield block
            block, size = [], 0
    if block:
        yield block


def _hint(text: TextFormat) -> str:
    name = text.columns[0]
    return ", or lines of comments skipped with --comment '#'" if name.startswith("#") else ""


def _rows(text: TextFormat, options: ReadOptions) -> Iterator[tuple[list[str], int]]:
    """The cells of each row after the header, and how many characters they take in the file."""
    size = 0

    def lines() -> Iterator[str]:
        nonlocal size
        while line := readline(text.block_size - size):
            size += len(line)
            if size == text.block_size:
                raise csv.Error(f"row of more than {size} characters")
            yield line

    with _explained(text, options), opened_lines(text.source, options) as readline:
        rows = csv.reader(lines(), delimiter=text.delimiter)
        for row in islice(rows, text.blank_start + int(text.has_header), None):
            yield row, size
            size = 0


@contextmanager
def _explained(text: TextFormat, options: ReadOptions) -> Iterator[None]:
    """Errors say in one line what is wrong with the file; cells may be as long as rows."""
    path, before = text.path, csv.field_size_limit(text.block_size)
    try:
        yield
    except UnicodeDecodeError as error:
        refuse_encoding(path, options, error)
    except csv.Error as error:
        raise ValueError(
            f"{path}: a row is longer than {text.block_size:,} characters, perhaps by a quote that "
            "is never closed; expected shorter rows"
        ) from error
    except (OSError, *STREAM_ERRORS) as error:
        damaged(path, "text", error)
    finally:
        csv.field_size_limit(before)


def _is_empty(text: TextFormat, column: int, options: ReadOptions) -> bool:
    return all(row[column] in NO_VALUE for rows in row_blocks(text, options) for row in rows)
