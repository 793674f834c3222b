"""``manyview cluster``"""

import argparse
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from manyview.cli._extras import missing_for_report, print_page, require_report
from manyview.cli._inputs import (
    add_input_options,
    command_line,
    read_options,
    read_tables,
    warn_of_dropped,
)
from manyview.cli._scheduler import (
    add_scheduler_options,
    check_certificates,
    check_scheduler_options,
    connected,
)
from manyview.cli._settings import (
    add_output,
    add_settings,
    add_yes,
    check_able,
    memory_as_asked,
    settings_of,
)
from manyview.cli._terminal import activity, print_path, print_table, warn
from manyview.methods import BY_SHORT_NAME, DEFAULT, DISTRIBUTED

_OUTPUTS = ("labels.csv", "summary.json", "report.html")
# Files that only some runs write; those of an earlier run are removed.
_OPTIONAL = ("model.zip", "report.html")
# Options of a command that gives the same result.
_REPEATED = (
    "resolution", "method", "metadata", "save-model", "scheduler", "tls-ca", "tls-cert", "tls-key",
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
        "giving their number; 1 is usual (consensus, snf, nemo, wnn; needs 'manyview[leiden]')")
    add("--method", default=DEFAULT, choices=BY_SHORT_NAME, metavar="NAME",
        help=f"{', '.join(BY_SHORT_NAME)} (default: %(default)s)")
    # fmt: on
    add_settings(add)


def _add_output_options(add: Callable[..., Any]) -> None:
    add_output(add, "manyview-clusters", "labels.csv, summary.json", "report.html")
    # fmt: off
    add("--metadata", metavar="FILE[@COLUMN]",
        help="what else is known of the samples, to compare with the clusters in the report: .csv, "
        ".tsv, .xlsx, .parquet or .feather with columns of any kind. Rows are joined by the ids in "
        "COLUMN (default: that of --id), without ids row by row")
    add("--save-model", action="store_true", help="also write model.zip, for 'manyview predict'")
    # fmt: on


def _add_large_data_options(add: Callable[..., Any]) -> None:
    # fmt: off
    add("--checkpoint", type=Path, metavar="DIR",
        help="save the state of the fit in this folder: after an interruption, the same command "
        "continues from there (consensus, angular, cigmvc and gbs); removed once the outputs are "
        "written")
    # fmt: on
    add_yes(add)
    add_scheduler_options(add)


def cluster(options: argparse.Namespace) -> None:
    """Cluster samples that are described by several tables, one per view. Writes labels, a summary
    and a report page."""
    from manyview.runtime import check_folder, check_writable, write_files

    settings = settings_of(options, [options.method])
    if options.checkpoint is not None:
        check_able("--checkpoint", [options.method], DISTRIBUTED)
    if options.scheduler is not None:
        check_scheduler_options(options)
    check_certificates(options)
    names = [*_OUTPUTS, *(["model.zip"] if options.save_model else [])]
    check_writable(options.output, names, force=options.force)  # before the work
    if options.checkpoint is not None:
        check_folder(options.checkpoint)
    metadata = _metadata(options)
    with activity() as show:
        with memory_as_asked(options):
            result = _fit(options, settings, show)
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

    return read_metadata(options.metadata, read_options(options))


def _fit(options: argparse.Namespace, settings: dict[str, Any], show: Callable[[str], None]) -> Any:
    """Read and cluster, on this machine or on Dask."""
    if options.scheduler is not None:
        show("connecting")
    with nullcontext() if options.scheduler is None else connected(options) as client:
        from manyview.api import cluster as cluster_data

        show("reading")
        tables = read_tables(options, options.metadata, on_dask=client is not None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are printed at the end, one per line
            return cluster_data(
                tables, method=options.method, checkpoint=options.checkpoint, client=client,
                **settings,
            )  # fmt: skip


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
    count = summary["n_clusters"]
    title = f"{summary['n_samples']:,} samples in {count} cluster{'s' if count > 1 else ''}"
    stability = summary["mean_stability"]
    note = "" if stability is None else f"\nMean stability: {stability:.2f}"
    filled = sum(view["imputed_cells"] for view in summary["views"])
    note += f"\nEmpty cells filled with medians: {filled:,}" if filled else ""
    print_table(title, columns, rows, 1, f"Samples per cluster: {shown}{note}")
    print_path("Labels", folder / "labels.csv")
    print_page("Report", folder / "report.html")
