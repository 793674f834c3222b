"""Delimited text: pyarrow parses blocks of a few megabytes, which are copied into one array.

So the memory needed is about that of the numbers.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from manyview._typing import FloatArray
from manyview.inputs import DroppedColumn, Preparation, Table
from manyview.inputs.files._columns import (
    Columns,
    checked_ids,
    columns_of,
    id_position,
    import_pyarrow,
    refuse_no_rows,
)
from manyview.inputs.files._csv_cells import (
    category_cells,
    is_numeric,
    numbers_of,
    why_no_number,
)
from manyview.inputs.files._csv_format import NO_VALUE, TextFormat, text_format
from manyview.inputs.files._csv_stream import is_plain, opened_text, refuse_encoding
from manyview.inputs.files._csv_transposed import transposed
from manyview.inputs.files._limits import ReadOptions, check_fits, damaged, plain_ids
from manyview.inputs.files._text_source import STREAM_ERRORS, TextSource, text_source

_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


def read_text(path: Path, key: str | None, options: ReadOptions) -> list[Table]:
    return [read_source(text_source(path), options)]


def read_source(source: TextSource, options: ReadOptions) -> Table:
    path, text = source.path, text_format(source, options)
    batches = partial(_batches, options=options)
    if options.transpose and options.id_column is not None:
        raise ValueError(f"{path} is to be transposed, so its header has the ids; expected no --id")
    id_at, end = id_position(path, text.columns, options.id_column), len(text.columns)
    if text.has_open_end and _is_empty(text, end - 1, options):
        end -= 1  # every line ends in a delimiter
    if options.transpose:
        text, whole = transposed(text, end, batches)
        id_at, end = 0, len(text.columns)
        batches = partial(_of_batch, whole)
    columns = columns_of(path, text.columns[:end], options, id_at)
    if text.has_index and 0 in columns.features:
        columns = _without_index(columns, options)
    table = None
    while table is None:
        table, columns = _attempt(text, batches(text, columns.read), columns, options)
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
    text: TextFormat, batches: Iterable[Any], columns: Columns, options: ReadOptions
) -> tuple[Table | None, Columns]:
    """The table and its columns; no table where a block after the first has text in some."""
    pa = import_pyarrow(text.path)
    matrix: _GrowingMatrix | None = None
    ids: list[str] = []
    words: dict[str, list[str | None]] = {columns.names[j]: [] for j in columns.categorical}
    n_rows, is_valid = 0, True
    for batch in batches:
        n = batch.num_rows
        cells = [batch.column(f"f{j}") for j in columns.features]
        block = numbers_of(pa, cells, n, options)
        if block is None:
            wrong = {
                j: why_no_number(pa, columns.names[j], own, n_rows, options)
                for j, own in zip(columns.features, cells, strict=True)
                if not is_numeric(pa, own, options)
            }
            columns = columns.without(wrong, options)
            cells = [batch.column(f"f{j}") for j in columns.features]
            block = numbers_of(pa, cells, n, options)
            is_valid = is_valid and matrix is None
        if is_valid and block is not None:
            if matrix is None:
                matrix = _GrowingMatrix(text.path, len(cells), _expected_rows(text, n))
            if columns.id_at is not None:
                values = batch.column(f"f{columns.id_at}").to_pylist()
                ids += checked_ids(text.path, values, n_rows)
            for j in columns.categorical:
                words[columns.names[j]] += category_cells(pa, batch.column(f"f{j}"), options)
            matrix.append(block)
        n_rows += n
    if not is_valid:
        return None, columns
    n_rows -= text.blank_end
    if matrix is None or n_rows == 0:
        refuse_no_rows(text.path)
    table = Table(
        "",
        matrix.finish(n_rows),
        None if columns.id_at is None else plain_ids(ids),
        columns.feature_names,
        categorical={name: cells[:n_rows] for name, cells in words.items()},
        preparation=Preparation(columns.dropped),
    )
    return table, columns


def _of_batch(batch: Any, text: TextFormat, columns: Sequence[int]) -> Iterator[Any]:
    """The cells of a file that is in memory already."""
    yield batch


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


def _batches(text: TextFormat, columns: Sequence[int], options: ReadOptions) -> Iterator[Any]:
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
        with (
            _stream(pa, text, options) as stream,
            pa.csv.open_csv(stream, read, parse, convert) as reader,
        ):
            yield from (batch for batch in reader if batch.num_rows)
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError, OSError, *STREAM_ERRORS) as error:
        _explain(text, options, error)


def _stream(pa: Any, text: TextFormat, options: ReadOptions) -> Any:
    if is_plain(options):
        return text.source.stream()
    return pa.input_stream(opened_text(text.source, options))


def _explain(text: TextFormat, options: ReadOptions, error: Exception) -> NoReturn:
    """Raise what is wrong with a text file, from what pyarrow says of it."""
    path, message = text.path, str(error)
    if ragged := _RAGGED.search(message):
        line, expected, came = map(int, ragged.groups())
        row = line - text.blank_start - int(text.has_header)
        raise ValueError(
            f"{path}: row {row} has {came} fields; expected {expected} as in the first line"
        ) from error
    if "invalid UTF8" in message or isinstance(error, UnicodeDecodeError):
        refuse_encoding(path, options, error)
    if "straddl" in message:
        raise ValueError(
            f"{path}: a row is longer than {text.block_size:,} bytes, perhaps by a quote that "
            "is never closed; expected shorter rows"
        ) from error
    damaged(path, "text", error)


def _is_empty(text: TextFormat, column: int, options: ReadOptions) -> bool:
    pa = import_pyarrow(text.path)
    words = pa.array(NO_VALUE)
    cells = (batch.column(0) for batch in _batches(text, [column], options))
    return all(pa.compute.all(pa.compute.is_in(one, value_set=words)).as_py() for one in cells)
