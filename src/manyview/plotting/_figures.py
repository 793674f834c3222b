"""Figures of a fitted model, each a function that draws on a matplotlib Axes and returns it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array

from manyview._typing import FloatArray, IntArray
from manyview.plotting._effects import FeatureEffect
from manyview.plotting._map import map_graphs, map_samples

try:
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    from matplotlib import patheffects
except ImportError as error:  # say which extra, then let the cause be seen
    raise ImportError("plots need matplotlib: pip install 'manyview[plot]'") from error

__all__ = [
    "map_graphs",
    "map_samples",
    "plot_cluster_number",
    "plot_cluster_sizes",
    "plot_convergence",
    "plot_disagreement",
    "plot_feature_effects",
    "plot_graph",
    "plot_samples",
    "plot_view_weights",
    "plot_weight_history",
]

# Bars up to this many have room for their numbers, and clusters for a line between them.
_NUMBERED_BARS = 40
# Names longer than this would leave no room for what they name.
_LONGEST_NAME = 20


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


def plot_samples(
    coordinates: FloatArray,
    labels: ArrayLike,
    ax: Any = None,
    *,
    values: ArrayLike | None = None,
    value_name: str = "",
) -> Any:
    """Samples on a map, coloured by cluster or class, or by a value of each.

    With `values` (a confidence, the disagreement of a view) there is a colour bar called
    `value_name`; samples whose value is NaN are grey. Clusters are named on the map either way.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from manyview import AngularCIGMVC, datasets
    >>> data = datasets.make_conflict_views(60, 3, random_state=0)
    >>> model = AngularCIGMVC(3, random_state=0).fit(data.views)
    >>> ax = plot_samples(
    ...     map_samples(model),
    ...     model.labels_,
    ...     Figure().add_subplot(),
    ...     values=model.sample_disagreement_[:, 0],
    ...     value_name="disagreement in view 0",
    ... )
    >>> len(ax.collections[0].get_array())
    60
    """
    ax = _axes(ax)
    named, codes = np.unique(np.asarray(labels), return_inverse=True)
    style: dict[str, Any] = {"s": 7, "linewidths": 0, "rasterized": True}
    if values is None:
        ax.scatter(*coordinates.T, c=_colors(len(named))[codes], **style)
    else:
        cmap = mpl.colormaps["viridis_r"].with_extremes(bad="0.75")
        order = np.argsort(np.nan_to_num(values, nan=-np.inf), kind="stable")  # the highest on top
        points = ax.scatter(
            *coordinates[order].T,
            c=np.asarray(values, dtype=np.float64)[order],
            cmap=cmap,
            plotnonfinite=True,
            **style,
        )
        ax.figure.colorbar(points, ax=ax, label=_plain(value_name))
    for code, value in enumerate(named):
        middle = np.median(coordinates[codes == code], axis=0)
        halo = [patheffects.withStroke(linewidth=3, foreground="white")]
        ax.annotate(
            _plain(value), middle, ha="center", va="center", color="black", path_effects=halo
        )
    ax.set_axis_off()
    return ax


def plot_cluster_sizes(
    labels: ArrayLike, ax: Any = None, *, confidence: ArrayLike | None = None
) -> Any:
    """How many samples each cluster has, and their mean confidence where it is given.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_cluster_sizes([0, 0, 1, 2, 2, 2], Figure().add_subplot())
    >>> [text.get_text() for text in ax.texts]
    ['2', '1', '3']
    """
    ax = _axes(ax)
    named, codes, sizes = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
    places = np.arange(len(named))
    bars = ax.barh(places, sizes, color=_colors(len(named)))
    if len(named) <= _NUMBERED_BARS:
        texts = [f"{size:,}" for size in sizes]
        if confidence is not None:
            sums = np.bincount(codes, weights=np.asarray(confidence, dtype=np.float64))
            means = sums / sizes
            texts = [f"{text} ({mean:.2f})" for text, mean in zip(texts, means, strict=True)]
        ax.bar_label(bars, texts, padding=4)
        ax.margins(x=0.3)  # room for them
        ax.set(yticks=places, yticklabels=[_plain(name) for name in named])
    note = "" if confidence is None else " (mean confidence)"
    ax.set(xlabel=f"samples{note}", ylabel="cluster")
    ax.invert_yaxis()
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
    ax.set(yticks=middle, yticklabels=map(_plain, names), xlabel="share of the view weights")
    ax.invert_yaxis()
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=len(models))
    return ax


def plot_weight_history(history: Sequence[Any], view_names: Sequence[str], ax: Any = None) -> Any:
    """Each view's share of the view weights, round by round, from the equal shares of the start.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from manyview import AngularCIGMVC, datasets
    >>> data = datasets.make_conflict_views(60, 3, random_state=0)
    >>> model = AngularCIGMVC(3, random_state=0).fit(data.views)
    >>> ax = plot_weight_history(model.history_, model.view_names_, Figure().add_subplot())
    >>> len(ax.lines)
    3
    """
    ax = _axes(ax)
    weights = np.array([entry.view_weights for entry in history])
    shares = weights / weights.sum(axis=1, keepdims=True)
    rounds = [entry.round for entry in history]
    lines = [
        ax.plot(rounds, share, marker="o", markersize=4, color=color)[0]
        for share, color in zip(shares.T, _colors(len(view_names)), strict=True)
    ]
    ax.set(xlabel="round", ylabel="share of the view weights")
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
    if len(lines) > 1:
        # Named afterwards: matplotlib before 3.10 leaves out names with a leading underscore.
        legend = ax.legend(lines, ["?"] * len(lines), frameon=False)
        for text, name in zip(legend.get_texts(), view_names, strict=True):
            text.set_text(_plain(name))
    return ax


def plot_graph(
    graph: Any, labels: IntArray, ax: Any = None, n_cells: int = 300, *, cmap: Any = "Blues"
) -> Any:
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
    ax.imshow(np.cbrt(image), cmap=cmap, extent=(0, n, n, 0), interpolation="nearest")
    ends = np.cumsum(np.bincount(labels))
    edges = ends[: -1 if len(ends) <= _NUMBERED_BARS else 0]
    ax.set(xticks=edges, yticks=edges, xticklabels=[], yticklabels=[])
    return ax


def plot_disagreement(model: Any, ax: Any = None, n_cells: int = 600) -> Any:
    """The disagreement of every sample with every view: a row a view, a column a sample.

    Samples are ordered by cluster and, within it, by their highest disagreement, so a cluster that
    one view sees differently shows as a bright stretch of that row. More samples than cells are
    binned together by their mean; grey is where a view says nothing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from manyview import AngularCIGMVC, datasets
    >>> data = datasets.make_conflict_views(60, 3, random_state=0)
    >>> model = AngularCIGMVC(3, random_state=0).fit(data.views)
    >>> ax = plot_disagreement(model, Figure().add_subplot())
    >>> ax.images[0].get_array().shape
    (3, 60)
    """
    ax = _axes(ax)
    values, labels = np.asarray(model.sample_disagreement_), np.asarray(model.labels_)
    n, n_views = values.shape
    known = np.isfinite(values)
    filled = np.where(known, values, 0.0)
    order = np.lexsort((filled.max(axis=1), labels))
    cells = min(n, n_cells)
    cell = np.empty(n, dtype=np.intp)
    cell[order] = np.arange(n) * cells // n
    image = np.full((n_views, cells), np.nan)
    for row, column, there in zip(image, filled.T, known.T, strict=True):
        counts = np.bincount(cell[there], minlength=cells)
        sums = np.bincount(cell, weights=column, minlength=cells)
        np.divide(sums, counts, out=row, where=counts > 0)
    drawn = ax.imshow(
        np.ma.masked_invalid(image),
        cmap=mpl.colormaps["magma"].with_extremes(bad="0.6"),
        extent=(0, n, n_views - 0.5, -0.5),
        vmin=0,
        vmax=1,
        aspect="auto",
        interpolation="nearest",
    )
    sizes = np.bincount(labels)
    ends = np.cumsum(sizes)
    ax.set(yticks=np.arange(n_views), yticklabels=map(_plain, model.view_names_), xlabel="cluster")
    if len(sizes) <= _NUMBERED_BARS:
        ax.vlines(ends[:-1], -0.5, n_views - 0.5, color="white", linewidth=0.8)
        wide = sizes >= 0.02 * n  # numbers of narrower ones would run into each other
        middles = ends - sizes / 2
        ax.set(xticks=middles[wide], xticklabels=np.flatnonzero(wide).tolist())
    else:
        ax.set(xticks=[], xlabel=f"{len(sizes)} clusters")
    ax.tick_params(length=0)
    ax.figure.colorbar(drawn, ax=ax, label="disagreement", pad=0.02)
    return ax


def plot_feature_effects(effects: Sequence[FeatureEffect], ax: Any = None) -> Any:
    """The features that set one cluster apart, to the right where they are higher in it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from manyview.report import FeatureEffect
    >>> effects = [FeatureEffect("height", 2.0, 9.5, 5.1), FeatureEffect("age", -0.7, 3.0, 4.0)]
    >>> ax = plot_feature_effects(effects, Figure().add_subplot())
    >>> [text.get_text() for text in ax.texts]
    ['+2.00', '-0.70']
    """
    ax = _axes(ax)
    sizes = [effect.effect for effect in effects]
    places = np.arange(len(effects))
    bars = ax.barh(places, sizes, color=["C0" if size > 0 else "C1" for size in sizes])
    ax.bar_label(bars, [f"{size:+.2f}" for size in sizes], padding=4)
    ax.axvline(0, color="0.5", linewidth=0.8)
    ax.set(yticks=places, yticklabels=[_plain(effect.feature) for effect in effects])
    ax.set(xlabel="difference to the other clusters, in standard deviations")
    ax.margins(x=0.2)  # room for the numbers
    ax.invert_yaxis()
    return ax


def _axes(ax: Any) -> Any:
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def _colors(count: int) -> FloatArray:
    if count <= 10:
        return np.asarray(mpl.colormaps["tab10"](np.arange(count)))
    return np.asarray(mpl.colormaps["nipy_spectral"](np.linspace(0.05, 0.95, count)))


def _plain(name: Any) -> str:
    """A name as it is: no formula where it has dollar signs, and not longer than has room."""
    text = " ".join(str(name).split())
    if len(text) > _LONGEST_NAME:
        text = text[: _LONGEST_NAME - 1] + "…"
    return text.replace("$", r"\$")
