"""What each view would show alone: its map, and clusters of its own graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.plotting import choose_some, draw_columns, graph_embedding, map_embedding
from manyview.report._contents import ReportContents
from manyview.report._svg import figure_svg
from manyview.spectral import kmeans_of_some, some_samples

#: Samples of which views are shown alone, at most: beyond, the page would take minutes.
MAX_ALONE = 20_000
#: Samples that t-SNE places on the map of a view, at most.
MAX_VIEW_TSNE = 1000
_STARTS = 3
# With more clusters than this, their numbers are left out.
_MAX_LABELLED = 40


@dataclass(frozen=True)
class ViewAlone:
    """The map of a view, and the clusters of its `linked` samples: those that have neighbours."""

    name: str
    coordinates: FloatArray
    labels: IntArray
    linked: BoolArray


def views_alone(contents: ReportContents, start: FloatArray, seed: int) -> list[ViewAlone]:
    """Every view alone; none for a single view, or for too many samples.

    Clusters are as many as in the clustering: spectral clustering of the view's graph. Maps start
    from the map of all views, so that they can be compared.
    """
    if len(contents.views) < 2 or len(contents.labels) > MAX_ALONE:
        return []
    n_clusters = int(contents.labels.max()) + 1
    landmarks = choose_some(contents.labels, MAX_VIEW_TSNE, seed)
    return [_alone(view, n_clusters, landmarks, start, seed) for view in contents.views]


def _alone(
    view: Any, n_clusters: int, landmarks: IntArray, start: FloatArray, seed: int
) -> ViewAlone:
    embedding = graph_embedding([view.graph], n_clusters, seed)
    coordinates = map_embedding(embedding, landmarks, start=start, random_state=seed)
    linked = np.asarray(embedding.any(axis=1))
    rows = embedding[linked]
    labels = np.zeros(len(rows), dtype=np.intp)
    if len(rows) >= n_clusters:
        some = some_samples(len(rows), np.random.default_rng(seed))
        labels = kmeans_of_some(rows, None, some, n_clusters, seed, _STARTS)
    return ViewAlone(view.name, coordinates, labels, linked)


def alone_figures(
    alone: Sequence[ViewAlone], labels: IntArray, colors: Sequence[str]
) -> list[tuple[str, str]]:
    """Per view: how its own clusters go over into those of all views, with their ARI."""
    return [
        (f"{one.name}: ARI {adjusted_rand_score(one.labels, labels[one.linked]):.2f}", svg)
        for one in alone
        if one.linked.any()
        for svg in [_flow_svg(one, labels[one.linked], colors)]
    ]


def _flow_svg(one: ViewAlone, fused: IntArray, colors: Sequence[str]) -> str:
    """The colours of clusters become variables of the page, which depend on its scheme."""
    columns = [np.unique(one.labels, return_inverse=True)[1].reshape(-1), fused]

    def draw(ax: Any) -> None:
        boxes: Any = ["0.55", [*colors][: int(fused.max()) + 1]]
        draw_columns(ax, columns, fused, colors, boxes)
        ax.set_xticks([0, 1], ["alone", "all views"])
        ax.spines["bottom"].set_visible(False)
        ax.tick_params(length=0)
        if len(colors) <= _MAX_LABELLED:
            for number, box in enumerate(ax.containers[1]):
                x, y = box.get_x() + box.get_width(), box.get_y() + box.get_height() / 2
                place = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"}
                if box.get_height():
                    ax.annotate(str(number), (x, y), **place)

    names = {color: f"var(--cluster-{c})" for c, color in enumerate(colors)}
    return figure_svg(draw, 3.6, 3.6, names | {"#ffffff": "var(--card)"})
