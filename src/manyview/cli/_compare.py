"""``manyview compare``"""

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from manyview.cli._cluster import number_or_auto, scaling_of
from manyview.cli._extras import require_report
from manyview.cli._inputs import (
    READING,
    add_input_options,
    add_seed,
    check_seed,
    command_line,
    read_tables,
)
from manyview.cli._terminal import activity, print_line, print_path, print_table, warn
from manyview.methods import BY_SHORT_NAME

_OUTPUTS = ("comparison.csv", "labels.csv", "comparison.html", "summary.json")
# Options of a command that gives the same result.
_REPEATED = (
    *READING, "clusters", "methods", "classes", "subsamples",
    "neighbors", "scaling", "seed", "output",
)  # fmt: skip


def add_compare_options(parser: argparse.ArgumentParser) -> None:
    parser.usage = "%(prog)s VIEW [VIEW ...] [options]"
    add_input_options(parser)
    add = parser.add_argument_group("clusterings").add_argument
    # fmt: off
    add("-k", "--clusters", "--n-clusters", nargs="+", default=["auto"], metavar="N",
        help="one or more numbers of clusters, or 'auto' to choose one from the data (default: "
        "auto)")
    add("--methods", nargs="+", choices=BY_SHORT_NAME, metavar="METHOD",
        help=f"some of {', '.join(BY_SHORT_NAME)} (default: consensus, average and angular)")
    add("--neighbors", default="auto", metavar="K",
        help="neighbours per sample in each view's graph (default: %(default)s)")
    add("--scaling", nargs="+", metavar="[VIEW=]NAME",
        help="as in 'manyview cluster', for all methods (default: auto for consensus, paper for "
        "the others)")
    add("--subsamples", type=int, default=0, metavar="N",
        help="repeat every clustering on N random subsamples of 80 %% of the samples, to see "
        "whether it comes out the same (default: %(default)s)")
    add("--classes", metavar="FILE:COLUMN",
        help="column of a .csv or .tsv file with known classes, to measure ACC, NMI and ARI by; "
        "joined by --id if that is given, else in the order of the rows")
    add_seed(add)
    add = parser.add_argument_group("output").add_argument
    add("--output", type=Path, default=Path("manyview-comparison"), metavar="DIR",
        help=f"folder for {', '.join(_OUTPUTS[:-1])} and {_OUTPUTS[-1]} (default: %(default)s)")
    add("--force", action="store_true", help="overwrite the files of an earlier run in that folder")
    add = parser.add_argument_group("large data").add_argument
    add("--yes", action="store_true", help="fit even if the memory will probably not be enough")
    # fmt: on


def compare(options: argparse.Namespace) -> None:
    """Cluster the same samples by several methods or into several numbers of clusters. Tells how
    they agree and how well they fit the views; with known classes, also how well they find
    these."""
    from manyview.runtime import check_writable, memory_limit, write_files

    require_report("manyview compare")
    numbers = [number_or_auto("--clusters", text) for text in options.clusters]
    options.neighbors = number_or_auto("--neighbors", options.neighbors)
    check_seed(options.seed)
    check_writable(options.output, _OUTPUTS, force=options.force)  # before the work
    with activity() as show:
        show("reading")
        tables, classes = _read(options)
        with memory_limit(None) if options.yes else nullcontext():
            found = _compare(options, tables, numbers, classes)
        show("writing")
        write_files(options.output, found.files(command_line(options, *_REPEATED)))
    for text in found.remarks():
        warn(text)
    _print_table(found, options.output)


def _compare(options: argparse.Namespace, tables: Any, numbers: list[Any], classes: Any) -> Any:
    from manyview.comparison import DEFAULT_METHODS
    from manyview.comparison import compare as compare_clusterings

    methods = options.methods or DEFAULT_METHODS
    return compare_clusterings(
        tables, numbers, methods, classes=classes, n_subsamples=options.subsamples,
        random_state=options.seed, n_neighbors=options.neighbors, **scaling_of(options.scaling),
    )  # fmt: skip


def _read(options: argparse.Namespace) -> tuple[Any, Any]:
    """The views, and the known classes if there are any."""
    from manyview.inputs.files import parse_spec, read_column

    if options.classes is None:
        return read_tables(options), None
    path, column, classes = read_column(options.classes, options.id)
    tables = read_tables(options)
    is_view = path.resolve() in {parse_spec(spec).path.resolve() for spec in options.views}
    for view, features in tables.features.items():
        if is_view and column in features:
            raise ValueError(
                f"view {view!r} has the classes, {column!r}, among its features; expected files of "
                "features without it"
            )
    return tables, classes


def _print_table(found: Any, folder: Path) -> None:
    columns = found.shown()
    count, n = len(found.results), len(found.ids)
    note = "Agreement: mean ARI with the others. What the figures mean is on the page."
    rows = zip(*columns.values(), strict=True)
    print_table(f"{count} clusterings of {n:,} samples", list(columns), rows, 1, note)
    if found.cluster_number is not None:
        print_line(f"Suggested number of clusters: {found.cluster_number.n_clusters}")
    print_path("Labels", folder / "labels.csv")
    print_path("Page", folder / "comparison.html")
