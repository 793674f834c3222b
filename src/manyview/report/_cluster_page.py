"""The page about one clustering."""

from types import SimpleNamespace
from typing import Any

from markupsafe import Markup
from matplotlib.colors import LinearSegmentedColormap, to_rgba

from manyview._typing import FloatArray
from manyview._version import __version__
from manyview.inputs import SCALINGS
from manyview.plotting import (
    MAX_TSNE,
    choose_some,
    graph_embedding,
    map_embedding,
    plot_cluster_number,
    plot_convergence,
    plot_disagreement,
    plot_graph,
    plot_splits,
    plot_weight_history,
)
from manyview.report._alone import MAX_VIEW_TSNE, alone_figures, views_alone
from manyview.report._assets import as_json, content_policy, environment, package_file
from manyview.report._colors import cluster_colors
from manyview.report._contents import ReportContents
from manyview.report._metadata import MAX_CATEGORIES, metadata_effects
from manyview.report._points import map_data, point_data
from manyview.report._svg import figure_svg
from manyview.report._tables import (
    FULL_BAR,
    cluster_rows,
    column_heads,
    effect_row,
    heat_cell,
    metadata_rows,
    number,
)

#: Samples on the page, at most: it has about 30 bytes of each.
MAX_SHOWN = 500_000
# In the order in which they are joined to one script.
_SCRIPTS = (
    "data", "colors", "painting", "map", "smallmaps", "selection", "clusters", "pointing",
    "samples", "page",
)  # fmt: skip
# The colour of edges: visible on light and on dark pages.
_EDGE = "#3f86d6"
# With more clusters than this, all lists of features start closed: the page would get long.
_MAX_OPEN = 12
# With more clusters than this, the heat map of features would be too narrow to read.
_MAX_HEATED = 40


def render_clusters(contents: ReportContents, *, random_state: int = 0) -> str:
    """The page about a clustering, as the text of one HTML file.

    It shows the clusters on an interactive map of the samples, the views and settings, the samples
    with the highest disagreement, the features that distinguish each cluster, the graphs, and the
    rounds of the fit. What a method does not have is left out. `random_state` is the seed of the
    map, and of the choice of samples on it where there are too many.
    """
    _check(contents)
    shown = choose_some(contents.labels, MAX_SHOWN, random_state)
    clusters = cluster_rows(contents)
    coordinates = _map_of_all(contents, random_state)
    alone = views_alone(contents, coordinates, random_state)
    maps = {"all views": coordinates} | {one.name: one.coordinates for one in alone}
    data = point_data(contents, shown) | {
        "maps": [map_data(name, places[shown]) for name, places in maps.items()],
        "colors": {mode: [row[mode] for row in clusters] for mode in ("light", "dark")},
        "categoryColors": dict(
            zip(("light", "dark"), zip(*cluster_colors(MAX_CATEGORIES), strict=True), strict=True)
        ),
    }
    script = Markup("\n").join(package_file(f"report/scripts/{name}.js") for name in _SCRIPTS)
    templates = environment()
    templates.filters |= {
        "count": "{:,}".format, "number": number, "effect_row": effect_row, "heat_cell": heat_cell,
    }  # fmt: skip
    return templates.get_template("report/clusters.html.j2").render(
        contents=contents, version=__version__,
        n_samples=len(contents.labels), n_shown=len(shown),
        clusters=clusters, scalings=SCALINGS, columns=column_heads(data["columns"]),
        full_bar=FULL_BAR, max_tsne=MAX_TSNE, max_view_tsne=MAX_VIEW_TSNE,
        max_heated=_MAX_HEATED,
        graphs=_graph_figures(contents),
        alone=alone_figures(alone, contents.labels, data["colors"]["light"]),
        learning=_learning_figures(contents),
        metadata=metadata_rows(contents),
        metadata_effects=_metadata_effects(contents),
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


def _map_of_all(contents: ReportContents, random_state: int) -> FloatArray:
    n_clusters = int(contents.labels.max()) + 1
    graphs = [view.graph for view in contents.views]
    embedding = graph_embedding(graphs, n_clusters, random_state)
    landmarks = choose_some(contents.labels, MAX_TSNE, random_state)
    return map_embedding(embedding, landmarks, random_state=random_state)


def _metadata_effects(contents: ReportContents) -> Any:
    """The strongest effects per cluster, and those of the heat map; None without metadata."""
    n_clusters = int(contents.labels.max()) + 1
    found = metadata_effects(contents.metadata, contents.labels, n_clusters)
    if found is None:
        return None
    return [found.strongest(c) for c in range(n_clusters)], found.most_telling()


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
