"""``manyview cluster``"""

from __future__ import annotations

import argparse
import shlex
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from manyview.cli._inputs import add_input_options, input_words, read_spread_tables, read_tables
from manyview.cli._scheduler import check_scheduler_options, connected
from manyview.cli._terminal import activity, print_note, print_path, print_table, warn

_METHODS = ("angular", "cigmvc", "gbs", "average", "mgl", "mcgl")
_OUTPUTS = ("labels.csv", "summary.json", "report.html")
# Those that an earlier run may have left, and that this one may not write.
_NOT_ALWAYS = ("model.zip", "report.html")


def add_cluster_options(parser: argparse.ArgumentParser) -> None:
    add_input_options(parser)
    parser.add_argument(
        "--clusters", default="auto", metavar="N",
        help="number of clusters, or 'auto' to read it off the data (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--output", type=Path, default=Path("manyview-clusters"), metavar="DIR",
        help="folder for labels.csv, summary.json and report.html (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--force",
        action="store_true",
        help="write over what an earlier run left in that folder; its model.zip goes as well",
    )
    parser.add_argument(
        "--save-model", action="store_true", help="write model.zip too, for 'manyview predict'"
    )
    parser.add_argument(
        "--method", default="angular", choices=_METHODS, help="default: %(default)s"
    )
    parser.add_argument(
        "--neighbors", default="auto", metavar="K", help="neighbours in each view's graph"
    )
    parser.add_argument(
        "--checkpoint", type=Path, metavar="DIR",
        help="keep what there is so far in this folder: after an interruption the same command "
        "goes on from there (angular, cigmvc and gbs); it is cleared when the outputs are written",
    )  # fmt: skip
    parser.add_argument(
        "--scheduler", metavar="ADDRESS",
        help="fit on the workers of the Dask cluster with this scheduler, such as "
        "tcp://127.0.0.1:8786 (angular, cigmvc and gbs): they read .parquet files, or folders of "
        "such, themselves, under the same paths as here; with --id all files have the same ids in "
        "the same order; there is no report.html, as graphs stay on the cluster",
    )  # fmt: skip
    parser.add_argument(
        "--yes", action="store_true", help="go on even if memory is not likely to be enough"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: %(default)s)")


def cluster(options: argparse.Namespace) -> None:
    """Cluster the samples that are described by several tables, and write labels, a summary and a
    report page."""
    from manyview.runtime import (
        check_folder,
        check_integer,
        check_writable,
        memory_limit,
        write_files,
    )

    n_clusters = _number_or_auto("--clusters", options.clusters)
    neighbors = _number_or_auto("--neighbors", options.neighbors)
    check_integer("seed", options.seed, 0, 2**32 - 1)
    if options.scheduler is not None:
        check_scheduler_options(options)
    names = [*_OUTPUTS, *(["model.zip"] if options.save_model else [])]
    check_writable(options.output, names, force=options.force)  # better now than after the work
    if options.checkpoint is not None:
        check_folder(options.checkpoint)
    with activity() as show:
        unlimited = memory_limit(None) if options.yes else nullcontext()
        with unlimited:
            result = _fit(options, n_clusters, neighbors, show)
        show("writing")
        files = result.files(_command_line(options), model=options.save_model)
        write_files(options.output, files, without=_NOT_ALWAYS)
        if options.checkpoint is not None:
            result.estimator.clear_checkpoint()
    for text in result.warnings:
        warn(text)
    _print_summary(result, options.output)


def _fit(
    options: argparse.Namespace,
    n_clusters: int | str,
    neighbors: int | str,
    show: Callable[[str], None],
) -> Any:
    """Here, or on the workers of a cluster."""
    where: Any = nullcontext()
    if options.scheduler is not None:
        show("connecting")
        where = connected(options.scheduler)
    with where as client:
        from manyview.api import cluster as cluster_data

        show("reading")
        tables = read_tables(options) if client is None else read_spread_tables(options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said at the end, each on a line
            return cluster_data(
                tables, n_clusters, method=options.method, n_neighbors=neighbors,
                random_state=options.seed, checkpoint=options.checkpoint, client=client,
            )  # fmt: skip


def _number_or_auto(flag: str, text: str) -> int | str:
    if text == "auto":
        return text
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError(f"{flag} {text}; expected a number of at least 1, or auto")
    return number


def _command_line(options: argparse.Namespace) -> str:
    """The command that does the same again."""
    words = ["manyview", "cluster", *input_words(options), "--clusters", options.clusters]
    words += ["--method", options.method, "--neighbors", options.neighbors]
    words += ["--seed", str(options.seed), "--output", str(options.output)]
    words += ["--save-model"] if options.save_model else []
    words += ["--scheduler", options.scheduler] if options.scheduler is not None else []
    return shlex.join(words)


def _print_summary(result: Any, folder: Path) -> None:
    summary = result.summary()
    rows = [
        [
            view["name"],
            f"{view['n_samples']:,}",
            f"{view['n_features']:,}",
            f"{view['weight']:.3f}",
            "" if view["disagreement"] is None else f"{view['disagreement']:.3f}",
        ]
        for view in summary["views"]
    ]
    sizes = summary["cluster_sizes"]
    shown = ", ".join(f"{size:,}" for size in sizes[:20]) + (", ..." if len(sizes) > 20 else "")
    title = f"{summary['n_samples']:,} samples in {summary['n_clusters']} clusters"
    columns = ("view", "samples", "features", "weight", "disagreement")
    print_table(title, columns, rows, 1, f"Samples in each cluster: {shown}")
    print_path("Labels", folder / "labels.csv")
    if result.on_cluster:
        print_note("Report: none, as the graphs that it shows stayed on the cluster")
    else:
        print_path("Report", folder / "report.html")
