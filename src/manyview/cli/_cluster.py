"""``manyview cluster``"""

import argparse
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from manyview.cli._extras import missing_for_report, require_report
from manyview.cli._inputs import (
    READING,
    add_input_options,
    add_seed,
    check_seed,
    command_line,
    read_tables,
    warn_of_dropped,
)
from manyview.cli._scheduler import check_scheduler_options, connected
from manyview.cli._terminal import activity, print_line, print_path, print_table, warn
from manyview.methods import BY_SHORT_NAME, DEFAULT

_OUTPUTS = ("labels.csv", "summary.json", "report.html")
# Files that only some runs write; those of an earlier run are removed.
_OPTIONAL = ("model.zip", "report.html")
# Options of a command that gives the same result.
_REPEATED = (
    *READING, "clusters", "resolution", "method", "neighbors",
    "scaling", "seed", "output", "metadata", "save-model", "scheduler",
)  # fmt: skip


def add_cluster_options(parser: argparse.ArgumentParser) -> None:
    # Views come first: they would be taken for values of an option that may have several.
    parser.usage = "%(prog)s VIEW [VIEW ...] [options]"
    parser.epilog = "Example: manyview cluster rna.csv protein=adt.csv --id cell --clusters 8"
    add_input_options(parser)
    _add_clustering_options(parser.add_argument_group("clustering").add_argument)
    _add_output_options(parser.add_argument_group("output").add_argument)
    _add_large_data_options(parser.add_argument_group("large data").add_argument)


def _add_clustering_options(add: Callable[..., Any]) -> None:
    # fmt: off
    add("-k", "--clusters", "--n-clusters", default="auto", metavar="N",
        help="number of clusters, or 'auto' to choose it from the data (default: %(default)s)")
    add("--resolution", type=float, metavar="R",
        help="find clusters by the Leiden algorithm, more of them the higher R is, instead of "
        "giving their number; 1 is usual (consensus; needs 'manyview[leiden]')")
    add("--method", default=DEFAULT, choices=BY_SHORT_NAME, metavar="NAME",
        help=f"{', '.join(BY_SHORT_NAME)} (default: %(default)s)")
    add("--neighbors", default="auto", metavar="K",
        help="neighbours per sample in each view's graph (default: %(default)s)")
    add("--scaling", nargs="+", metavar="[VIEW=]NAME",
        help="what is done to the columns and rows of all views, or of the view whose name stands "
        "before it: auto, paper, zscore, unit, none, tfidf, sqrt, logratio, standard or center "
        "(default: auto for consensus, paper for the others)")
    # fmt: on
    add_seed(add)


def _add_output_options(add: Callable[..., Any]) -> None:
    # fmt: off
    add("--output", type=Path, default=Path("manyview-clusters"), metavar="DIR",
        help="folder for labels.csv, summary.json and report.html, which needs 'manyview[report]' "
        "(default: %(default)s)")
    add("--force", action="store_true",
        help="overwrite the files of an earlier run in that folder, and remove its model.zip")
    add("--metadata", metavar="FILE[@COLUMN]",
        help="what else is known of the samples, to compare with the clusters in the report: .csv, "
        ".tsv or .parquet with columns of any kind. Rows are joined by the ids in COLUMN (default: "
        "that of --id), without ids row by row")
    add("--save-model", action="store_true", help="also write model.zip, for 'manyview predict'")
    # fmt: on


def _add_large_data_options(add: Callable[..., Any]) -> None:
    # fmt: off
    add("--checkpoint", type=Path, metavar="DIR",
        help="save the state of the fit in this folder: after an interruption, the same command "
        "continues from there (consensus, angular, cigmvc and gbs); removed once the outputs are "
        "written")
    add("--scheduler", metavar="ADDRESS",
        help="fit on the Dask workers of this scheduler, such as tcp://127.0.0.1:8786 (consensus, "
        "angular, cigmvc and gbs). Workers read .parquet files, or folders of them, under the same "
        "paths as here; with --id, all files must have the same ids in the same order. There is no "
        "report.html, as the graphs stay on the workers")
    add("--yes", action="store_true", help="fit even if the memory will probably not be enough")
    # fmt: on


