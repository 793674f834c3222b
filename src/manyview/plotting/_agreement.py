"""The agreement of clusterings as an image."""

from typing import Any

import numpy as np

from manyview.plotting._figures import new_axes, plain


def plot_agreement(comparison: Any, ax: Any = None) -> Any:
    """The agreement (ARI) of every two clusterings of a `Comparison`: 1 is the same, 0 chance.

    See Also
    --------
    plot_alluvial : Which samples differ.
    manyview.compare : Makes the comparison.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import manyview
    >>> data = manyview.datasets.make_conflict_views(60, 3, random_state=0)
    >>> found = manyview.compare(data.views, 3, ["consensus", "average"])
    >>> ax = plot_agreement(found, Figure().add_subplot())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['consensus', 'average']
    """
    ax = new_axes(ax)
    agreement, titles = comparison.agreement, [plain(title) for title in comparison.labels]
    drawn = ax.imshow(agreement, cmap="Blues", vmin=0, vmax=1)
    for (row, column), value in np.ndenumerate(agreement):
        color = "white" if value > 0.6 else "black"
        ax.text(column, row, f"{value:.2f}", color=color, ha="center", va="center")
    places = range(len(titles))
    ax.set_xticks(places, titles, rotation=30, ha="right")
    ax.set_yticks(places, titles)
    ax.figure.colorbar(drawn, ax=ax, label="ARI")
    return ax
