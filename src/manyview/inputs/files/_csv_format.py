"""What a text file looks like: encoding, delimiter, column names, first and last lines."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from manyview.inputs.files._columns import check_distinct, refuse_no_rows
from manyview.inputs.files._csv_stream import ReadLine, opened_lines, refuse_encoding
from manyview.inputs.files._limits import ReadOptions, check_fits, damaged
from manyview.inputs.files._text_source import STREAM_ERRORS, TextSource

NO_VALUE = ("", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "Null", "#N/A")
TRUE = ("true", "True", "TRUE")
FALSE = ("false", "False", "FALSE")

_BLOCK = 2**22  # bytes at a time
_FIRST = 2**26  # characters of a line at the start, at most; compressed ones could be of any length
_BLANK = 10**6  # lines that are blank at the start, at most
_COLUMN_BYTES = 8192  # that one column takes while it is read, however short it is
_CELL = 2**10  # bytes of a cell in a line, on average and at most
_QUOTED = re.compile(r'"[^"]*(?:"|$)')  # a quoted header may go on in the next line


@dataclass(frozen=True)
class TextFormat:
    """What can be told of a text file before its cells are read."""

    source: TextSource
    delimiter: str
    columns: tuple[str, ...]
    has_header: bool
    has_index: bool  # the first column has no name, the others have: it counts or names rows
    has_open_end: bool  # the first line ends in a delimiter, as perhaps all do
    blank_start: int  # lines before the first one
    blank_end: int  # lines after the last one, where a blank line could be a row
    block_size: int
    n_bytes: int | None  # of the file; None where they do not tell how many rows there are

    @property
    def path(self) -> Path:
        return self.source.path


def text_format(source: TextSource, options: ReadOptions) -> TextFormat:
    path = source.path
    try:
        if options.is_utf8:
            _refuse_utf16(source)
        with opened_lines(source, options) as readline:
            blank_start, line = _first_line(path, readline)
            delimiter = _delimiter(source.extension, _QUOTED.sub("", line), options.decimal)
            taken: list[str] = []
            rows = csv.reader(_lines(path, line, readline, delimiter, taken), delimiter=delimiter)
            fields = [name.strip() for name in next(rows)]
            # Of the next line no more than a block is made for.
            following = readline(_CELL * len(fields))
        blank_end = _blank_end(source, options) if len(fields) == 1 else 0
    except (*STREAM_ERRORS, csv.Error) as error:
        damaged(path, "text", error)
    except UnicodeDecodeError as error:
        refuse_encoding(path, options, error)
    except OSError as error:
        if error.errno is not None:
            raise
        damaged(path, "text", error)
    has_header = options.transpose or _is_header(fields, options)
    if has_header and not following:
        refuse_no_rows(path)
    columns = tuple(map(str, range(len(fields))))
    if has_header:
        columns = tuple(name or f"unnamed{j}" for j, name in enumerate(fields))
        check_distinct(path, columns)
    longest = max(len("".join(taken).encode()), len(following.encode()))
    return TextFormat(
        source=source,
        delimiter=delimiter,
        columns=columns,
        has_header=has_header,
        has_index=has_header and fields[0] == "" and len(fields) > 1,
        has_open_end=fields[-1] == "" and len(fields) > 1,
        blank_start=blank_start,
        blank_end=blank_end,
        block_size=max(_BLOCK, 8 * longest),
        n_bytes=source.size,
    )


def _refuse_utf16(source: TextSource) -> None:
    with source.open() as raw:
        if raw.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            raise ValueError(f"{source.path} is in UTF-16; expected UTF-8, or --encoding utf-16")


def _lines(
    path: Path, line: str, readline: ReadLine, delimiter: str, taken: list[str]
) -> Iterator[str]:
    """A line and those that follow, as long as memory allows for their columns."""
    n_columns = 1
    while line:
        taken.append(line)
        n_columns += line.count(delimiter)
        check_fits(path, n_columns * _COLUMN_BYTES, f"{n_columns:,} columns")
        yield line
        line = _line(path, readline)


def _line(path: Path, readline: ReadLine) -> str:
    line = readline(_FIRST)
    if len(line) == _FIRST:
        raise ValueError(f"{path} has {_FIRST:,} characters in a line; expected shorter ones")
    return line


def _first_line(path: Path, readline: ReadLine) -> tuple[int, str]:
    """How many lines are blank, and the first that is not."""
    for n_blank in range(_BLANK):
        line = _line(path, readline)
        if not line:
            raise ValueError(f"{path} has only blank lines; expected a table")
        if line.strip("\r\n"):
            return n_blank, line
    raise ValueError(f"{path} starts with {_BLANK:,} blank lines; expected a table")


def _blank_end(source: TextSource, options: ReadOptions) -> int:
    """How many lines at the end are blank, which editors leave there."""
    blank, starts = 0, True
    with opened_lines(source, options) as readline:
        while part := readline(_BLOCK):
            is_blank = starts and not part.strip("\r\n")
            blank = blank + 1 if is_blank else 0
            starts = part.endswith(("\n", "\r"))
    return blank


def _delimiter(extension: str, line: str, decimal: str) -> str:
    """The delimiter, from a first line without what is in quotes."""
    if extension in (".tsv", ".tab"):
        return "\t"
    if decimal == "," and ("," not in line or ";" in line or _is_number(line, decimal)):
        return "\t" if line.count("\t") > line.count(";") else ";"
    if extension == ".csv" and "," in line:
        return ","
    mark = max("\t,;", key=line.count)
    return mark if mark in line else ","


def _is_header(names: Sequence[str], options: ReadOptions) -> bool:
    """Numbers are data, except 0, 1, 2, ... which data frames without column names write.

    True and false count as numbers in cells, so they do here: a line of them, or of them and
    numbers, would otherwise be a sample that is lost without notice.
    """
    start = 1 if names[0] == "" else 0  # a data frame's index has no name
    counted = [str(i) for i in range(len(names) - start)]
    if len(names) >= 3 - start and names[start:] == counted:
        return True
    words = {*NO_VALUE, *TRUE, *FALSE, *options.na_values}
    return not all(name in words or _is_number(name, options.decimal) for name in names)


def _is_number(text: str, decimal: str) -> bool:
    try:
        float(text.replace(decimal, "."))
    except ValueError:
        return False
    return "_" not in text
