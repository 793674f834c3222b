"""The command line: it owns the terminal and the exit codes, the work is done elsewhere.

Exit codes: 0 for success, 2 for bad input (one line on stderr), 1 for anything else.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from manyview._version import __version__

_EXTRA = ("rich", "jinja2", "matplotlib")


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the ``manyview`` command."""
    options = _parser().parse_args(arguments)
    missing = [package for package in _EXTRA if find_spec(package) is None]
    if missing:
        return _fail(f"{', '.join(missing)} not installed: pip install 'manyview[cli]'")
    try:
        _demo(options)
    except (ValueError, OSError) as error:
        return _fail(" ".join(str(error).split()))
    except KeyboardInterrupt:
        sys.stderr.write("manyview: interrupted\n")
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="manyview", description="Cluster data that comes in several views."
    )
    parser.add_argument("--version", action="version", version=f"manyview {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="cluster the built-in digits and write a report page",
        description=_demo.__doc__,
    )
    demo.add_argument(
        "--output", type=Path, default=Path("manyview-demo"), metavar="DIR",
        help="folder for report.html (default: %(default)s)",
    )  # fmt: skip
    demo.add_argument("--seed", type=int, default=0, help="random seed (default: %(default)s)")
    return parser


def _fail(message: str) -> int:
    sys.stderr.write(f"manyview: error: {message}\n")
    return 2


def _demo(options: argparse.Namespace) -> None:
    """Cluster the digits that scikit-learn ships with GBS and CI-GMVC, and write a page."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Table

    from manyview._checks import check_integer
    from manyview._files import check_writable
    from manyview.demo import run_demo

    check_integer("seed", options.seed, 0, 2**32 - 1)
    check_writable(options.output / "report.html")  # better now than after the work
    errors = Console(stderr=True)
    columns = (TextColumn("{task.description:28}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("starting")

        def show(done: int, total: int, text: str) -> None:
            bar.update(task, completed=done, total=total, description=text)

        results, path = run_demo(options.output, options.seed, show)
    table = Table(title="Handwritten digits: 1,797 images, 10 clusters", caption=results.note)
    for number, column in enumerate(results.columns):
        table.add_column(column, justify="right" if number > 1 else "left", overflow="fold")
    for row in results.rows:
        table.add_row(*row)
    console = Console()
    console.print(table)
    console.print(f"Report: {path.resolve().as_uri()}", soft_wrap=True)
