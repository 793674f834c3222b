"""The bytes of a text table in UTF-8, and without lines of comments."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from manyview.inputs.files._limits import ReadOptions
from manyview.inputs.files._text_source import TextSource

_LINE = 2**26  # characters of a line, at most; compressed ones could be of any length
_BUFFER = 2**20  # bytes


def opened_text(source: TextSource, options: ReadOptions) -> Any:
    """The text in UTF-8 and without comments, whatever it is in."""
    raw = source.open()
    if is_plain(options):
        return raw
    encoding = "utf-8-sig" if options.is_utf8 else options.encoding
    text = io.TextIOWrapper(raw, encoding=encoding, newline="")
    return io.BufferedReader(_Lines(source.path, text, options.comment), _BUFFER)


def is_plain(options: ReadOptions) -> bool:
    """Whether files are read as they are."""
    return options.is_utf8 and options.comment is None


def refuse_encoding(path: Path, options: ReadOptions, error: Exception) -> NoReturn:
    name = "UTF-8" if options.is_utf8 else options.encoding
    raise ValueError(
        f"{path} is not in {name}; expected {name}, or say what it is in with --encoding, such as "
        "latin-1"
    ) from error


class _Lines(io.RawIOBase):
    """The lines of a text, without comments, as a stream of UTF-8."""

    def __init__(self, path: Path, text: io.TextIOWrapper, comment: str | None) -> None:
        self._text = text
        self._kept = _kept_lines(path, text, comment)
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        if not self._left:
            self._left = next(self._kept, b"")
        n = min(len(target), len(self._left))
        target[:n], self._left = self._left[:n], self._left[n:]
        return n

    def close(self) -> None:
        self._text.close()
        super().close()


def _kept_lines(path: Path, text: io.TextIOWrapper, comment: str | None) -> Iterator[bytes]:
    """Blocks of lines that do not start with the comment."""
    lines: list[str] = []
    size = 0
    while line := text.readline(_LINE):
        if len(line) == _LINE:
            raise ValueError(f"{path} has {_LINE:,} characters in a line; expected shorter ones")
        if comment is None or not line.startswith(comment):
            lines.append(line)
            size += len(line)
        if size >= _BUFFER:
            yield "".join(lines).encode()
            lines, size = [], 0
    if lines:
        yield "".join(lines).encode()
