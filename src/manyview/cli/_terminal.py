"""Progress, tables, warnings and errors on the terminal."""

import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from manyview._signals import raise_if_stopped


def fail(message: str) -> int:
    sys.stderr.write(f"manyview: error: {message}\n")
    return 2


def warn(message: str) -> None:
    sys.stderr.write(f"manyview: warning: {' '.join(message.split())}\n")


@contextmanager
def _display(*columns: Any) -> Iterator[Callable[..., None]]:
    """A line of `rich` columns on stderr, if that is a terminal; call it to update."""
    from rich.console import Console
    from rich.progress import Progress

    errors = Console(stderr=True)
    hidden = errors.quiet = not errors.is_terminal  # older rich prints a newline without `quiet`
    with Progress(*columns, console=errors, transient=True, disable=hidden) as line:
        task = line.add_task("starting", total=None)

        def update(what: str, **changes: Any) -> None:
            raise_if_stopped()
            line.update(task, description=what, **changes)

        yield update


@contextmanager
def progress() -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar; call it with steps done, number of steps, and what is running."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

    text = TextColumn("{task.description:36}", markup=False)
    with _display(text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()) as update:
        yield lambda done, total, what: update(what, completed=done, total=total)


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
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    text = TextColumn("{task.description}", markup=False)
    logger = logging.getLogger("manyview")
    with (
        _display(SpinnerColumn(), TimeElapsedColumn(), text) as update,
        log_level(logging.INFO, logger.name),
    ):
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
    """One line on stdout, without wrapping."""
    from rich.console import Console

    Console().print(text, soft_wrap=True, markup=False)
