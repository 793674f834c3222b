"""Figures of fitted models."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array

from manyview._typing import FloatArray, IntArray
from manyview.plotting._effects import FeatureEffect
from manyview.plotting._fitted import by_name, effects_of, fitted, graph_of, is_model, learned
from manyview.plotting._map import map_samples

try:
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    from matplotlib import patheffects
except ImportError as error:
    raise ImportError("plots need matplotlib: pip install 'manyview[plot]'") from error

# With more clusters than this, their numbers and the lines between them are left out.
_MAX_LABELLED = 40
_MAX_NAME_LENGTH = 20


def plot_samples(
    model: Any,
    labels: ArrayLike | None = None,
    ax: Any = None,
    *,
    values: ArrayLike | None = None,
    value_name: str = "",
) -> Any:
    """Samples on a map, coloured by cluster (or class), or by one value per sample.

    `model` is a result, an estimator, or coordinates of shape (n_samples, 2) as `map_samples` gives
    them; `labels` are the clusters by default. With `values`, such as confidences, the figure has a
    colour bar named `value_name`, and samples whose value is NaN are grey. Clusters are named on
    the map in both cases.

    See Also
    --------
    map_samples : The coordinates alone.
    plot_cluster_sizes : How many samples each cluster has.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import manyview
    >>> data = manyview.datasets.make_conflict_views(60, 3, random_state=0)
    >>> result = manyview.cluster(data.views, 3, method="consensus")
    >>> ax = plot_samples(result, ax=Figure().add_subplot())
    >>> [text.get_text() for text in ax.texts]
    ['0', '1', '2']
    """
    ax = new_axes(ax)
    coordinates = map_samples(model) if is_model(model) else np.asarray(model)
    labels = learned(model, "labels_") if labels is None else labels
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    style: dict[str, Any] = {"s": 7, "linewidths": 0, "rasterized": True}
    if values is None:
        ax.scatter(*coordinates.T, c=cluster_colors(len(names))[codes], **style)
    else:
        cmap = mpl.colormaps["viridis_r"].with_extremes(bad="0.75")
        order = np.argsort(np.nan_to_num(values, nan=-np.inf), kind="stable")  # the highest on top
        shades = np.asarray(values, dtype=np.float64)[order]
        points = ax.scatter(*coordinates[order].T, c=shades, cmap=cmap, plotnonfinite=True, **style)
        ax.figure.colorbar(points, ax=ax, label=plain(value_name))
    halo = [patheffects.withStroke(linewidth=3, foreground="white")]
    centred = {"ha": "center", "va": "center"}
    for code, name in enumerate(names):
        middle = np.median(coordinates[codes == code], axis=0)
        ax.annotate(plain(name), middle, color="black", path_effects=halo, **centred)
    ax.set_axis_off()
    return ax


def plot_cluster_sizes(model: Any, ax: Any = None, *, confidence: ArrayLike | None = None) -> Any:
    """Number of samples per cluster, with their mean confidence if it is given.

    `model` is a result, an estimator, or labels.

    See Also
    --------
    plot_samples : The samples on a map.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_cluster_sizes([0, 0, 1, 2, 2, 2], Figure().add_subplot())
    >>> [text.get_text() for text in ax.texts]
    ['2', '1', '3']
    """
    ax = new_axes(ax)
    labels = np.asarray(fitted(model).labels_ if is_model(model) else model)
    names, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    bars = ax.barh(np.arange(len(names)), sizes, color=cluster_colors(len(names)))
    texts, note = [f"{size:,}" for size in sizes], ""
    if confidence is not None:
        means = np.bincount(codes, weights=np.asarray(confidence, dtype=np.float64)) / sizes
        texts = [f"{text} ({mean:.2f})" for text, mean in zip(texts, means, strict=True)]
        note = " (mean confidence)"
    if len(names) <= _MAX_LABELLED:
        _label_bars(ax, bars, names, texts, margin=0.3)
    ax.set(xlabel=f"samples{note}", ylabel="cluster")
    ax.invert_yaxis()
    return ax


def plot_convergence(models: Any, ax: Any = None, against: str = "round") -> Any:
    """Objective without penalties against rounds or seconds, one line per model.

    `models` is a result, an estimator, or several of them by name.

    Round 0 is left out: its view weights are not learned yet, so its objective is on another scale.

    See Also
    --------
    plot_weight_history : The view weights of every round.
    manyview.methods.Round : What is drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import manyview
    >>> data = manyview.datasets.make_conflict_views(60, 3, random_state=0)
    >>> result = manyview.cluster(data.views, 3, method="cigmvc")
    >>> ax = plot_convergence(result, Figure().add_subplot())
    >>> ax.get_xlabel()
    'round'
    """
    ax = new_axes(ax)
    for name, model in by_name(models).items():
        rounds = learned(model, "history_")[1:]
        values = [entry.objective_without_penalties for entry in rounds]
        ax.plot([getattr(entry, against) for entry in rounds], values, marker="o", label=name)
    ax.set(xlabel=against, ylabel=r"$\sum_v \alpha_v \|U - A_v\|_F^2$")
    if against == "round":
        ax.xaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
    ax.legend(frameon=False)
    return ax


def plot_view_weights(models: Any, ax: Any = None) -> Any:
    """View weights as shares of their sum, one bar per view and model.

    `models` is a result, an estimator, or several of them by name.

    See Also
    --------
    plot_weight_history : How they were learned.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import manyview
    >>> data = manyview.datasets.make_conflict_views(60, 3, random_state=0)
    >>> result = manyview.cluster(data.views, 3, method="consensus")
    >>> ax = plot_view_weights(result, Figure().add_subplot())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['view0', 'view1', 'view2']
    """
    ax = new_axes(ax)
    models = by_name(models)
    names = next(iter(models.values())).view_names_
    height = 0.8 / len(models)
    for row, (label, model) in enumerate(models.items()):
        share = model.vote_weights_
        ax.barh(np.arange(len(names)) + row * height, share, height=height, label=label)
    middle = np.arange(len(names)) + (len(models) - 1) * height / 2
    ax.set(yticks=middle, yticklabels=map(plain, names), xlabel="share of the view weights")
    ax.invert_yaxis()
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=len(models))
    return ax


def plot_weight_history(model: Any, view_names: Sequence[str] | None = None, ax: Any = None) -> Any:
    """View weights as shares of their sum, round by round; they start equal.

    `model` is a result or an estimator, or its `history_` with names of the views.

    See Also
    --------
    plot_view_weights : The weights at the end.
    plot_convergence : The objective of every round.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import manyview
    >>> data = manyview.datasets.make_conflict_views(60, 3, random_state=0)
    >>> result = manyview.cluster(data.views, 3, method="cigmvc")
    >>> ax = plot_weight_history(result, ax=Figure().add_subplot())
    >>> len(ax.lines)
    3
    """
    ax = new_axes(ax)
    history = model if isinstance(model, Sequence) else learned(model, "history_")
    view_names = learned(model, "view_names_") if view_names is None else view_names
    weights = np.array([entry.view_weights for entry in history])
    shares = weights / weights.sum(axis=1, keepdims=True)
    rounds = [entry.round for entry in history]
    lines = [
        ax.plot(rounds, share, marker="o", markersize=4, color=color)[0]
        for share, color in zip(shares.T, cluster_colors(len(view_names)), strict=True)
    ]
    ax.set(xlabel="round", ylabel="share of the view weights")
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
    if len(lines) > 1:
        # Named afterwards: matplotlib before 3.10 leaves out names with a leading underscore.
        legend = ax.legend(lines, ["?"] * len(lines), frameon=False)
        for text, name in zip(legend.get_texts(), view_names, strict=True):
            text.set_text(plain(name))
    return ax


def plot_graph(
    model: Any,
    labels: IntArray | None = None,
    ax: Any = None,
    n_bins: int = 300,
    *,
    view: str | None = None,
    cmap: Any = "Blues",
) -> Any:
    """The weights of a graph as an image, with samples ordered by cluster.

    `model` is a result or an estimator, of which the unified graph is shown, or that of the `view`
    with this name; or a graph with labels. A good clustering shows blocks on the diagonal. Both
    axes have at most `n_bins` bins of samples. Darkness is the cube root of a bin's total weight,
    so that small weights stay visible.

    See Also
    --------
    plot_disagreement : Where the views' graphs differ.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import manyview
    >>> data = manyview.datasets.make_conflict_views(60, 3, random_state=0)
    >>> result = manyview.cluster(data.views, 3, method="consensus")
    >>> ax = plot_graph(result, view="view0", ax=Figure().add_subplot())
    >>> len(ax.images)
    1
    """
    ax = new_axes(ax)
    graph = graph_of(model, view) if is_model(model) else model
    labels = np.asarray(learned(model, "labels_") if labels is None else labels)
    n = len(labels)
    bins, n_bins = _bins(np.argsort(labels, kind="stable"), n_bins)
    entries = coo_array(graph)
    row, col = (bins[index] for index in entries.coords)
    image = coo_array((entries.data, (row, col)), shape=(n_bins, n_bins)).toarray()
    ax.imshow(np.cbrt(image), cmap=cmap, extent=(0, n, n, 0), interpolation="nearest")
    ends = np.cumsum(np.bincount(labels))
    ticks = ends[: -1 if len(ends) <= _MAX_LABELLED else 0]
    ax.set(xticks=ticks, yticks=ticks, xticklabels=[], yticklabels=[])
    return ax


def plot_disagreement(model: Any, ax: Any = None, n_bins: int = 600) -> Any:
    """Disagreement as an image: one row per view, samples in columns.

    `model` is a result or an estimator of a method that splits graphs.
    Samples are ordered by cluster and, within it, by their highest disagreement, so a cluster that
    one view contradicts shows as a bright part of that view's row. With more samples than `n_bins`,
    a column is the mean of several. Grey: the view has no edges for the sample.

    See Also
    --------
    plot_graph : The graph of a view.
    plot_view_weights : How much each view counts.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import manyview
    >>> data = manyview.datasets.make_conflict_views(60, 3, random_state=0)
    >>> result = manyview.cluster(data.views, 3, method="consensus")
    >>> ax = plot_disagreement(result, Figure().add_subplot())
    >>> ax.get_xlabel()
    'cluster'
    """
    ax = new_axes(ax)
    values, labels = np.asarray(learned(model, "sample_disagreement_")), fitted(model).labels_
    n, n_views = values.shape
    known = np.isfinite(values)
    filled = np.where(known, values, 0.0)
    bins, n_bins = _bins(np.lexsort((filled.max(axis=1), labels)), n_bins)
    in_bin = coo_array((np.ones(n), (bins, np.arange(n))), shape=(n_bins, n))
    with np.errstate(invalid="ignore"):
        image = ((in_bin @ filled) / (in_bin @ known.astype(float))).T
    drawn = ax.imshow(
        np.ma.masked_invalid(image), cmap=mpl.colormaps["magma"].with_extremes(bad="0.6"),
        extent=(0, n, n_views - 0.5, -0.5), vmin=0, vmax=1, aspect="auto", interpolation="nearest",
    )  # fmt: skip
    sizes = np.bincount(labels)
    ends = np.cumsum(sizes)
    ax.set(
        yticks=np.arange(n_views),
        yticklabels=map(plain, fitted(model).view_names_),
        xlabel="cluster",
    )
    if len(sizes) <= _MAX_LABELLED:
        ax.vlines(ends[:-1], -0.5, n_views - 0.5, color="white", linewidth=0.8)
        wide = sizes >= 0.02 * n  # the numbers of narrower clusters would overlap
        ax.set(xticks=(ends - sizes / 2)[wide], xticklabels=np.flatnonzero(wide).tolist())
    else:
        ax.set(xticks=[], xlabel=f"{len(sizes)} clusters")
    ax.tick_params(length=0)
    ax.figure.colorbar(drawn, ax=ax, label="disagreement", pad=0.02)
    return ax


def plot_feature_effects(
    model: Any, ax: Any = None, *, cluster: int = 0, view: str | None = None, top: int = 8
) -> Any:
    """The effects of features in one cluster; positive where the feature is higher in it.

    `model` is a result or an estimator, of which the `top` strongest features of a view (by default
    the first) are shown; or a list of `FeatureEffect`.

    See Also
    --------
    feature_effects : The same as numbers.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> effects = [FeatureEffect("height", 2.0, 9.5, 5.1), FeatureEffect("age", -0.7, 3.0, 4.0)]
    >>> ax = plot_feature_effects(effects, Figure().add_subplot())
    >>> [text.get_text() for text in ax.texts]
    ['+2.00', '-0.70']
    """
    ax = new_axes(ax)
    effects: Sequence[FeatureEffect] = (
        effects_of(model, cluster, view, top) if is_model(model) else model
    )
    sizes = [effect.effect for effect in effects]
    # Filled or empty: colours are those of clusters.
    fills = ["0.2" if size > 0 else "white" for size in sizes]
    bars = ax.barh(np.arange(len(effects)), sizes, color=fills, edgecolor="0.2")
    names = [effect.feature for effect in effects]
    _label_bars(ax, bars, names, [f"{size:+.2f}" for size in sizes], margin=0.2)
    ax.axvline(0, color="0.5", linewidth=0.8)
    ax.set(xlabel="difference from the other samples, in standard deviations")
    ax.invert_yaxis()
    return ax


def new_axes(ax: Any) -> Any:
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def _label_bars(ax: Any, bars: Any, names: Any, texts: list[str], margin: float) -> None:
    """Name bars on the left, and write texts at their ends."""
    ax.bar_label(bars, texts, padding=4)
    ax.margins(x=margin)
    ax.set(yticks=np.arange(len(texts)), yticklabels=[plain(name) for name in names])


def _bins(order: IntArray, most: int) -> tuple[IntArray, int]:
    """The bin of each sample, and their number, where samples in `order` fill bins evenly."""
    n = len(order)
    n_bins = min(n, most)
    bins = np.empty(n, dtype=np.intp)
    bins[order] = np.arange(n) * n_bins // n
    return bins, n_bins


def cluster_colors(count: int) -> FloatArray:
    if count <= 10:
        return np.asarray(mpl.colormaps["tab10"](np.arange(count)))
    return np.asarray(mpl.colormaps["nipy_spectral"](np.linspace(0.05, 0.95, count)))


def plain(name: Any) -> str:
    """A name without formulas (`$`) and line breaks, cut to `_MAX_NAME_LENGTH` characters."""
    text = " ".join(str(name).split())
    if len(text) > _MAX_NAME_LENGTH:
        text = text[: _MAX_NAME_LENGTH - 1] + "…"
    return text.replace("$", r"\$")
