"""The main job on built-in data: cluster the digits, compare, and write a page about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyview.api import cluster
from manyview.datasets import MultiViewData, load_digits_views
from manyview.metrics import clustering_scores
from manyview.report import Table
from manyview.result import ClusterResult

MAIN = "angular"
# By the names that people know them by; the main one first.
METHODS = {MAIN: "angular", "CI-GMVC": "cigmvc", "GBS": "gbs"}
SCORES = ("ACC", "NMI", "ARI", "F1")
# Samples that take the same way through the code as all of them.
_ENOUGH = 600
#: Called with the number of steps done, of all steps, and what comes next.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Result:
    """One clustering of the demo: what was run, and its scores."""

    method: str
    views: str
    scores: dict[str, float]
    clustering: ClusterResult


def cluster_digits(data: MultiViewData, seed: int, progress: Progress) -> list[Result]:
    """Every method on all views together, and the main one on each view alone."""
    jobs: list[tuple[str, str, dict[str, Any]]] = [(name, "all", data.views) for name in METHODS]
    jobs += [(MAIN, name, {name: view}) for name, view in data.views.items()]
    steps = len(jobs) + 1
    progress(0, steps, "compiling (first run only)")
    _compile(data)
    results = []
    for done, (name, which, views) in enumerate(jobs, start=1):
        progress(done, steps, f"{name}, views: {which}")
        found = cluster(views, data.n_clusters, method=METHODS[name], random_state=seed)
        scores = clustering_scores(data.target, found.labels)
        results.append(Result(name, which, scores, found))
    progress(steps, steps, "writing the report")
    return results


def _compile(data: MultiViewData) -> None:
    """Go once through all that is compiled on first use, so that it does not count as fitting."""
    some = {name: view[:_ENOUGH] for name, view in data.views.items()}
    for method in METHODS.values():
        cluster(some, data.n_clusters, method=method)
    cluster(dict([*some.items()][:1]), data.n_clusters)


def result_table(results: list[Result]) -> Table:
    rows = [
        [
            result.method,
            result.views,
            *(f"{result.scores[score]:.3f}" for score in SCORES),
            str(result.clustering.estimator.n_iter_),
            f"{result.clustering.seconds:.1f}",
        ]
        for result in results
    ]
    note = "Scores compare clusters with the true digits, which no method has seen; 1 is perfect."
    return Table(("method", "views", *SCORES, "rounds", "seconds"), rows, note, text_columns=2)


def run_demo(output: Path, seed: int, progress: Progress) -> tuple[Table, Path]:
    """Cluster the digits and write ``report.html`` about the main method into `output`."""
    data = load_digits_views()
    results = cluster_digits(data, seed, progress)
    path = results[0].clustering.report(
        output / "report.html", title="Handwritten digits in three views", command="manyview demo"
    )
    return result_table(results), path
