"""What the commands share on the terminal: progress, tables, one-line errors."""

from __future__ import annotations

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


def _errors_on_terminals() -> Any:
    """Where bars are shown: stderr if it is a terminal, else nowhere."""
    from rich.console import Console

    errors = Console(stderr=True)
    errors.quiet = not errors.is_terminal  # older rich ends a bar that is not shown with a newline
    return errors


@contextmanager
def progress() -> Iterator[Callable[[int, int, str], None]]:
    """A bar on stderr, for terminals only; call with steps done, all steps, and what runs."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    errors = _errors_on_terminals()
    text = TextColumn("{task.description:36}", markup=False)
    columns = (text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("starting", total=None)

        def show(done: int, total: int, what: str) -> None:
            raise_if_stopped()
            bar.update(task, completed=done, total=total, description=what)

        yield show


class _Listener(logging.Handler):
    """Shows what the library logs: progress on the bar, warnings on a line of their own."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        raise_if_stopped()
        text = record.getMessage()
        if record.levelno >= logging.WARNING:
            warn(text)
        else:
            self._show(text)


@contextmanager
def activity() -> Iterator[Callable[[str], None]]:
    """A line on stderr that says what is being done, for terminals only; call it with a text.

    What the library logs meanwhile is shown as well.
    """
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    errors = _errors_on_terminals()
    text = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), TimeElapsedColumn(), text)
    logger = logging.getLogger("manyview")
    level = logger.level
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("starting", total=None)

        def show(what: str) -> None:
            raise_if_stopped()
            bar.update(task, description=what)

        listener = _Listener(show)
        logger.addHandler(listener)
        logger.setLevel(logging.INFO)
        try:
            yield show
        finally:
            logger.setLevel(level)
            logger.removeHandler(listener)


def print_table(title: str, columns: Sequence[str], rows: Any, left: int, note: str = "") -> None:
    """A table on stdout; the first `left` columns are text."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), caption=Text(note))  # names are no markup
    for number, column in enumerate(columns):
        justify: Any = "left" if number < left else "right"
        table.add_column(Text(column), justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def print_path(label: str, path: Path) -> None:
    print_note(f"{label}: {path.resolve().as_uri()}")


def print_note(text: str) -> None:
    """One line on stdout, however long."""
    from rich.console import Console

    Console().print(text, soft_wrap=True, markup=False)
