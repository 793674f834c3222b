"""Alluvial figures: where the samples of each cluster are in other clusterings."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manyview._typing import FloatArray, IntArray
from manyview.plotting._figures import cluster_colors, new_axes, plain

# The width of boxes, columns being 1 apart, and the space between boxes as a share of all samples,
# or of the largest column if that has so many boxes that the spaces would take more than a third.
_BOX, _SPACE, _ALL_SPACES = 0.12, 0.03, 0.35
# Curves of bands from one column to the next.
_X = np.linspace(0, 1, 20)
_EASE = 3 * _X**2 - 2 * _X**3


def plot_alluvial(clusterings: Any, ax: Any = None) -> Any:
    """Where the samples of each cluster are in other clusterings of the same samples.

    `clusterings` is a `Comparison`, or labels by title. Columns are clusterings, in that order. A
    box is a cluster; its height is the number of its samples. A band is the samples that two
    clusters share, in the colour of their cluster in the first column. Clusterings agree where
    bands are broad and keep their order.

    See Also
    --------
    plot_agreement : The agreement in figures.
    plot_splits : Columns are numbers of clusters.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_alluvial({"one": [0, 0, 1, 1], "two": [0, 0, 0, 1]}, Figure().add_subplot())
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['one', 'two']
    """
    ax = new_axes(ax)
    named = clusterings if isinstance(clusterings, Mapping) else clusterings.labels
    columns = [_numbered(labels) for labels in named.values()]
    sizes = {len(labels) for labels in columns}
    if len(sizes) != 1:
        raise ValueError(
            f"clusterings have {sorted(sizes)} samples; expected at least one clustering, and the "
            "same samples in all"
        )
    colors = cluster_colors(int(columns[0].max()) + 1)
    draw_columns(ax, columns, columns[0], colors, ["0.45"] * len(columns))
    slanted = {"rotation": 30, "ha": "right"} if len(named) > 3 else {}
    ax.set_xticks(range(len(named)), [plain(title) for title in named], **slanted)
    return ax


def draw_columns(
    ax: Any,
    columns: Sequence[IntArray],
    groups: IntArray,
    colors: Sequence[Any] | FloatArray,
    box_colors: Sequence[str],
) -> None:
    """Columns of boxes, and bands between them; bands are split by groups of samples, and have
    their colours."""
    tops = _all_tops(columns)
    for column, (labels, top, color) in enumerate(zip(columns, tops, box_colors, strict=True)):
        ax.bar(np.full(len(top), column), np.bincount(labels), _BOX, bottom=top, color=color,
               edgecolor="white", linewidth=0.8, zorder=2)  # fmt: skip
    for column, pair in enumerate(pairwise(zip(columns, tops, strict=True))):
        _draw_bands(ax, column, *pair, groups, np.asarray(colors))
    ax.set(yticks=[])
    ax.invert_yaxis()
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)


def _all_tops(columns: Sequence[IntArray]) -> list[FloatArray]:
    """Per column: where the box of each cluster begins; clusters near where their samples were."""
    most = max(int(labels.max()) for labels in columns)
    space = min(_SPACE, _ALL_SPACES / max(most, 1)) * len(columns[0])
    heights: FloatArray = -np.bincount(columns[0]).astype(np.float64)
    tops: list[FloatArray] = []
    for column, labels in enumerate(columns):
        sizes = np.bincount(labels)
        if column:
            before = columns[column - 1]
            middle = tops[-1] + np.bincount(before) / 2
            heights = np.bincount(labels, middle[before]) / np.maximum(sizes, 1)
        order = np.argsort(heights, kind="stable")
        top = np.empty(len(sizes))
        top[order] = np.cumsum(sizes[order]) - sizes[order] + space * np.arange(len(sizes))
        tops.append(top - space * (len(sizes) - 1) / 2)  # columns are centred
    return tops


def _draw_bands(
    ax: Any,
    column: int,
    left: tuple[IntArray, FloatArray],
    right: tuple[IntArray, FloatArray],
    groups: IntArray,
    colors: Any,
) -> None:
    """Bands between two columns of boxes, each given by labels and tops."""
    from matplotlib.collections import PolyCollection

    (before, from_tops), (labels, to_tops) = left, right
    shape = (len(from_tops), len(to_tops), int(groups.max()) + 1)
    codes, counts = np.unique(
        np.ravel_multi_index((before, labels, groups), shape), return_counts=True
    )
    a, b, group = np.unravel_index(codes, shape)
    order = np.lexsort((group, to_tops[b], from_tops[a]))  # from top to bottom on both sides
    start, end = from_tops.copy(), to_tops.copy()
    x = column + _BOX / 2 + _X * (1 - _BOX)
    bands = []
    for i in order:
        low = start[a[i]] + _EASE * (end[b[i]] - start[a[i]])
        upper, lower = np.stack([x, low], axis=1), np.stack([x, low + counts[i]], axis=1)
        bands.append(np.concatenate([upper, lower[::-1]]))
        start[a[i]] += counts[i]
        end[b[i]] += counts[i]
    ax.add_collection(
        PolyCollection(bands, facecolors=colors[group[order]], alpha=0.45, linewidths=0)
    )


def _numbered(labels: ArrayLike) -> IntArray:
    return np.asarray(np.unique(np.asarray(labels), return_inverse=True)[1].reshape(-1))
