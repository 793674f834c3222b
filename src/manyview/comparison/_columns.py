"""The columns of a comparison, and the table as text."""

from collections.abc import Sequence
from typing import Any

SCORES = ("ACC", "NMI", "ARI")
# In the order of the table; figures that no row has are left out.
_ALWAYS = ("title", "method")
_FIGURES = (
    "n_clusters", "smallest", "largest", "cut", "modularity", "agreement", "stability",
    "subsamples", *SCORES, "seconds", "error",
)  # fmt: skip

_HEADINGS = {"title": "clustering", "n_clusters": "clusters"}

#: What the figures mean, by heading; those that need no words are left out.
MEANINGS = {
    "sizes": "Samples in the smallest and in the largest cluster.",
    "cut": "Of the weight of the edges of a cluster in the average graph of all views, the share "
    "that leaves it; the mean over the clusters (the normalised cut, divided by their number). "
    "Compare it between clusterings with the same number of clusters. Lower is better, but it is "
    "also low where one cluster has most of the samples.",
    "modularity": "In the same graph, the share of edge weight that stays inside clusters, beyond "
    "chance. Higher is better, also between numbers of clusters. Cut and modularity speak for "
    "consensus and average, which cluster such a graph.",
    "agreement": "Mean agreement (ARI) with the other clusterings: 1 is the same clusters, 0 is "
    "chance. Similar methods may agree on the same mistake.",
    "stability": "How well clusters hold together if samples are weighted at random: 1 is always, "
    "0 is chance. Measured by consensus only.",
    "subsamples": "Agreement (ARI) with clusterings of random 80 % of the samples.",
    "ACC": "Share of samples in the right class under the best one-to-one matching of clusters and "
    "classes.",
    "NMI": "Normalised mutual information with the classes: 1 is the same, 0 is none.",
    "ARI": "Agreement with the classes on pairs of samples: 1 is the same, 0 is chance.",
    "seconds": "Time of the fit.",
}


def columns_of(rows: Sequence[Any]) -> list[str]:
    """Names of the columns that some row has a value of."""
    known = {name for row in rows for name, value in row.as_dict().items() if value is not None}
    return [*_ALWAYS, *(name for name in _FIGURES if name in known)]


def shown_columns(rows: Sequence[Any]) -> dict[str, list[str]]:
    """The columns that people read, with their cells as text: without the method, which the title
    tells, and the error, which takes a line."""
    figures = [row.as_dict() for row in rows]
    shown: dict[str, list[str]] = {}
    for name in columns_of(rows):
        if name == "largest":
            shown["sizes"] = [_range(one["smallest"], one["largest"]) for one in figures]
        elif name not in ("method", "smallest", "error"):
            shown[_HEADINGS.get(name, name)] = [_cell(name, one.get(name)) for one in figures]
    return shown


def text_table(rows: Sequence[Any]) -> str:
    """The same as lines of text."""
    columns = [[name, *cells] for name, cells in shown_columns(rows).items()]
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for first, *others in zip(*columns, strict=True):
        cells = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def _range(smallest: int | None, largest: int | None) -> str:
    return "" if smallest is None else f"{smallest:,} to {largest:,}"


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.1f}" if name == "seconds" else f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
