"""Figures of a fitted model, each a function that draws on a matplotlib Axes and returns it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array

from manyview._typing import FloatArray, IntArray

try:
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    from matplotlib import patheffects
except ImportError as error:  # say which extra, then let the cause be seen
    raise ImportError("plots need matplotlib: pip install 'manyview[plot]'") from error

__all__ = [
    "map_samples",
    "plot_cluster_number",
    "plot_convergence",
    "plot_graph",
    "plot_samples",
    "plot_view_weights",
]


def map_samples(model: Any, random_state: int = 0) -> FloatArray:
    """Two coordinates a sample, for looking at.

    A converged embedding has one point a cluster, so the map is drawn from what came before: t-SNE
    of the spectral embedding of the views' mean graph. Distances between far groups mean little.
    """
    from sklearn.manifold import TSNE, spectral_embedding

    n = len(model.labels_)
    mean = sum(model.view_graphs_) / len(model.view_graphs_)
    embedding = spectral_embedding(
        (mean + mean.T) / 2,
        n_components=min(model.n_clusters_, n - 2),
        random_state=random_state,
        drop_first=False,
    )
    embedding /= np.maximum(np.linalg.norm(embedding, axis=1, keepdims=True), 1e-300)
    perplexity = min(30.0, (n - 1) / 3)
    tsne = TSNE(init="pca", perplexity=perplexity, random_state=random_state)
    return np.asarray(tsne.fit_transform(embedding), dtype=np.float64)


def plot_cluster_number(suggestion: Any, ax: Any = None) -> Any:
    """The smallest eigenvalues of the fused graph, and the step after the suggested number."""
    ax = _axes(ax)
    numbers, values = np.array(suggestion.candidates), np.array(suggestion.eigenvalues)
    ax.plot(numbers, values, "o-", color="0.4", markersize=4)
    chosen = suggestion.n_clusters
    at = numbers.tolist().index(chosen)
    gap = suggestion.gaps[at]
    ax.bar(chosen + 0.5, gap, bottom=values[at], width=0.5, color="C0",
           label=f"{chosen} clusters: the step that stands out most")  # fmt: skip
    ax.set(xlabel="number of clusters", ylabel="eigenvalue of that number")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(frameon=False)
    return ax


def plot_samples(coordinates: FloatArray, labels: ArrayLike, ax: Any = None) -> Any:
    """Samples on a map, coloured by cluster or class."""
    ax = _axes(ax)
    values, codes = np.unique(np.asarray(labels), return_inverse=True)
    ax.scatter(*coordinates.T, c=_colors(len(values))[codes], s=7, linewidths=0, rasterized=True)
    for code, value in enumerate(values):
        middle = np.median(coordinates[codes == code], axis=0)
        halo = [patheffects.withStroke(linewidth=3, foreground="white")]
        ax.annotate(str(value), middle, ha="center", va="center", color="black", path_effects=halo)
    ax.set_axis_off()
    return ax


def plot_convergence(models: Mapping[str, Any], ax: Any = None, against: str = "round") -> Any:
    """Objective without penalties against rounds or seconds, a line for each named model.

    The start is left out: its view weights are not learned yet, so it is on another scale.
    """
    ax = _axes(ax)
    for name, model in models.items():
        rounds = model.history_[1:]
        values = [entry.objective_without_penalties for entry in rounds]
        ax.plot([getattr(entry, against) for entry in rounds], values, marker="o", label=name)
    ax.set(xlabel=against, ylabel=r"$\sum_v \alpha_v \|U - A_v\|_F^2$")
    if against == "round":
        ax.xaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
    ax.legend(frameon=False)
    return ax


def plot_view_weights(models: Mapping[str, Any], ax: Any = None) -> Any:
    """Each view's share of the view weights, a bar for each named model."""
    ax = _axes(ax)
    names = next(iter(models.values())).view_names_
    height = 0.8 / len(models)
    for row, (label, model) in enumerate(models.items()):
        share = model.view_weights_ / model.view_weights_.sum()
        ax.barh(np.arange(len(names)) + row * height, share, height=height, label=label)
    middle = np.arange(len(names)) + (len(models) - 1) * height / 2
    ax.set(yticks=middle, yticklabels=names, xlabel="share of the view weights")
    ax.invert_yaxis()
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=len(models))
    return ax


def plot_graph(graph: Any, labels: IntArray, ax: Any = None, n_cells: int = 300) -> Any:
    """A graph's weights as an image, samples ordered by cluster.

    A good clustering shows blocks on the diagonal. More samples than cells are binned together, and
    darkness is the cube root of a cell's mean weight, so that faint links stay visible.
    """
    ax = _axes(ax)
    n = len(labels)
    rank = np.empty(n, dtype=np.intp)
    rank[np.argsort(labels, kind="stable")] = np.arange(n)
    cells = min(n, n_cells)
    entries = coo_array(graph)
    row, col = (rank[index] * cells // n for index in entries.coords)
    image = coo_array((entries.data, (row, col)), shape=(cells, cells)).toarray()
    ax.imshow(np.cbrt(image), cmap="Blues", extent=(0, n, n, 0), interpolation="nearest")
    edges = np.cumsum(np.bincount(labels))[:-1]
    ax.set(xticks=edges, yticks=edges, xticklabels=[], yticklabels=[])
    return ax


def _axes(ax: Any) -> Any:
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def _colors(count: int) -> FloatArray:
    if count <= 10:
        return np.asarray(mpl.colormaps["tab10"](np.arange(count)))
    return np.asarray(mpl.colormaps["nipy_spectral"](np.linspace(0.05, 0.95, count)))
