"""Tables with named columns: delimited text and Parquet, streamed into one array.

Memory is bounded: blocks of a few megabytes are parsed and copied into one array of float64, so
that the peak is about the array itself.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from manyview._log import logger
from manyview._typing import FloatArray
from manyview.readers._source import Options, damaged, id_text, plain_ids, readable
from manyview.tables import Table, few

_BLOCK = 2**22  # bytes of text, or about as many of numbers, at a time
_UNNAMED = "unnamed"
_OPEN_COLUMNS = 256  # of a Parquet file at a time
_NO_VALUE = ("", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "Null", "#N/A")
_TRUE = ("true", "True", "TRUE")
_FALSE = ("false", "False", "FALSE")
_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
_HELP = (
    "expected numbers: name the column of sample ids with --id, "
    "or leave such columns out with --drop-non-numeric"
)


class _NotNumbersError(Exception):
    """A cell is no number; which one is found in a second look."""


@dataclass(frozen=True)
class _Layout:
    """What the first line tells of a text file."""

    path: Path
    zipped: bool
    delimiter: str
    columns: tuple[str, ...]
    has_header: bool
    has_index: bool  # the first column has no name, the others have: it counts or names rows
    blank_lines: int  # before the first line
    block_size: int


@dataclass(frozen=True)
class _Plan:
    """How to read the columns; those in neither set are plain numbers."""

    text: dict[int, tuple[int, str]] = field(default_factory=dict)  # the first such row and value
    mixed: frozenset[int] = frozenset()  # with words for true and false


class _Rows:
    """A matrix that grows by blocks of rows."""

    def __init__(self, n_columns: int, n_expected: int) -> None:
        self._matrix = np.empty((n_expected, n_columns))
        self._n = 0

    def append(self, block: FloatArray) -> None:
        end = self._n + len(block)
        if end > len(self._matrix):
            # Memory is extended where it lies, or its pages are moved: there is no second copy.
            # No view of it exists, hence no check for one.
            rows = max(end, len(self._matrix) * 3 // 2)
            self._matrix.resize((rows, self._matrix.shape[1]), refcheck=False)
        self._matrix[self._n : end] = block
        self._n = end

    def finish(self) -> FloatArray:
        self._matrix.resize((self._n, self._matrix.shape[1]), refcheck=False)
        return self._matrix


def _arrow(path: Path) -> Any:
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"reading {path} needs pyarrow: pip install 'manyview[files]'") from error
    return pyarrow


# Delimited text


def read_text(path: Path, key: str | None, options: Options) -> list[Table]:
    layout = _layout(path)
    id_at = _position(path, layout.columns, options.id_column)
    if layout.has_index and id_at != 0 and not options.drop_non_numeric:
        _refuse_index(layout)
    plan = _Plan()
    table = _attempt(layout, plan, id_at)
    for n_blocks in (1, None):  # what is wrong is mostly wrong from the start
        if table is None:
            plan = _second_look(layout, id_at, n_blocks, stop_at_text=not options.drop_non_numeric)
            if plan.text and not options.drop_non_numeric:
                _refuse_text(layout, plan)
            table = _attempt(layout, plan, id_at)
    if table is None:
        raise ValueError(f"{path} has a cell with a line break in it; expected numbers")
    used = {*(table.features or ()), options.id_column}
    _log_dropped(path, [name for name in layout.columns if name not in used])
    return [table]


def _attempt(layout: _Layout, plan: _Plan, id_at: int | None) -> Table | None:
    """The table, or None if the plan takes for numbers what is none."""
    try:
        return _read_planned(layout, plan, id_at)
    except _NotNumbersError:
        return None


def _layout(path: Path) -> _Layout:
    zipped = path.suffix.lower() == ".gz"
    extension = Path(path.stem if zipped else path).suffix.lower()
    try:
        with _opened(path, zipped) as raw:
            _check_encoding(path, raw.read(4))
            raw.seek(0)
            text = io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
            blank_lines, line = _first_line(path, text)
            delimiter = _delimiter(extension, line)
            rest = _Counted(text)
            fields = next(csv.reader(_chain(line, rest), delimiter=delimiter))
            longest = max(len(line.encode()) + rest.n_bytes, len(text.readline().encode()))
    except (EOFError, zlib.error, gzip.BadGzipFile, csv.Error) as error:
        damaged(path, "text", error)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not in UTF-8 ({error.reason}); expected UTF-8") from error
    has_header = _is_header(fields)
    columns = _column_names(path, fields) if has_header else tuple(map(str, range(len(fields))))
    has_index = has_header and fields[0].strip() == "" and len(fields) > 1
    block = max(_BLOCK, 8 * longest)
    return _Layout(path, zipped, delimiter, columns, has_header, has_index, blank_lines, block)


def _opened(path: Path, zipped: bool) -> Any:
    return gzip.GzipFile(path) if zipped else path.open("rb")


class _Counted:
    """Lines of a text, and how many bytes of it were taken."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self.n_bytes = 0

    def __iter__(self) -> Iterator[str]:
        while line := self._text.readline():
            self.n_bytes += len(line.encode())
            yield line


