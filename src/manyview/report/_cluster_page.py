"""The page about one clustering."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from manyview._typing import FloatArray, IntArray
from manyview._version import __version__
from manyview.report._contents import ReportContents, ViewContents
from manyview.report._page import figure_svg
from manyview.report._points import MOST_SHOWN, choose_shown, point_data
from manyview.report._tables import (
    FULL_BAR,
    cluster_rows,
    effect_rows,
    most_disagreeing,
    number,
    sample_disagreement,
)

# The colour of links: one that is seen on light and on dark pages, nothing being transparent.
_LINK = "#3f86d6"
# Clusters whose features are shown without asking; more make a long page.
_OPEN_CLUSTERS = 12

Figures = list[tuple[str, str]]


def render_clusters(contents: ReportContents, *, random_state: int = 0) -> str:
    """A page for people who want to understand a clustering, as the text of one HTML file.

    It has the settings and the views, the clusters on a map of the samples that can be explored,
    the graphs, the course of the learning, the samples that disagree most, and the features that
    set each cluster apart. What a method does not have is left out. The file loads nothing from
    the network.

    Parameters
    ----------
    contents : ReportContents
    random_state : int, default=0
        Seed of the map, and of the samples on it where there are too many to show all.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> pairs = csr_array(np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]]))
    >>> contents = ReportContents(
    ...     title="Two pairs",
    ...     settings={"method": "by hand"},
    ...     command=None,
    ...     ids=["a", "b", "c", "d"],
    ...     labels=np.array([0, 0, 1, 1]),
    ...     confidence=np.ones(4),
    ...     unified_graph=pairs,
    ...     views=[ViewContents("only", 4, 2, 1.0, pairs)],
    ... )
    >>> render_clusters(contents).splitlines()[0]
    '<!DOCTYPE html>'
    """
    from manyview.report._assets import as_json, content_policy, environment, own_file

    _check(contents)
    shown, coordinates = _map(contents, random_state)
    disagreement = sample_disagreement(contents.views)
    clusters = cluster_rows(contents)
    judged = [view.name for view in contents.views if view.disagreement is not None]
    data = {
        "points": point_data(contents, shown, coordinates),
        "views": judged,
        "colors": {
            "light": [row.light for row in clusters],
            "dark": [row.dark for row in clusters],
        },
    }
    point_of = {int(sample): place for place, sample in enumerate(shown)}
    script = own_file("clusters.js")
    return (
        environment()
        .get_template("clusters.html.j2")
        .render(
            contents=contents,
            version=__version__,
            n_samples=len(contents.labels),
            n_shown=len(shown),
            clusters=clusters,
            views=[_view_row(view, len(contents.labels)) for view in contents.views],
            judged=judged,
            full_bar=FULL_BAR,
            graphs=_graph_figures(contents),
            learning=_learning_figures(contents),
            heat=_heat_figure(contents, disagreement, judged),
            samples=(
                None if disagreement is None else most_disagreeing(contents, disagreement, point_of)
            ),
            effects=[(view.name, effect_rows(view)) for view in contents.views if view.effects],
            open_effects=len(clusters) <= _OPEN_CLUSTERS,
            data=as_json(data),
            script=script,
            policy=content_policy(script),
            styles=own_file("base.css") + own_file("clusters.css"),
        )
    )


def _check(contents: ReportContents) -> None:
    n = len(contents.labels)
    if n == 0:
        raise ValueError("labels is empty; expected at least one sample")
    lengths = {"ids": len(contents.ids), "confidence": len(contents.confidence)}
    for view in contents.views:
        lengths[f"graph of view {view.name!r}"] = view.graph.shape[0]
        if view.disagreement is not None:
            lengths[f"disagreement of view {view.name!r}"] = len(view.disagreement)
    for name, length in lengths.items():
        if length != n:
            raise ValueError(f"{name} has {length} entries; expected {n}, one a label")


def _map(contents: ReportContents, random_state: int) -> tuple[IntArray, FloatArray]:
    """The samples to show, and where."""
    from manyview.plotting import map_graphs

    rng = np.random.default_rng(random_state)
    shown = choose_shown(contents.labels, MOST_SHOWN, rng)
    n_clusters = int(contents.labels.max()) + 1
    graphs = [view.graph for view in contents.views]
    return shown, map_graphs(graphs, n_clusters, shown, random_state=random_state)


def _view_row(view: ViewContents, n_samples: int) -> dict[str, Any]:
    missing = n_samples - view.n_present
    return {
        "name": view.name,
        "present": f"{view.n_present:,}",
        "missing": f"{missing:,} missing" if missing else "",
        "features": f"{view.n_features:,}",
        "weight": number(view.weight),
        "disagreement": number(view.mean_disagreement),
    }


def _graph_figures(contents: ReportContents) -> Figures:
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    from manyview.plotting import plot_graph

    shades = [(0.0, to_rgba(_LINK, 0)), (0.01, to_rgba(_LINK, 0.3)), (1.0, to_rgba(_LINK, 1))]
    links = LinearSegmentedColormap.from_list("links", shades)

    def figure(graph: Any) -> str:
        return figure_svg(
            lambda ax: plot_graph(graph, contents.labels, ax, cmap=links), width=3.6, height=3.6
        )

    unified = contents.unified_graph
    figures = [] if unified is None else [("Unified graph", figure(unified))]
    return figures + [(f"View: {view.name}", figure(view.graph)) for view in contents.views]


def _learning_figures(contents: ReportContents) -> Figures:
    """How the rounds went; nothing for methods without rounds."""
    if len(contents.history) < 2:
        return []
    from manyview.plotting import plot_convergence, plot_weight_history

    def misfit(ax: Any) -> None:
        plot_convergence({"misfit": SimpleNamespace(history_=contents.history)}, ax)
        ax.get_legend().remove()
        ax.set(ylabel="misfit")

    names = [view.name for view in contents.views]
    drawings: list[tuple[str, Callable[[Any], Any]]] = [
        ("Misfit between the unified graph and the views, round by round", misfit),
        (
            "How much each view counts, round by round",
            lambda ax: plot_weight_history(contents.history, names, ax),
        ),
    ]
    return [(caption, figure_svg(draw, 4.8, 3.1)) for caption, draw in drawings]


def _heat_figure(
    contents: ReportContents, disagreement: FloatArray | None, names: list[str]
) -> str | None:
    if disagreement is None:
        return None
    from manyview.plotting import plot_disagreement

    model = SimpleNamespace(
        sample_disagreement_=disagreement, labels_=contents.labels, view_names_=names
    )
    height = 1.0 + 0.38 * max(2, len(names))
    return figure_svg(lambda ax: plot_disagreement(model, ax), 5.6, height)
