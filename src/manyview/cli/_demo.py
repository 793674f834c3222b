"""``manyview demo``"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from manyview.cli._extras import require_report
from manyview.cli._inputs import command_line
from manyview.cli._settings import add_seed, check_seed
from manyview.cli._terminal import print_path, print_table, progress

# Names in the table, and names in the API; the report is about the first.
_METHODS = {"consensus": "consensus", "CI-GMVC": "cigmvc", "GBS": "gbs"}
_SCORES = ("ACC", "NMI", "ARI", "F1")


def add_demo_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=Path, default=Path("manyview-demo"), metavar="DIR",
        help="folder for report.html (default: %(default)s)")  # fmt: skip
    add_seed(parser.add_argument)


def demo(options: argparse.Namespace) -> None:
    """Cluster the handwritten digits of scikit-learn with the main methods, and write a report
    page."""
    from manyview.datasets import load_digits_views
    from manyview.runtime import check_writable

    require_report("manyview demo")
    check_seed(options.seed)
    check_writable(options.output, ["report.html"], force=True)  # before the work
    path, title = options.output / "report.html", "Handwritten digits in three views"
    with progress() as show:
        data = load_digits_views()
        result, rows = _cluster_all(data, options.seed, show)
        result.report(path, title=title, command=command_line(options, "seed"))
    title = f"Handwritten digits: {data.n_samples:,} images, {data.n_clusters} clusters"
    note = "Scores against the true digits, which no method has seen; 1 is perfect."
    print_table(title, ("method", "views", *_SCORES, "seconds"), rows, 2, note)
    print_path("Report", path)


def _cluster_all(data: Any, seed: int, show: Callable[[int, int, str], None]) -> Any:
    """The first result, and the table: all methods on all views, then the first on each view."""
    from manyview.api import cluster
    from manyview.metrics import clustering_scores

    jobs = [(name, "all", data.views) for name in _METHODS]
    jobs += [("consensus", name, {name: view}) for name, view in data.views.items()]
    steps, results, rows = len(jobs) + 1, [], []
    show(0, steps, "compiling (first run only)")
    for name, _, views in jobs[: len(_METHODS) + 1]:  # the same code on fewer samples
        few = {view: matrix[:600] for view, matrix in views.items()}
        cluster(few, data.n_clusters, method=_METHODS[name])
    for done, (name, which, views) in enumerate(jobs, start=1):
        show(done, steps, f"{name}, views: {which}")
        result = cluster(views, data.n_clusters, method=_METHODS[name], random_state=seed)
        scores = clustering_scores(data.target, result.labels)
        numbers = [f"{scores[score]:.3f}" for score in _SCORES]
        rows.append([name, which, *numbers, f"{result.seconds:.1f}"])
        results.append(result)
    show(steps, steps, "writing the report")
    return results[0], rows