def _chain(line: str, rest: _Counted) -> Iterator[str]:
    """A header may go on in the next line, inside quotes."""
    yield line
    yield from rest


def _check_encoding(path: Path, start: bytes) -> None:
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError(f"{path} is in UTF-16; expected UTF-8")


def _first_line(path: Path, text: io.TextIOWrapper) -> tuple[int, str]:
    """How many lines are blank, and the first that is not."""
    blank = 0
    while line := text.readline():
        if line.strip("\r\n"):
            return blank, line
        blank += 1
    raise ValueError(f"{path} has only blank lines; expected a table")


def _delimiter(extension: str, line: str) -> str:
    if extension in (".tsv", ".tab"):
        return "\t"
    if extension == ".txt":
        return max("\t,;", key=line.count) if any(mark in line for mark in "\t,;") else ","
    return ";" if ";" in line and "," not in line else ","


def _is_header(fields: Sequence[str]) -> bool:
    """Numbers are data, except 0, 1, 2, ... which data frames without column names write."""
    names = [name.strip() for name in fields]
    start = 1 if names[0] == "" else 0
    if len(names) >= 3 and names[start:] == [str(i) for i in range(len(names) - start)]:
        return True
    return not all(name == "" or _is_number(name) for name in names)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _column_names(path: Path, fields: Sequence[str]) -> tuple[str, ...]:
    """The header's names; a column without one is called by its place."""
    names = tuple(name.strip() or f"{_UNNAMED}{j}" for j, name in enumerate(fields))
    _check_distinct(path, names)
    return names


def _check_distinct(path: Path, names: Sequence[str]) -> None:
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise ValueError(f"{path} has two columns named {twice[0]!r}; expected distinct names")


def _position(path: Path, columns: Sequence[str], id_column: str | None) -> int | None:
    if id_column is None:
        return None
    if id_column not in columns:
        raise ValueError(
            f"{path} has no column {id_column!r} for the ids; expected one of {few(columns)}"
        )
    return list(columns).index(id_column)


def _read_planned(layout: _Layout, plan: _Plan, id_at: int | None) -> Table:
    pa = _arrow(layout.path)
    kept = [j for j in _candidates(layout, id_at) if j not in plan.text]
    _check_some(layout.path, kept)
    types = {j: pa.string() if j in plan.mixed else pa.float64() for j in kept}
    if id_at is not None:
        types[id_at] = pa.string()
    rows: _Rows | None = None
    ids: list[str] = []
    for batch in _batches(layout, types):
        rows = rows or _Rows(len(kept), _expected_rows(layout, batch.num_rows))
        numbers = [
            _numbers(pa, batch.column(f"f{j}")) if j in plan.mixed else batch.column(f"f{j}")
            for j in kept
        ]
        if id_at is not None:
            ids += _checked_ids(layout.path, batch.column(f"f{id_at}").to_pylist(), len(ids))
        rows.append(_block(pa, numbers))
    if rows is None:
        _refuse_empty(layout.path)
    names = tuple(layout.columns[j] for j in kept)
    return Table("", rows.finish(), None if id_at is None else plain_ids(ids), names)


