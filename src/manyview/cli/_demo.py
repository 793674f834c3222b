"""``manyview demo``"""

from __future__ import annotations

import argparse

from manyview.cli._terminal import print_path, print_table, progress


def demo(options: argparse.Namespace) -> None:
    """Cluster the digits that scikit-learn ships with by the main methods, and write a page."""
    from manyview.cli._demo_run import run_demo
    from manyview.runtime import check_integer, check_writable

    check_integer("seed", options.seed, 0, 2**32 - 1)
    check_writable(options.output, ["report.html"], force=True)  # better now than after the work
    with progress() as show:
        results, path = run_demo(options.output, options.seed, show)
    title = "Handwritten digits: 1,797 images, 10 clusters"
    print_table(title, results.columns, results.rows, results.text_columns, results.note)
    print_path("Report", path)
