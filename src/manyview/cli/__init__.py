"""The command line: it owns the terminal and the exit codes, the work is done elsewhere.

Exit codes: 0 for success, 2 for bad input (one line on stderr), 130 when interrupted (one line as
well), 1 for anything else.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from manyview._version import __version__
from manyview.cli._cluster import add_cluster_options, cluster
from manyview.cli._datasets import datasets
from manyview.cli._demo import demo
from manyview.cli._predict import add_predict_options, predict
from manyview.cli._reproduce import reproduce
from manyview.cli._terminal import fail
from manyview.runtime import NotEnoughMemoryError

_EXTRA = ("rich", "jinja2", "matplotlib")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, that of this process or another; returns the exit code."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for as long as the process lives
    try:
        return _run(arguments)
    except KeyboardInterrupt as stop:
        with suppress(OSError):  # the terminal may be what has gone
            sys.stderr.write(f"manyview: interrupted{stop}\n")
        return 130


def _run(arguments: Sequence[str] | None) -> int:
    if sys.stdout is None:
        return fail("standard output is closed; expected it open, or led to a file")
    try:
        try:
            options = _parser().parse_args(arguments)
            for stream in (sys.stdout, sys.stderr):
                if isinstance(stream, io.TextIOWrapper):
                    # a terminal of few letters is no reason to fail
                    stream.reconfigure(errors="replace")
            missing = [package for package in _EXTRA if find_spec(package) is None]
            if missing:
                return fail(f"{', '.join(missing)} not installed: pip install 'manyview[cli]'")
            return int(options.run(options) or 0)
        finally:
            sys.stdout.flush()  # a full disk or a closed pipe shows here at the latest
    except (ValueError, OSError, ImportError, MemoryError) as error:
        unwritten = _abandon_stdout()
        if isinstance(error, BrokenPipeError):
            return 1  # whoever closed it has read all that they wanted
        return fail(("standard output: " if unwritten else "") + _in_words(error))


def _abandon_stdout() -> bool:
    """Whether standard output can't be written; what it holds back would be tried again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        return True
    return False


def _in_words(error: Exception) -> str:
    """One line; of the system's errors without their numbers."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror.lower()}"
    if isinstance(error, NotEnoughMemoryError):
        return f"{error.why}, or --yes to go on anyway"
    if isinstance(error, MemoryError):
        return f"out of memory: {error}" if str(error) else "out of memory"
    return " ".join(str(error).split())


class _Parser(argparse.ArgumentParser):
    """One that complains in one line, as all else here does."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"manyview: error: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="manyview", description="Cluster data that comes in several views.")
    parser.add_argument("--version", action="version", version=f"manyview {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    one = _command(commands, "cluster", cluster, "cluster the samples in your own files")
    add_cluster_options(one)
    new = _command(commands, "predict", predict, "put new samples into the clusters of a model")
    add_predict_options(new)

    shown = _command(commands, "demo", demo, "cluster the built-in digits and write a report page")
    shown.add_argument(
        "--output", type=Path, default=Path("manyview-demo"), metavar="DIR",
        help="folder for report.html (default: %(default)s)",
    )  # fmt: skip
    shown.add_argument("--seed", type=int, default=0, help="random seed (default: %(default)s)")

    again = _command(commands, "reproduce", reproduce, "run the paper's evaluation again")
    again.add_argument(
        "--output", type=Path, default=Path("manyview-reproduce"), metavar="DIR",
        help="folder for tables, figure and page; finished cells are kept there, so that an "
        "interrupted run goes on (default: %(default)s)",
    )  # fmt: skip
    again.add_argument("--datasets", nargs="+", metavar="NAME", help="default: the paper's four")
    again.add_argument("--methods", nargs="+", metavar="NAME", help="default: all")
    again.add_argument(
        "--seeds", type=int, default=10, help="seeds of k-means (default: %(default)s)"
    )
    again.add_argument(
        "--processes", type=int, default=1, help="cells run at once (default: %(default)s)"
    )
    again.add_argument("--data-home", metavar="DIR", help="folder that has the data files")
    again.add_argument(
        "--builtin", action="store_true", help="on built-in data, without files or network"
    )

    listing = _command(commands, "datasets", datasets, "list the data sets and where they are")
    listing.add_argument("--data-home", metavar="DIR", help="folder that has the data files")
    return parser


def _command(commands: Any, name: str, run: Callable[..., Any], text: str) -> Any:
    parser = commands.add_parser(name, help=text, description=run.__doc__)
    parser.set_defaults(run=run)
    return parser
