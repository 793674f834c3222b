"""``manyview reproduce``"""

import argparse
from pathlib import Path

from manyview.cli._extras import require_report
from manyview.cli._inputs import add_data_home, command_line
from manyview.cli._terminal import print_line, print_path, print_table, progress


def add_reproduce_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    # fmt: off
    add("--output", type=Path, default=Path("manyview-reproduce"), metavar="DIR",
        help="folder for tables, figure and page; finished experiments are kept there, so that an "
        "interrupted run can be continued (default: %(default)s)")
    add("--datasets", nargs="+", metavar="NAME", help="default: the paper's four")
    add("--methods", nargs="+", metavar="NAME", help="default: all")
    add("--seeds", type=int, default=10, help="number of seeds of k-means (default: %(default)s)")
    add("--processes", type=int, default=1,
        help="number of experiments to run at once (default: %(default)s)")
    add_data_home(parser)
    add("--builtin", action="store_true", help="use built-in data, without files or network")
    # fmt: on


def reproduce(options: argparse.Namespace) -> int:
    """Run every method on every data set, with samples in stored and in shuffled order, and write
    the paper's tables and figure with our results beside the paper's."""
    require_report("manyview reproduce")
    from manyview import reproduce as evaluation
    from manyview.runtime import check_integer, check_writable, did_you_mean

    check_integer("seeds", options.seeds, 1, 1000)
    check_integer("processes", options.processes, 1, 64)
    builtin = evaluation.BUILTIN
    default = list(builtin)[:2] if options.builtin else evaluation.PAPER_DATA
    names = list(dict.fromkeys(options.datasets or default))
    other = [name for name in names if name not in builtin]
    if options.builtin and other:
        raise ValueError(f"--builtin with {other[0]!r}; expected some of {', '.join(builtin)}")
    known = {name.lower(): name for name in evaluation.METHODS}
    methods = list(dict.fromkeys(name.lower() for name in options.methods or known))
    unknown = [name for name in options.methods or [] if name.lower() not in known]
    if unknown:
        raise ValueError(
            f"method {unknown[0]!r}; expected one of {', '.join(evaluation.METHODS)}"
            + did_you_mean(unknown[0], evaluation.METHODS)
        )
    kept = options.output / "experiments"
    check_writable(options.output, ["report.html", "results.md"], force=True)
    check_writable(kept, [], force=True)
    loaded = [(name, evaluation.load(name, options.data_home)) for name in names]
    datasets = {name if name in builtin else data.name: data for name, data in loaded}
    experiments = evaluation.plan(datasets, [known[name] for name in methods])
    try:
        with progress() as show:
            found = evaluation.run_experiments(
                experiments, kept, n_seeds=options.seeds, processes=options.processes,
                data_home=options.data_home, progress=show,
            )  # fmt: skip
    except KeyboardInterrupt:
        note = "; finished experiments are kept, run the same command to continue"
        raise KeyboardInterrupt(note) from None
    command = command_line(options, "datasets", "methods", "builtin", "data-home", "seeds")
    page = evaluation.write_outputs(datasets, found, options.output, command)
    accuracy = evaluation.summary_table(evaluation.Results(found))
    print_table(accuracy.caption, accuracy.columns, accuracy.rows, 1)
    reused = sum(result.reused for result in found)
    failed = sum(result.error is not None for result in found)
    print_line(f"{len(found)} experiments, {reused} of them from an earlier run, {failed} failed")
    print_path("Report", page)
    return 1 if failed else 0
