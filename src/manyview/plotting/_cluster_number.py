"""Figures of the evidence for a number of clusters."""

from typing import Any

import numpy as np

from manyview.plotting._alluvial import draw_columns
from manyview.plotting._figures import new_axes
from manyview.plotting._fitted import is_model, learned


def plot_cluster_number(suggestion: Any, ax: Any = None) -> Any:
    """Stability, modularity and score of every number of clusters; the suggested one is marked.

    `suggestion` is that of `suggest_n_clusters`, or a result or an estimator with
    ``n_clusters="auto"``.

    See Also
    --------
    plot_splits : How clusters split.
    manyview.suggest_n_clusters : Makes the suggestion.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import manyview
    >>> data = manyview.datasets.make_conflict_views(60, 3, random_state=0)
    >>> found = manyview.suggest_n_clusters(data.views, max_clusters=5)
    >>> ax = plot_cluster_number(found, Figure().add_subplot())
    >>> len(ax.lines)
    4
    """
    ax, suggestion = new_axes(ax), _evidence(suggestion)
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
    crossing bands mean that clusters were rearranged, not split. `suggestion` is as in
    `plot_cluster_number`.

    See Also
    --------
    plot_cluster_number : The figures of every number.
    plot_alluvial : Any clusterings side by side.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import manyview
    >>> data = manyview.datasets.make_conflict_views(60, 3, random_state=0)
    >>> found = manyview.suggest_n_clusters(data.views, max_clusters=5)
    >>> ax = plot_splits(found, Figure().add_subplot())
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['2', '3', '4', '5']
    """
    ax, suggestion = new_axes(ax), _evidence(suggestion)
    most = max(most, suggestion.n_clusters)
    shown = [
        (number, labels)
        for number, labels in zip(suggestion.candidates, suggestion.labels, strict=True)
        if number <= most
    ]
    columns = [labels for _, labels in shown]
    chosen = suggestion.n_clusters
    boxes = ["C0" if number == chosen else "0.4" for number, _ in shown]
    draw_columns(ax, columns, np.zeros(len(columns[0]), dtype=np.intp), ["0.6"], boxes)
    ax.set(xlabel="number of clusters")
    ax.set_xticks(range(len(shown)), [str(number) for number, _ in shown])
    return ax


def _evidence(suggestion: Any) -> Any:
    return learned(suggestion, "cluster_number_") if is_model(suggestion) else suggestion
