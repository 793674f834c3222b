"""The lines of a text table, without those of comments."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn

from manyview.inputs.files._limits import ReadOptions
from manyview.inputs.files._text_source import TextSource

#: Returns the next line, or so many characters of it; "" at the end.
ReadLine = Callable[[int], str]


@contextmanager
def opened_lines(source: TextSource, options: ReadOptions) -> Iterator[ReadLine]:
    encoding = "utf-8-sig" if options.is_utf8 else options.encoding
    with TextIOWrapper(source.open(), encoding=encoding, newline="") as text:
        if options.comment is None:
            yield text.readline
        else:
            yield partial(_uncommented, text.readline, options.comment)


def _uncommented(readline: ReadLine, comment: str, size: int) -> str:
    line = readline(size)
    while line.startswith(comment):
        while line and not line.endswith(("\n", "\r")):
            line = readline(size)
        line = readline(size)
    return line


def refuse_encoding(path: Path, options: ReadOptions, error: Exception) -> NoReturn:
    name = "UTF-8" if options.is_utf8 else options.encoding
    raise ValueError(
        f"{path} is not in {name}; expected {name}, or say what it is in with --encoding, such as "
        "latin-1"
    ) from error
