"""The agreement of clusterings as an image."""

from typing import Any

import numpy as np

from manyview.plotting._figures import new_axes, plain


def plot_agreement(comparison: Any, ax: Any = None) -> Any:
    """The agreement (ARI) of every two clusterings of a `Comparison`: 1 is the same, 0 chance."""
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
