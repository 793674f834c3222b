"""``manyview compare``"""

import argparse
from pathlib import Path
from typing import Any

from manyview.cli._extras import missing_for_report, print_page
from manyview.cli._inputs import (
    add_input_options,
    command_line,
    read_options,
    read_tables,
    warn_of_dropped,
)
from manyview.cli._settings import add_output, add_settings, add_yes, memory_as_asked, settings_of
from manyview.cli._terminal import activity, print_line, print_path, print_table, warn
from manyview.methods import BY_SHORT_NAME

_OUTPUTS = ("comparison.csv", "labels.csv", "comparison.html", "summary.json")


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
    add("--subsamples", type=int, default=0, metavar="N",
        help="repeat every clustering on N random subsamples of 80 %% of the samples, to see "
        "whether it comes out the same (default: %(default)s)")
    add("--classes", metavar="FILE:COLUMN",
        help="column of a .csv, .tsv, .parquet or .feather file with known classes, to measure "
        "ACC, NMI and ARI by; joined by --id if that is given, else in the order of the rows")
    # fmt: on
    add_settings(add)
    add = parser.add_argument_group("output").add_argument
    add_output(
        add, "manyview-comparison", "comparison.csv, labels.csv, summary.json", "comparison.html"
    )
    add_yes(parser.add_argument_group("large data").add_argument)


def compare(options: argparse.Namespace) -> None:
    """Cluster the same samples by several methods or into several numbers of clusters. Tells how
    they agree and how well they fit the views; with known classes, also how well they find
    these."""
    from manyview.runtime import check_writable, write_files

    settings = settings_of(options, options.methods or [])
    check_writable(options.output, _OUTPUTS, force=options.force)  # before the work
    command = command_line(options, "methods", "classes", "subsamples")
    with activity() as show:
        show("reading")
        tables, classes = _read(options)
        with memory_as_asked(options):
            found = _compare(options, tables, settings, classes)
        show("writing")
        files = found.files(command, page=not missing_for_report())
        write_files(options.output, files, without=["comparison.html"])
    warn_of_dropped(tables)
    for text in found.remarks():
        warn(text)
    _print_table(found, options.output)


def _compare(
    options: argparse.Namespace, tables: Any, settings: dict[str, Any], classes: Any
) -> Any:
    from manyview.comparison import DEFAULT_METHODS
    from manyview.comparison import compare as compare_clusterings

    methods = options.methods or DEFAULT_METHODS
    return compare_clusterings(
        tables, methods=methods, classes=classes, n_subsamples=options.subsamples, **settings
    )


def _read(options: argparse.Namespace) -> tuple[Any, Any]:
    """The views, and the known classes if there are any."""
    from manyview.inputs.files import parse_spec, read_column

    if options.classes is None:
        return read_tables(options), None
    path, column, classes = read_column(options.classes, read_options(options))
    tables = read_tables(options, options.classes)
    if tables.has_ids and isinstance(classes, list):
        raise ValueError(
            f"--classes {options.classes} has no ids, but the samples have; expected a column of "
            f"ids, as in {path}:{column}@IDS"
        )
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
    note = "Agreement: mean ARI with the others."
    note += "" if missing_for_report() else " What the figures mean is on the page."
    rows = zip(*columns.values(), strict=True)
    print_table(f"{count} clusterings of {n:,} samples", list(columns), rows, 1, note)
    if found.cluster_number is not None:
        print_line(f"Suggested number of clusters: {found.cluster_number.n_clusters}")
    print_path("Labels", folder / "labels.csv")
    print_page("Page", folder / "comparison.html")
