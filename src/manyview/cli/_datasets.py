"""``manyview datasets``"""

import argparse

from manyview.cli._terminal import print_table


def datasets(options: argparse.Namespace) -> None:
    """List the data sets, and whether their files are present."""
    from manyview.datasets import SOURCES, data_folder, fetch, status

    rows = []
    for source in SOURCES.values():
        n, c, widths = source.n_samples, source.n_clusters, source.widths
        present = status(source, options.data_home)
        if present == "yes" and n is None:
            data = fetch(source.name, options.data_home)
            n, c = data.n_samples, data.n_clusters
            widths = tuple(view.shape[1] for view in data.views.values())
        rows.append([
            source.name,
            present,
            *("?" if number is None else str(number) for number in (n, len(widths) or None, c)),
            ", ".join(map(str, widths)) or "?",
            f"{source.n_bytes / 1e6:.2f}",
        ])  # fmt: skip
    columns = ("name", "present", "N", "V", "C", "dimensions", "MB")
    note = "Another folder: --data-home or $MANYVIEW_DATA. Missing files are downloaded when used."
    print_table(f"Data sets in {data_folder(options.data_home)}", columns, rows, 2, note)
