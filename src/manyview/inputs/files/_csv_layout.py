"""What a text file looks like: encoding, delimiter, column names, first and last lines."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyview.inputs.files._columns import check_distinct, refuse_empty
from manyview.inputs.files._csv_cells import NO_VALUE, TRUTHS, is_number
from manyview.inputs.files._limits import check_fits, damaged

_BLOCK = 2**22  # bytes at a time
_FIRST = 2**26  # characters of a first line at most; compressed ones could be of any length
_BLANK = 10**6  # lines that are blank at the start, at most
_COLUMN_BYTES = 8192  # that one column takes while it is read, however short it is
_CELL = 2**10  # bytes of a cell in a line, on average and at most
_UNNAMED = "unnamed"
_QUOTED = re.compile(r'"[^"]*(?:"|$)')  # a quoted header may go on in the next line


@dataclass(frozen=True)
class TextLayout:
    """What can be told of a text file before its cells are read."""

    path: Path
    zipped: bool
    delimiter: str
    columns: tuple[str, ...]
    has_header: bool
    has_index: bool  # the first column has no name, the others have: it counts or names rows
    has_open_end: bool  # the first line ends in a delimiter, as perhaps all do
    blank_start: int  # lines before the first one
    blank_end: int  # lines after the last one, where a blank line could be a row
    block_size: int


@dataclass(frozen=True)
class _Start:
    """The first line that is not blank, and what is around it."""

    n_blank: int
    delimiter: str
    fields: list[str]
    is_all: bool  # nothing follows
    longest: int  # bytes of it, or of the line after


def text_layout(path: Path) -> TextLayout:
    zipped = path.suffix.lower() == ".gz"
    extension = Path(path.stem if zipped else path).suffix.lower()
    try:
        start = _start(path, zipped, extension)
        blank_end = _blank_end(path, zipped) if len(start.fields) == 1 else 0
    except (EOFError, zlib.error, gzip.BadGzipFile, csv.Error) as error:
        damaged(path, "text", error)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not in UTF-8 ({error.reason}); expected UTF-8") from error
    fields = [name.strip() for name in start.fields]
    has_header = _is_header(fields)
    if has_header and start.is_all:
        refuse_empty(path)
    return TextLayout(
        path=path,
        zipped=zipped,
        delimiter=start.delimiter,
        columns=_column_names(path, fields) if has_header else tuple(map(str, range(len(fields)))),
        has_header=has_header,
        has_index=has_header and fields[0] == "" and len(fields) > 1,
        has_open_end=fields[-1] == "" and len(fields) > 1,
        blank_start=start.n_blank,
        blank_end=blank_end,
        block_size=max(_BLOCK, 8 * start.longest),
    )


def _opened(path: Path, zipped: bool) -> Any:
    return gzip.GzipFile(path) if zipped else path.open("rb")


def _start(path: Path, zipped: bool, extension: str) -> _Start:
    with _opened(path, zipped) as raw:
        _check_encoding(path, raw.read(4))
        raw.seek(0)
        text = io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
        n_blank, line = _first_line(path, text)
        delimiter = _delimiter(extension, _QUOTED.sub("", line))
        lines = _Counted(path, line, text, delimiter)
        fields = next(csv.reader(lines, delimiter=delimiter))
        # Of the next line no more than a block is made for.
        following = text.readline(_CELL * len(fields))
        longest = max(lines.n_bytes, len(following.encode()))
        return _Start(n_blank, delimiter, fields, not following, longest)


class _Counted:
    """A first line and those that follow, and how many bytes of them were taken."""

    def __init__(self, path: Path, line: str, text: io.TextIOWrapper, delimiter: str) -> None:
        self._path = path
        self._line = line
        self._text = text
        self._delimiter = delimiter
        self.n_bytes = 0

    def __iter__(self) -> Iterator[str]:
        line, n_columns = self._line, 1
        while line:
            self.n_bytes += len(line.encode())
            n_columns += line.count(self._delimiter)
            check_fits(self._path, n_columns * _COLUMN_BYTES, f"{n_columns:,} columns")
            yield line
            line = _line(self._path, self._text)


def _line(path: Path, text: io.TextIOWrapper) -> str:
    line = text.readline(_FIRST)
    if len(line) == _FIRST:
        raise ValueError(f"{path} has {_FIRST:,} characters in a line; expected shorter ones")
    return line


def _check_encoding(path: Path, start: bytes) -> None:
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError(f"{path} is in UTF-16; expected UTF-8")


def _first_line(path: Path, text: io.TextIOWrapper) -> tuple[int, str]:
    """How many lines are blank, and the first that is not."""
    blank = 0
    while line := _line(path, text):
        if line.strip("\r\n"):
            return blank, line
        blank += 1
        if blank > _BLANK:
            raise ValueError(f"{path} starts with {blank:,} blank lines; expected a table")
    raise ValueError(f"{path} has only blank lines; expected a table")


def _blank_end(path: Path, zipped: bool) -> int:
    """How many lines at the end are blank, which editors leave there."""
    blank, starts = 0, True
    with _opened(path, zipped) as raw:
        while part := raw.readline(_BLOCK):
            is_blank = starts and not part.strip(b"\r\n")
            blank = blank + 1 if is_blank else 0
            starts = part.endswith(b"\n")
    return blank


def _delimiter(extension: str, line: str) -> str:
    """The delimiter, from a first line without what is in quotes."""
    if extension in (".tsv", ".tab"):
        return "\t"
    if extension == ".csv" and "," in line:
        return ","
    mark = max("\t,;", key=line.count)
    return mark if mark in line else ","


def _is_header(names: Sequence[str]) -> bool:
    """Numbers are data, except 0, 1, 2, ... which data frames without column names write.

    True and false count as numbers in cells, so they do here: a line of them, or of them and
    numbers, would otherwise be a sample that goes missing without a word.
    """
    start = 1 if names[0] == "" else 0  # a data frame's index has no name
    counted = [str(i) for i in range(len(names) - start)]
    if len(names) >= 3 - start and names[start:] == counted:
        return True
    return not all(name in NO_VALUE or name in TRUTHS or is_number(name) for name in names)


def _column_names(path: Path, fields: Sequence[str]) -> tuple[str, ...]:
    """The header's names; a column without one is called by its place."""
    names = tuple(name or f"{_UNNAMED}{j}" for j, name in enumerate(fields))
    check_distinct(path, names)
    return names
