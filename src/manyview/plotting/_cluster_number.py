"""Figures of the evidence for a number of clusters."""

from typing import Any

import numpy as np

from manyview._typing import FloatArray, IntArray
from manyview.plotting._figures import new_axes

# In a tree of splits: the width of boxes, columns being 1 apart, and the space between boxes as a
# share of all samples.
_BOX, _SPACE = 0.12, 0.03


def plot_cluster_number(suggestion: Any, ax: Any = None) -> Any:
    """Stability, modularity and score of every number of clusters; the suggested one is marked."""
    ax = new_axes(ax)
    numbers = suggestion.candidates
    ax.plot(numbers, suggestion.stability, "o-", color="C0", markersize=4, label="stability")
    ax.plot(numbers, suggestion.modularity, "o-", color="0.6", markersize=3, label="modularity")
    ax.plot(numbers, suggestion.scores, "o-", color="C1", markersize=4, label="score")
    chosen = suggestion.n_clusters
    ax.axvline(chosen, color="0.75", zorder=0, label=f"suggested: {chosen}")
    ax.set(xlabel="number of clusters", ylim=(0, None))
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(frameon=False)
    return ax


def plot_splits(suggestion: Any, ax: Any = None, *, most: int = 12) -> Any:
    """How clusters split as their number grows: a tree from left to right.

    Columns are numbers of clusters, up to `most`, or to the suggested number if that is larger. A
    box is a cluster; its height is the number of its samples. A band is the samples that two
    clusters in adjacent columns share. A stable cluster stays one box from column to column. Many
    crossing bands mean that clusters were rearranged, not split.
    """
    ax = new_axes(ax)
    most = max(most, suggestion.n_clusters)
    shown = [
        (number, labels)
        for number, labels in zip(suggestion.candidates, suggestion.labels, strict=True)
        if number <= most
    ]
    before, tops = None, np.zeros(0)
    for column, (number, labels) in enumerate(shown):
        sizes = np.bincount(labels)
        height = -sizes if before is None else _mean_height(before, labels, tops)
        last, tops = tops, _tops(sizes, np.argsort(height, kind="stable"))
        if before is not None:
            _draw_bands(ax, column, (before, last), (labels, tops))
        color = "C0" if number == suggestion.n_clusters else "0.4"
        ax.bar(np.full(len(sizes), column), sizes, _BOX, bottom=tops, color=color,
               edgecolor="white", linewidth=0.8, zorder=2)  # fmt: skip
        before = labels
    ax.set(xlabel="number of clusters", yticks=[])
    ax.set_xticks(range(len(shown)), [str(number) for number, _ in shown])
    ax.invert_yaxis()
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    return ax


def _tops(sizes: IntArray, order: IntArray) -> FloatArray:
    """Where the box of each cluster begins, boxes in the given order."""
    space = _SPACE * sizes.sum()
    tops = np.empty(len(sizes))
    tops[order] = np.cumsum(sizes[order]) - sizes[order] + space * np.arange(len(sizes))
    return np.asarray(tops - space * (len(sizes) - 1) / 2)  # columns are centred


def _mean_height(before: IntArray, labels: IntArray, tops: FloatArray) -> FloatArray:
    """Per cluster: where its samples were, on average."""
    middle = tops + np.bincount(before) / 2
    return np.asarray(np.bincount(labels, middle[before]) / np.maximum(np.bincount(labels), 1))


def _draw_bands(
    ax: Any, column: int, left: tuple[IntArray, FloatArray], right: tuple[IntArray, FloatArray]
) -> None:
    """Bands between two columns of boxes, each given by labels and tops."""
    (before, from_tops), (labels, to_tops) = left, right
    shared = np.zeros((len(from_tops), len(to_tops)))
    np.add.at(shared, (before, labels), 1)
    start, end = from_tops.copy(), to_tops.copy()
    x = np.linspace(0, 1, 20)
    ease = 3 * x**2 - 2 * x**3
    position = column - 1 + _BOX / 2 + x * (1 - _BOX)
    for a in np.argsort(from_tops):
        for b in np.argsort(to_tops):
            if shared[a, b]:
                low = start[a] + ease * (end[b] - start[a])
                ax.fill_between(
                    position, low, low + shared[a, b], color="0.6", alpha=0.4, linewidth=0
                )
                start[a] += shared[a, b]
                end[b] += shared[a, b]
