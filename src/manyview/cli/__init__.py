"""The command line: it owns the terminal and the exit codes, the work is done elsewhere.

Exit codes: 0 for success, 2 for bad input (one line on stderr), 1 for anything else.
"""

from __future__ import annotations

import argparse
import io
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from manyview._version import __version__

_EXTRA = ("rich", "jinja2", "matplotlib")


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the ``manyview`` command."""
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal of few letters is no reason to fail
    missing = [package for package in _EXTRA if find_spec(package) is None]
    if missing:
        return _fail(f"{', '.join(missing)} not installed: pip install 'manyview[cli]'")
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return int(options.run(options) or 0)
    except (ValueError, OSError) as error:
        return _fail(" ".join(str(error).split()))
    except KeyboardInterrupt as stop:
        sys.stderr.write(f"manyview: interrupted{stop}\n")
        return 130


def _interrupt(*_: Any) -> None:
    """A request to end is as good as Ctrl-C: nothing half-written, workers stopped."""
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="manyview", description="Cluster data that comes in several views."
    )
    parser.add_argument("--version", action="version", version=f"manyview {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    demo = _command(commands, "demo", _demo, "cluster the built-in digits and write a report page")
    demo.add_argument(
        "--output", type=Path, default=Path("manyview-demo"), metavar="DIR",
        help="folder for report.html (default: %(default)s)",
    )  # fmt: skip
    demo.add_argument("--seed", type=int, default=0, help="random seed (default: %(default)s)")

    again = _command(commands, "reproduce", _reproduce, "run the paper's evaluation again")
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

    listing = _command(commands, "datasets", _datasets, "list the data sets and where they are")
    listing.add_argument("--data-home", metavar="DIR", help="folder that has the data files")
    return parser


def _command(commands: Any, name: str, run: Callable[..., Any], text: str) -> Any:
    parser = commands.add_parser(name, help=text, description=run.__doc__)
    parser.set_defaults(run=run)
    return parser


def _fail(message: str) -> int:
    sys.stderr.write(f"manyview: error: {message}\n")
    return 2


@contextmanager
def _progress() -> Iterator[Callable[[int, int, str], None]]:
    """A bar on stderr, for terminals only; call with steps done, all steps, and what runs."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    errors = Console(stderr=True)
    text = TextColumn("{task.description:36}", markup=False)
    columns = (text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("starting", total=None)

        def show(done: int, total: int, what: str) -> None:
            bar.update(task, completed=done, total=total, description=what)

        yield show


def _print_table(title: str, columns: Sequence[str], rows: Any, left: int, note: str = "") -> None:
    """A table on stdout; the first `left` columns are text."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, caption=note)
    for number, column in enumerate(columns):
        justify: Any = "left" if number < left else "right"
        table.add_column(column, justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def _print_path(label: str, path: Path) -> None:
    from rich.console import Console

    Console().print(f"{label}: {path.resolve().as_uri()}", soft_wrap=True, markup=False)


def _demo(options: argparse.Namespace) -> None:
    """Cluster the digits that scikit-learn ships with by the main methods, and write a page."""
    from manyview._checks import check_integer
    from manyview._files import check_writable
    from manyview.demo import run_demo

    check_integer("seed", options.seed, 0, 2**32 - 1)
    check_writable(options.output / "report.html")  # better now than after the work
    with _progress() as show:
        results, path = run_demo(options.output, options.seed, show)
    title = "Handwritten digits: 1,797 images, 10 clusters"
    _print_table(title, results.columns, results.rows, results.text_columns, results.note)
    _print_path("Report", path)


def _reproduce(options: argparse.Namespace) -> int:
    """Run every method on every data set, in stored and in shuffled order, and write the paper's
    tables and figure with ours beside them."""
    from manyview._checks import check_integer
    from manyview._files import check_writable
    from manyview.reproduce import (
        BUILTIN,
        METHODS,
        PAPER_DATA,
        load,
        plan,
        run_cells,
        write_outputs,
    )

    check_integer("seeds", options.seeds, 1, 1000)
    check_integer("processes", options.processes, 1, 64)
    names = options.datasets or (list(BUILTIN)[:2] if options.builtin else list(PAPER_DATA))
    foreign = [name for name in names if name not in BUILTIN] if options.builtin else []
    if foreign:
        raise ValueError(f"--builtin with {foreign[0]!r}; expected some of {', '.join(BUILTIN)}")
    known = {name.lower(): name for name in METHODS}
    unknown = [name for name in options.methods or [] if name.lower() not in known]
    if unknown:
        raise ValueError(f"method {unknown[0]!r}; expected one of {', '.join(METHODS)}")
    methods = [known[name.lower()] for name in options.methods or METHODS]
    for file in ("report.html", "results.md"):
        check_writable(options.output / file)
    datasets = {}
    for name in dict.fromkeys(names):
        loaded = load(name, options.data_home)
        datasets[loaded.name if name not in BUILTIN else name] = loaded
    cells = plan(datasets, list(dict.fromkeys(methods)))
    try:
        with _progress() as show:
            results = run_cells(
                cells, options.output / "cells", n_seeds=options.seeds,
                processes=options.processes, data_home=options.data_home, progress=show,
            )  # fmt: skip
    except KeyboardInterrupt:
        raise KeyboardInterrupt("; finished cells are kept, the same command goes on") from None
    command = _command_line(options)
    page = write_outputs(datasets, results, options.output, command)
    _summary(results)
    _print_path("Report", page)
    return 1 if any(result.error for result in results) else 0


def _command_line(options: argparse.Namespace) -> str:
    """The command that makes the same results again."""
    words = ["manyview", "reproduce"]
    for flag in ("datasets", "methods"):
        chosen = getattr(options, flag)
        words += [f"--{flag}", *chosen] if chosen else []
    words += ["--builtin"] if options.builtin else []
    words += ["--data-home", options.data_home] if options.data_home else []
    words += ["--seeds", str(options.seeds)]
    return shlex.join(words)


def _summary(results: Any) -> None:
    from manyview.reproduce import Results, summary_table

    accuracy = summary_table(Results(results))
    _print_table(accuracy.caption, accuracy.columns, accuracy.rows, 1)
    kept = sum(result.kept for result in results)
    failed = sum(result.error is not None for result in results)
    text = f"{len(results)} cells, {kept} of them from an earlier run, {failed} failed"
    sys.stdout.write(text + "\n")


def _datasets(options: argparse.Namespace) -> None:
    """List the data sets: what they are, whether their file is here, and where it comes from."""
    from manyview.datasets import SOURCES, data_folder, fetch, status

    folder = data_folder(options.data_home)
    rows = []
    for source in SOURCES.values():
        n, c, widths = source.n_samples, source.n_clusters, source.widths
        present = status(source, options.data_home)
        if present == "yes" and n is None:
            data = fetch(source.name, options.data_home)
            n, c = data.n_samples, data.n_clusters
            widths = tuple(view.shape[1] for view in data.views.values())
        size = (folder / source.file).stat().st_size if present == "yes" else source.n_bytes
        numbers = [n, len(widths) or None, c]
        rows.append([
            source.name,
            present,
            *("?" if number is None else str(number) for number in numbers),
            ", ".join(map(str, widths)) or "?",
            "?" if size is None else f"{size / 1e6:.2f}",
            source.repository,
        ])  # fmt: skip
    columns = ("name", "present", "N", "V", "C", "dimensions", "MB", "from")
    note = (
        "Files are looked for in --data-home or $MANYVIEW_DATA; the last column is on github.com."
    )
    _print_table(f"Data sets in {folder}", columns, rows, 2, note)
