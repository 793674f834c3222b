"""The page about one clustering."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.colors import LinearSegmentedColormap, to_rgba

from manyview._version import __version__
from manyview.inputs import SCALINGS
from manyview.plotting import (
    map_graphs,
    plot_cluster_number,
    plot_convergence,
    plot_disagreement,
    plot_graph,
    plot_splits,
    plot_weight_history,
)
from manyview.report._assets import as_json, content_policy, environment, package_file
from manyview.report._contents import ReportContents
from manyview.report._points import choose_shown, map_data, point_data
from manyview.report._svg import figure_svg
from manyview.report._tables import FULL_BAR, cluster_rows, column_heads, effect_row, number

#: Samples on the map, at most: more would only cover each other.
MAX_SHOWN = 4000
# In the order in which they are joined to one script.
_SCRIPTS = (
    "data", "colors", "painting", "map", "smallmaps", "selection", "clusters", "pointing",
    "samples", "page",
)  # fmt: skip
# The colour of edges: visible on light and on dark pages.
_EDGE = "#3f86d6"
# With more clusters than this, all lists of features start closed: the page would get long.
_MAX_OPEN = 12


def render_clusters(contents: ReportContents, *, random_state: int = 0) -> str:
    """The page about a clustering, as the text of one HTML file.

    It shows the clusters on an interactive map of the samples, the views and settings, the samples
    with the highest disagreement, the features that distinguish each cluster, the graphs, and the
    rounds of the fit. What a method does not have is left out. `random_state` is the seed of the
    map, and of the choice of samples on it where there are too many.
    """
    _check(contents)
    shown = choose_shown(contents.labels, MAX_SHOWN, np.random.default_rng(random_state))
    clusters = cluster_rows(contents)
    graphs = [view.graph for view in contents.views]
    coordinates = map_graphs(graphs, len(clusters), shown, random_state=random_state)
    data = point_data(contents, shown) | {
        "maps": [map_data("all views", coordinates)],
        "colors": {mode: [row[mode] for row in clusters] for mode in ("light", "dark")},
    }
    script = Markup("\n").join(package_file(f"report/scripts/{name}.js") for name in _SCRIPTS)
    templates = environment()
    templates.filters |= {"count": "{:,}".format, "number": number, "effect_row": effect_row}
    return templates.get_template("report/clusters.html.j2").render(
        contents=contents, version=__version__,
        n_samples=len(contents.labels), n_shown=len(shown),
        clusters=clusters, scalings=SCALINGS, columns=column_heads(data["columns"]), full_bar=FULL_BAR,
        graphs=_graph_figures(contents),
        learning=_learning_figures(contents),
        numbers=_number_figures(contents),
        heat=_disagreement_figure(contents),
        has_effects=any(view.effects for view in contents.views),
        open_effects=len(clusters) <= _MAX_OPEN,
        data=as_json(data), script=script, policy=content_policy(script),
        styles=package_file("report/base.css") + package_file("report/clusters.css"),
    )  # fmt: skip


def _check(contents: ReportContents) -> None:
    n = len(contents.labels)
    if n == 0:
        raise ValueError("labels is empty; expected at least one sample")
    lengths = {"ids": len(contents.ids), "confidence": len(contents.confidence)}
    if contents.disagreement is not None:
        lengths["disagreement"] = len(contents.disagreement)
    lengths |= {f"graph of view {view.name!r}": view.graph.shape[0] for view in contents.views}
    for name, length in lengths.items():
        if length != n:
            raise ValueError(f"{name} has {length} entries; expected {n}, one per label")


def _graph_figures(contents: ReportContents) -> list[tuple[str, str]]:
    shades = [(0.0, to_rgba(_EDGE, 0)), (0.01, to_rgba(_EDGE, 0.3)), (1.0, to_rgba(_EDGE, 1))]
    cmap = LinearSegmentedColormap.from_list("edges", shades)
    unified = contents.unified_graph
    graphs = [] if unified is None else [("Unified graph", unified)]
    graphs += [(f"View: {view.name}", view.graph) for view in contents.views]

    def svg(graph: Any) -> str:
        return figure_svg(lambda ax: plot_graph(graph, contents.labels, ax, cmap=cmap), 3.6, 3.6)

    return [(caption, svg(graph)) for caption, graph in graphs]


def _learning_figures(contents: ReportContents) -> list[tuple[str, str]]:
    history, names = contents.history, [view.name for view in contents.views]
    if len(history) < 2:
        return []

    def misfit(ax: Any) -> None:
        plot_convergence({"misfit": SimpleNamespace(history_=history)}, ax)
        ax.get_legend().remove()
        ax.set(ylabel="misfit")

    weights = figure_svg(lambda ax: plot_weight_history(history, names, ax), 4.8, 3.1)
    return [
        ("Misfit between the unified graph and the views, per round", figure_svg(misfit, 4.8, 3.1)),
        ("View weights, per round", weights),
    ]


def _number_figures(contents: ReportContents) -> list[tuple[str, str]]:
    found = contents.cluster_number
    if found is None:
        return []
    return [
        (
            "Evidence for each number",
            figure_svg(lambda ax: plot_cluster_number(found, ax), 4.8, 3.4),
        ),
        ("How clusters split", figure_svg(lambda ax: plot_splits(found, ax), 4.8, 3.4)),
    ]


def _disagreement_figure(contents: ReportContents) -> str | None:
    if contents.disagreement is None:
        return None
    names = [view.name for view in contents.views]
    model = SimpleNamespace(
        sample_disagreement_=contents.disagreement, labels_=contents.labels, view_names_=names
    )
    height = 1.0 + 0.38 * max(2, len(names))
    return figure_svg(lambda ax: plot_disagreement(model, ax), 5.6, height)