def _candidates(layout: _Layout, id_at: int | None) -> list[int]:
    """Columns that may be features."""
    first = 1 if layout.has_index else 0
    return [j for j in range(first, len(layout.columns)) if j != id_at]


def _expected_rows(layout: _Layout, n_in_block: int) -> int:
    """Somewhat more rows than there should be, from those of the first block.

    Memory that is never written to costs nothing, growing does.
    """
    if layout.zipped:
        return n_in_block
    n_blocks = layout.path.stat().st_size / layout.block_size
    return int(max(1.0, 1.1 * n_blocks) * n_in_block) + 1


def _refuse_empty(path: Path) -> NoReturn:
    raise ValueError(f"{path} has column names and no rows; expected a table")


def _check_some(path: Path, kept: Sequence[int]) -> None:
    if not kept:
        raise ValueError(f"{path} has no numeric column left; expected at least one")


def _batches(layout: _Layout, types: dict[int, Any]) -> Iterator[Any]:
    """Blocks of the file as record batches with columns f0, f1, ... of the given types."""
    pa = _arrow(layout.path)
    read = pa.csv.ReadOptions(
        use_threads=False,  # with threads errors do not know their row
        block_size=layout.block_size,
        skip_rows=layout.blank_lines,
        skip_rows_after_names=int(layout.has_header),
        autogenerate_column_names=True,
    )
    parse = pa.csv.ParseOptions(
        delimiter=layout.delimiter,
        newlines_in_values=True,
        # In a table of one column a blank line is an empty cell. Skipping it would shift all
        # samples that follow.
        ignore_empty_lines=len(layout.columns) > 1,
    )
    convert = pa.csv.ConvertOptions(
        include_columns=[f"f{j}" for j in types],
        column_types={f"f{j}": kind for j, kind in types.items()},
        null_values=_NO_VALUE,
    )
    try:
        stream = pa.input_stream(str(layout.path), compression="gzip" if layout.zipped else None)
        with stream, pa.csv.open_csv(stream, read, parse, convert) as reader:
            yield from (batch for batch in reader if batch.num_rows)
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError, OSError) as error:
        _explain(layout, error)


def _explain(layout: _Layout, error: Exception) -> NoReturn:
    """What is wrong with a text file, from what pyarrow says of it."""
    path, said = layout.path, str(error)
    if ragged := _RAGGED.search(said):
        line, expected, came = map(int, ragged.groups())
        row = line - int(layout.has_header)
        raise ValueError(
            f"{path}: row {row} has {came} fields; expected {expected} as in the first line"
        ) from error
    if "invalid UTF8" in said:
        raise ValueError(f"{path} is not in UTF-8; expected UTF-8") from error
    if "conversion error" in said:
        raise _NotNumbersError(said) from error
    if "straddl" in said:
        raise ValueError(
            f"{path}: a row is longer than {layout.block_size:,} bytes, perhaps by a quote that "
            "is never closed; expected shorter rows"
        ) from error
    if "cannot infer number of columns" in said or "Empty CSV" in said:
        _refuse_empty(path)
    damaged(path, "text", error)


def _second_look(
    layout: _Layout, id_at: int | None, n_blocks: int | None, *, stop_at_text: bool
) -> _Plan:
    """Read cells as text, to tell columns of numbers from others by what is in them."""
    pa = _arrow(layout.path)
    columns = _candidates(layout, id_at)
    text: dict[int, tuple[int, str]] = {}
    mixed: set[int] = set()
    n_rows = 0
    for i, batch in enumerate(_batches(layout, dict.fromkeys(columns, pa.string()))):
        if i == n_blocks or (text and stop_at_text):
            break
        for j in columns:
            words = batch.column(f"f{j}")
            if j not in text and (bad := _first_text(pa, words)) is not None:
                text[j] = n_rows + bad + 1, words[bad].as_py()
            if j not in mixed and _has_any(pa, words, _TRUE + _FALSE):
                mixed.add(j)
        n_rows += batch.num_rows
    return _Plan(text, frozenset(mixed))