def cluster(options: argparse.Namespace) -> None:
    """Cluster samples that are described by several tables, one per view. Writes labels, a summary
    and a report page."""
    from manyview.runtime import check_folder, check_writable, memory_limit, write_files

    options.clusters = number_or_auto("--clusters", options.clusters)
    options.neighbors = number_or_auto("--neighbors", options.neighbors)
    check_seed(options.seed)
    if options.scheduler is not None:
        check_scheduler_options(options)
    names = [*_OUTPUTS, *(["model.zip"] if options.save_model else [])]
    check_writable(options.output, names, force=options.force)  # before the work
    if options.checkpoint is not None:
        check_folder(options.checkpoint)
    metadata = _metadata(options)
    with activity() as show:
        with memory_limit(None) if options.yes else nullcontext():
            result = _fit(options, show)
        show("report")
        files = result.files(
            command_line(options, *_REPEATED),
            model=options.save_model,
            report=not missing_for_report(),
            metadata=metadata,
        )
        show("writing")
        write_files(options.output, files, without=_OPTIONAL)
        if options.checkpoint is not None:
            result.estimator.clear_checkpoint()
    warn_of_dropped(result.tables)
    for text in result.warnings:
        warn(text)
    _print_summary(result, options.output)


def _metadata(options: argparse.Namespace) -> Any:
    """The table of metadata, read before the work; None without any."""
    if options.metadata is None:
        return None
    require_report("--metadata")
    from manyview.inputs.files import read_metadata

    return read_metadata(options.metadata, options.id)


def _fit(options: argparse.Namespace, show: Callable[[str], None]) -> Any:
    """Read and cluster, on this machine or on Dask."""
    if options.scheduler is not None:
        show("connecting")
    with nullcontext() if options.scheduler is None else connected(options.scheduler) as client:
        from manyview.api import cluster as cluster_data

        show("reading")
        tables = read_tables(options, on_dask=client is not None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are printed at the end, one per line
            return cluster_data(
                tables, options.clusters, method=options.method, n_neighbors=options.neighbors,
                random_state=options.seed, checkpoint=options.checkpoint, client=client,
                **scaling_of(options.scaling), **_resolution(options),
            )  # fmt: skip


def _resolution(options: argparse.Namespace) -> dict[str, Any]:
    """The parameter `resolution`, if it was given."""
    if options.resolution is None:
        return {}
    if options.method != DEFAULT:
        raise ValueError(f"--resolution with --method {options.method}; expected {DEFAULT}")
    return {"resolution": options.resolution}


def scaling_of(given: list[str] | None) -> dict[str, Any]:
    """The parameter `scaling`, if it was given."""
    if not given:
        return {}
    if len(given) == 1 and "=" not in given[0]:
        return {"scaling": given[0]}
    pairs = [text.rpartition("=") for text in given]
    for view, _, name in pairs:
        if not view:
            raise ValueError(f"--scaling {name}; expected VIEW=NAME if there are several")
    return {"scaling": {view: name for view, _, name in pairs}}


def number_or_auto(flag: str, text: str) -> int | str:
    if text == "auto":
        return text
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError(f"{flag} {text}; expected a number of at least 1, or auto")
    return number


def _print_summary(result: Any, folder: Path) -> None:
    summary = result.summary()
    columns, rows = ["view", "samples", "features", "scaling", "weight"], []
    if result.disagreement is not None:
        columns.append("disagreement")
    for view in summary["views"]:
        counts = [f"{view['n_samples']:,}", f"{view['n_features']:,}", view["scaling"]]
        shares = [view[name] for name in columns[4:]]
        rows.append([view["name"], *counts, *("" if x is None else f"{x:.3f}" for x in shares)])
    sizes = summary["cluster_sizes"]
    shown = ", ".join(f"{size:,}" for size in sizes[:20]) + (", ..." if len(sizes) > 20 else "")
    title = f"{summary['n_samples']:,} samples in {summary['n_clusters']} clusters"
    stability = summary["mean_stability"]
    note = "" if stability is None else f"\nMean stability: {stability:.2f}"
    filled = sum(view["imputed_cells"] for view in summary["views"])
    note += f"\nEmpty cells filled with medians: {filled:,}" if filled else ""
    print_table(title, columns, rows, 1, f"Samples per cluster: {shown}{note}")
    print_path("Labels", folder / "labels.csv")
    if result.is_distributed:
        print_line("Report: none, as its graphs stay on the Dask workers")
    elif missing := missing_for_report():
        print_line(f"Report: not written, {missing}")
    else:
        print_path("Report", folder / "report.html")
