"""The command line.

Exit codes: 0 for success, 2 for bad input (one line on stderr), 130 when interrupted (one line on
stderr), 1 for anything else.
"""

import io
import os
import sys
from collections.abc import Sequence

from manyview._signals import raise_if_stopped
from manyview._version import __version__
from manyview.cli._cluster import add_cluster_options, cluster
from manyview.cli._compare import add_compare_options, compare
from manyview.cli._datasets import datasets
from manyview.cli._demo import add_demo_options, demo
from manyview.cli._inputs import add_data_home
from manyview.cli._parser import Parser
from manyview.cli._predict import add_predict_options, predict
from manyview.cli._reproduce import add_reproduce_options, reproduce
from manyview.cli._terminal import fail


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command (by default that of this process) and return its exit code."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (open until the process ends)
    if sys.stdout is None:
        return fail("standard output is closed; expected it open, or redirected to a file")
    try:
        try:
            options = _parser().parse_args(arguments)
            for stream in (sys.stdout, sys.stderr):
                if isinstance(stream, io.TextIOWrapper):
                    stream.reconfigure(errors="replace")  # for encodings that lack a character
            return int(options.run(options) or 0)
        finally:
            sys.stdout.flush()  # raises if the disk is full or the pipe is closed
    except Exception as error:
        unwritten = _abandon_stdout()
        raise_if_stopped()  # libraries may turn an interruption into any error
        if not isinstance(error, (ValueError, OSError, ImportError, MemoryError)):
            raise
        if isinstance(error, BrokenPipeError):
            return 1  # the reader has closed the pipe and wants no more
        return fail(("standard output: " if unwritten else "") + _one_line(error))


def _abandon_stdout() -> bool:
    """Whether standard output can't be written. If so, discard what Python would write at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
        return True
    return False


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        file = f"{error.filename}: " if error.filename else ""
        return f"{file}{error.strerror.lower()}"
    from manyview.runtime import NotEnoughMemoryError  # imports numpy, which --help need not

    if isinstance(error, NotEnoughMemoryError):
        return f"{error.why}, or --yes to fit anyway"
    if isinstance(error, MemoryError):
        return f"out of memory: {error}" if str(error) else "out of memory"
    return " ".join(str(error).split())


def _parser() -> Parser:
    parser = Parser(
        prog="manyview",
        description="Cluster data that comes in several views.",
        epilog="Options of a command: manyview COMMAND --help. To begin: manyview demo",
    )
    version = f"manyview {__version__}"
    parser.add_argument("-V", "--version", action="version", version=version)
    commands = parser.add_subparsers(
        title="commands", dest="command", required=True, metavar="COMMAND"
    )
    for run, add_options, text in (
        (cluster, add_cluster_options, "cluster the samples in your own files"),
        (compare, add_compare_options, "compare methods and numbers of clusters on your own files"),
        (predict, add_predict_options, "assign new samples to the clusters of a model"),
        (demo, add_demo_options, "cluster the built-in digits and write a report page"),
        (reproduce, add_reproduce_options, "reproduce the paper's evaluation"),
        (datasets, add_data_home, "list the data sets and whether their files are present"),
    ):
        command = commands.add_parser(run.__name__, help=text, description=run.__doc__)
        add_options(command)
        command.set_defaults(run=run)
    return parser