def _has_any(pa: Any, words: Any, listed: Sequence[str]) -> bool:
    return bool(pa.compute.any(_is_one_of(pa, words, listed)).as_py())


def _is_one_of(pa: Any, words: Any, listed: Sequence[str]) -> Any:
    trimmed = pa.compute.utf8_trim_whitespace(words)
    return pa.compute.is_in(trimmed, value_set=pa.array(listed))


def _numbers(pa: Any, words: Any) -> Any:
    """Words as numbers, with words for true, false and no value."""
    compute = pa.compute
    words = compute.utf8_trim_whitespace(words)
    for listed, value in ((_NO_VALUE, None), (_TRUE, "1"), (_FALSE, "0")):
        words = compute.if_else(_is_one_of(pa, words, listed), pa.scalar(value, pa.string()), words)
    try:
        return compute.cast(words, pa.float64())
    except pa.ArrowInvalid as error:
        raise _NotNumbersError(str(error)) from error


def _first_text(pa: Any, words: Any) -> int | None:
    """Index of the first word that is no number: the end of the longest start that converts."""
    if _converts(pa, words):
        return None
    low, high = 0, len(words)
    while high - low > 1:
        middle = (low + high) // 2
        if _converts(pa, words[low:middle]):
            low = middle
        else:
            high = middle
    return low


def _converts(pa: Any, words: Any) -> bool:
    try:
        _numbers(pa, words)
    except _NotNumbersError:
        return False
    return True


def _refuse_index(layout: _Layout) -> NoReturn:
    """Data frames write row numbers and row names like this, and neither measures anything."""
    raise ValueError(
        f"{layout.path}: the first column has no name, as if it named the rows; expected a name, "
        f"or use it as ids with --id {layout.columns[0]}, or leave it out with --drop-non-numeric"
    )


def _refuse_text(layout: _Layout, plan: _Plan) -> NoReturn:
    columns = sorted(plan.text, key=lambda j: (plan.text[j][0], j))
    row, value = plan.text[columns[0]]
    shown = value if len(value) <= 40 else value[:40] + "..."
    listed = few([layout.columns[j] for j in columns])
    what = f"{len(columns)} columns are" if len(columns) > 1 else "1 column is"
    raise ValueError(
        f"{layout.path}: {what} not numeric ({listed}), column "
        f"{layout.columns[columns[0]]!r} has {shown!r} in row {row}; {_HELP}"
    )


def _log_dropped(path: Path, names: Sequence[str]) -> None:
    if names:
        logger.info("%s: left out %d columns: %s", path, len(names), few(names))


def _checked_ids(path: Path, values: Sequence[Any], n_before: int) -> list[str]:
    texts = ["" if value is None or value != value else id_text(value) for value in values]
    for row, text in enumerate(texts, start=n_before + 1):
        if not text.strip():
            raise ValueError(f"{path} has no id in row {row}; expected one a row")
    return texts


def _block(pa: Any, columns: Sequence[Any]) -> FloatArray:
    """Columns of float64 side by side, NaN where there is no value."""
    names = [str(j) for j in range(len(columns))]
    batch = pa.RecordBatch.from_arrays(columns, names)
    block: FloatArray = batch.to_tensor(null_to_nan=True).to_numpy()
    return block


# Parquet


def read_parquet(path: Path, key: str | None, options: Options) -> list[Table]:
    pa = _arrow(path)
    with _parquet_errors(pa, path):
        # Both settings keep whole row groups, often the whole file, out of memory.
        file = pa.parquet.ParquetFile(str(path), pre_buffer=False, buffer_size=2**16)
    with file, _parquet_errors(pa, path):
        return [_read_columns(pa, path, file, options)]


