"""The main job on built-in data: cluster the digits, compare, and write a page about it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyview import plotting
from manyview._files import write_whole
from manyview.datasets import MultiViewData, load_digits_views
from manyview.methods import CIGMVC, GBS, AngularCIGMVC
from manyview.metrics import clustering_scores
from manyview.report import Section, Table, figure_svg, render_page

MAIN = "angular"
METHODS: dict[str, Any] = {MAIN: AngularCIGMVC, "CI-GMVC": CIGMVC, "GBS": GBS}
SCORES = ("ACC", "NMI", "ARI", "F1")
# Samples that take the same way through the code as all of them.
_ENOUGH = 600
#: Called with the number of steps done, of all steps, and what comes next.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Result:
    """One clustering of the demo: what was run, its scores, and the fitted model."""

    method: str
    views: str
    scores: dict[str, float]
    rounds: int
    seconds: float
    model: Any


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
        started = time.perf_counter()
        model = METHODS[name](data.n_clusters, random_state=seed).fit(views)
        seconds = time.perf_counter() - started
        scores = clustering_scores(data.target, model.labels_)
        results.append(Result(name, which, scores, model.n_iter_, seconds, model))
    progress(steps, steps, "done")
    return results


def _compile(data: MultiViewData) -> None:
    """Go once through all that is compiled on first use, so that it does not count as fitting."""
    some = {name: view[:_ENOUGH] for name, view in data.views.items()}
    for method in METHODS.values():
        method(data.n_clusters, random_state=0).fit(some)
    METHODS[MAIN](data.n_clusters, random_state=0).fit(dict([*some.items()][:1]))


def result_table(results: list[Result]) -> Table:
    rows = [
        [
            result.method,
            result.views,
            *(f"{result.scores[score]:.3f}" for score in SCORES),
            str(result.rounds),
            f"{result.seconds:.1f}",
        ]
        for result in results
    ]
    note = "Scores compare clusters with the true digits, which no method has seen; 1 is perfect."
    return Table(("method", "views", *SCORES, "rounds", "seconds"), rows, note, text_columns=2)


def write_report(data: MultiViewData, results: list[Result], path: Path, seed: int) -> None:
    """The page with the results, the map, the curves, the weights and the graphs."""
    models = {result.method: result.model for result in results if result.views == "all"}
    main = models[MAIN]
    coordinates = plotting.map_samples(main, random_state=seed)
    views = ", ".join(f"{name} ({view.shape[1]})" for name, view in data.views.items())
    square = {"width": 4.6, "height": 4.6}
    sections = [
        Section("Results", table=result_table(results)),
        Section(
            "The samples",
            "One point a digit, placed by how the views' graphs link it (t-SNE of their spectral "
            "embedding) and coloured twice.",
            figures=[
                (
                    f"by cluster of the {MAIN} variant",
                    figure_svg(
                        lambda ax: plotting.plot_samples(coordinates, main.labels_, ax), **square
                    ),
                ),
                (
                    "by true digit",
                    figure_svg(
                        lambda ax: plotting.plot_samples(coordinates, data.target, ax), **square
                    ),
                ),
            ],
        ),
        Section(
            "Learning",
            "Every round fits the unified graph to the views and pulls it apart a little more; the "
            "loop stops when it has as many pieces as clusters were asked for.",
            figures=[
                (
                    "misfit between the unified graph and the views",
                    figure_svg(lambda ax: plotting.plot_convergence(models, ax)),
                ),
                (
                    "how much each view counts",
                    figure_svg(lambda ax: plotting.plot_view_weights(models, ax)),
                ),
            ],
        ),
        Section(
            "The graphs",
            "Samples in the order of their cluster, darker where two are linked. A view's own "
            "graph links across clusters; the unified graph keeps only the blocks.",
            figures=[
                (caption, figure_svg(_drawing(graph, main.labels_), **square))
                for caption, graph in [
                    ("unified graph", main.unified_graph_),
                    *(
                        (f"view '{name}'", graph)
                        for name, graph in zip(main.view_names_, main.view_graphs_, strict=True)
                    ),
                ]
            ],
        ),
    ]
    subtitle = f"{data.n_samples} images, {data.n_clusters} clusters, views: {views}"
    write_whole(path, render_page("Handwritten digits in three views", subtitle, sections))


def _drawing(graph: Any, labels: Any) -> Callable[[Any], Any]:
    return lambda ax: plotting.plot_graph(graph, labels, ax)


def run_demo(output: Path, seed: int, progress: Progress) -> tuple[Table, Path]:
    """Cluster the digits and write ``report.html`` into `output`."""
    data = load_digits_views()
    results = cluster_digits(data, seed, progress)
    path = output / "report.html"
    write_report(data, results, path, seed)
    return result_table(results), path
