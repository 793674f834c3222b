"""``manyview datasets``"""

from __future__ import annotations

import argparse

from manyview.cli._terminal import print_table


def datasets(options: argparse.Namespace) -> None:
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
    print_table(f"Data sets in {folder}", columns, rows, 2, note)