@contextmanager
def _parquet_errors(pa: Any, path: Path) -> Iterator[None]:
    """Our own messages name the path; what does not comes from pyarrow."""
    try:
        with readable(path, "Parquet", pa.ArrowException, OSError, NotImplementedError, KeyError):
            yield
    except (ValueError, TypeError) as error:
        if str(path) in str(error):
            raise
        damaged(path, "Parquet", error)


def _read_columns(pa: Any, path: Path, file: Any, options: Options) -> Table:
    schema = file.schema_arrow
    names = list(schema.names)
    _check_distinct(path, names)
    id_at = _position(path, names, options.id_column)
    odd = _odd_columns(pa, schema, options.id_column)
    if odd and not options.drop_non_numeric:
        _refuse_types(path, schema, odd)
    _log_dropped(path, odd)
    kept = [j for j, name in enumerate(names) if j != id_at and name not in odd]
    _check_some(path, kept)
    columns = [names[j] for j in kept]
    ids = None if options.id_column is None else _parquet_ids(path, file, options.id_column)
    return Table("", _parquet_matrix(pa, path, file, columns), ids, tuple(columns))


def _parquet_ids(path: Path, file: Any, column: str) -> tuple[str, ...]:
    ids: list[str] = []
    for batch in file.iter_batches(_BLOCK // 64, columns=[column], use_threads=False):
        ids += _checked_ids(path, _decoded(batch.column(column)).to_pylist(), len(ids))
    return plain_ids(ids)


def _parquet_matrix(pa: Any, path: Path, file: Any, columns: Sequence[str]) -> FloatArray:
    """All columns, some at a time: every one that is open holds buffers, however short it is."""
    n_rows = file.metadata.num_rows
    if n_rows == 0:
        _refuse_empty(path)
    matrix = np.empty((n_rows, len(columns)))
    for first in range(0, len(columns), _OPEN_COLUMNS):
        part = columns[first : first + _OPEN_COLUMNS]
        start = 0
        for batch in file.iter_batches(_BLOCK // (8 * len(part)), columns=part, use_threads=False):
            block = _block(pa, [_floats(pa, batch.column(name)) for name in part])
            matrix[start : start + len(block), first : first + len(part)] = block
            start += len(block)
        if start != n_rows:
            raise ValueError(f"{path} has {start} rows; expected {n_rows}, as it says itself")
    return matrix


def _odd_columns(pa: Any, schema: Any, id_column: str | None) -> list[str]:
    """Columns that are not features: no numbers, or the index of a data frame.

    A stored index may well be of numbers, but it counts or names the rows and measures nothing.
    """
    index = _index_columns(schema.metadata or {})
    return [
        one.name
        for one in schema
        if one.name != id_column and (one.name in index or not _is_numeric(pa, one.type))
    ]


def _index_columns(metadata: dict[bytes, bytes]) -> set[str]:
    try:
        stored = json.loads(metadata.get(b"pandas", b"{}")).get("index_columns", [])
    except (ValueError, AttributeError):
        return set()
    return {name for name in stored if isinstance(name, str)}


def _is_numeric(pa: Any, kind: Any) -> bool:
    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    checks = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(check(kind) for check in checks) or types.is_null(kind)


def _refuse_types(path: Path, schema: Any, odd: Sequence[str]) -> NoReturn:
    kind = schema.field(odd[0]).type
    what = f"{len(odd)} columns are" if len(odd) > 1 else "1 column is"
    index = _index_columns(schema.metadata or {})
    role = "the index of a data frame" if odd[0] in index else f"of type {kind}"
    raise ValueError(
        f"{path}: {what} not numeric ({few(odd)}), column {odd[0]!r} is {role}; {_HELP}"
    )


def _decoded(column: Any) -> Any:
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


def _floats(pa: Any, column: Any) -> Any:
    column = _decoded(column)
    if column.type == pa.float64():
        return column
    return pa.compute.cast(column, pa.float64(), safe=False)  # integers beyond 2^53 are rounded
