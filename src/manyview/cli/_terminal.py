"""Progress, tables, warnings and errors on the terminal."""

import logging
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, TypeAlias

from manyview._signals import raise_if_stopped

_Update: TypeAlias = Callable[..., None]

#: The options that stand for parameters of the library.
FLAGS = {
    "n_clusters": "--clusters", "n_neighbors": "--neighbors", "random_state": "--seed",
    "n_subsamples": "--subsamples", "method": "--method", "scaling": "--scaling",
    "resolution": "--resolution", "impute": "--impute", "seed": "--seed",
}  # fmt: skip
_PARAMETER = re.compile(rf"\b({'|'.join(FLAGS)})=('[^']*'|-?[\w.]+)")


def fail(message: str) -> int:
    sys.stderr.write(f"manyview: error: {_in_options(message)}\n")
    return 2


def warn(message: str) -> None:
    sys.stderr.write(f"manyview: warning: {_in_options(message)}\n")


def _in_options(message: str) -> str:
    """A message of the library in one line, with options instead of parameters."""
    text = " ".join(message.split())
    return _PARAMETER.sub(lambda found: f"{FLAGS[found[1]]} {found[2].strip(chr(39))}", text)


@contextmanager
def progress() -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar; call it with steps done, number of steps, and what is running."""
    with _line(bar=True) as update:
        yield lambda done, total, what: update(what, completed=done, total=total)


def _line(*, bar: bool) -> AbstractContextManager[_Update]:
    """A line on stderr, if that is a terminal; call it to update."""
    return _rich_line(bar) if _has_rich() else _plain_line()


def _has_rich() -> bool:
    return find_spec("rich") is not None


@contextmanager
def _rich_line(bar: bool) -> Iterator[_Update]:
    from rich import progress as rich
    from rich.console import Console

    elapsed, errors = rich.TimeElapsedColumn(), Console(stderr=True)
    text = rich.TextColumn("{task.description:36}" if bar else "{task.description}", markup=False)
    columns: tuple[rich.ProgressColumn, ...] = (rich.SpinnerColumn(), elapsed, text)
    if bar:
        columns = (text, rich.BarColumn(), rich.MofNCompleteColumn(), elapsed)
    hidden = errors.quiet = not errors.is_terminal  # older rich prints a newline without `quiet`
    with rich.Progress(*columns, console=errors, transient=True, disable=hidden) as line:
        task = line.add_task("starting", total=None)

        def update(what: str, **changes: Any) -> None:
            raise_if_stopped()
            line.update(task, description=what, **changes)

        yield update


@contextmanager
def _plain_line() -> Iterator[_Update]:
    def update(what: str, completed: int = 0, total: int = 0) -> None:
        raise_if_stopped()
        _overwrite(f"{completed}/{total} {what}" if total else what)

    try:
        yield update
    finally:
        _overwrite("")


def _overwrite(text: str) -> None:
    """Replace the line on which the cursor is."""
    if sys.stderr.isatty():
        width = get_terminal_size().columns - 1
        sys.stderr.write(f"\r{text[:width]:{width}}\r")
        sys.stderr.flush()


class _LogHandler(logging.Handler):
    """Shows the progress that the library logs, and prints its warnings."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        raise_if_stopped()
        (warn if record.levelno >= logging.WARNING else self._show)(record.getMessage())


@contextmanager
def activity() -> Iterator[Callable[[str], None]]:
    """A line with the current activity, given by calls or by the library's log."""
    logger = logging.getLogger("manyview")
    with _line(bar=False) as update, log_level(logging.INFO, logger.name):
        logger.addHandler(handler := _LogHandler(update))
        try:
            yield update
        finally:
            logger.removeHandler(handler)


@contextmanager
def log_level(level: int, *names: str) -> Iterator[None]:
    """Set the level of these loggers during the block."""
    before = {logging.getLogger(name): logging.getLogger(name).level for name in names}
    for logger in before:
        logger.setLevel(level)
    try:
        yield
    finally:
        for logger, old in before.items():
            logger.setLevel(old)


def print_table(title: str, columns: Sequence[str], rows: Any, left: int, note: str = "") -> None:
    """A table on stdout; the first `left` columns are left-aligned."""
    texts = [columns, *rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    # In a frame that does not fit, rich would break numbers.
    framed = sum(widths) + 3 * len(widths) + 1
    if _has_rich() and framed <= get_terminal_size().columns:
        _print_rich_table(title, columns, texts[1:], left, note)
        return
    marks = ["<" if number < left else ">" for number in range(len(columns))]
    lines = (map("{:{}{}}".format, row, marks, widths) for row in texts)
    for line in (title, *("  ".join(cells).rstrip() for cells in lines), note):
        print_line(line)


def _print_rich_table(title: str, columns: Sequence[str], rows: Any, left: int, note: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), caption=Text(note))  # Text: names may look like markup
    for number, column in enumerate(columns):
        justify: Any = "left" if number < left else "right"
        table.add_column(Text(column), justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def print_path(label: str, path: Path) -> None:
    print_line(f"{label}: {path.resolve().as_uri()}")


def print_line(text: str) -> None:
    """One line on stdout."""
    sys.stdout.write(f"{text}\n")
