"""``manyview reproduce``"""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import Any

from manyview.cli._terminal import print_path, print_table, progress


def reproduce(options: argparse.Namespace) -> int:
    """Run every method on every data set, in stored and in shuffled order, and write the paper's
    tables and figure with ours beside them."""
    from manyview.reproduce import (
        BUILTIN,
        METHODS,
        PAPER_DATA,
        load,
        plan,
        run_cells,
        write_outputs,
    )
    from manyview.runtime import check_integer, check_writable

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
    check_writable(options.output, ["report.html", "results.md"], force=True)
    check_writable(options.output / "cells", [], force=True)
    datasets = {}
    for name in dict.fromkeys(names):
        loaded = load(name, options.data_home)
        datasets[loaded.name if name not in BUILTIN else name] = loaded
    cells = plan(datasets, list(dict.fromkeys(methods)))
    try:
        with progress() as show:
            results = run_cells(
                cells, options.output / "cells", n_seeds=options.seeds,
                processes=options.processes, data_home=options.data_home, progress=show,
            )  # fmt: skip
    except KeyboardInterrupt:
        raise KeyboardInterrupt("; finished cells are kept, the same command goes on") from None
    command = _command_line(options)
    page = write_outputs(datasets, results, options.output, command)
    _summary(results)
    print_path("Report", page)
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
    print_table(accuracy.caption, accuracy.columns, accuracy.rows, 1)
    kept = sum(result.kept for result in results)
    failed = sum(result.error is not None for result in results)
    text = f"{len(results)} cells, {kept} of them from an earlier run, {failed} failed"
    sys.stdout.write(text + "\n")
