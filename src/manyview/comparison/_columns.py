"""The columns of a comparison, and the table as text."""

from collections.abc import Sequence
from typing import Any

SCORES = ("ACC", "NMI", "ARI")
# Columns of the table, in order; those of most figures only if some row has one.
_ALWAYS = ("title", "method")
_FIGURES = (
    "n_clusters", "smallest", "largest", "cut", "modularity", "agreement", "stability",
    "subsamples", *SCORES, "seconds", "error",
)  # fmt: skip

#: What the figures mean, by column.
MEANINGS = {
    "n_clusters": "Number of clusters.",
    "smallest": "Samples in the smallest cluster.",
    "largest": "Samples in the largest cluster.",
    "cut": "Of the weight of a cluster’s edges in the average of the views’ graphs, the share that "
    "leaves it; the mean over the clusters (the normalised cut, divided by their number). Lower is "
    "better among clusterings with the same number of clusters. Consensus and average come close "
    "to minimising it, so it speaks for them.",
    "modularity": "The share of edge weight that stays inside clusters, beyond chance, in the same "
    "graph. Higher is better, also between numbers of clusters; it speaks for the same methods.",
    "agreement": "Mean agreement (ARI) with the other clusterings: 1 is the same clusters, 0 is "
    "chance.",
    "stability": "How well clusters hold together if samples are weighted at random: 1 is always, "
    "0 is chance. Measured by the consensus method only.",
    "subsamples": "Agreement (ARI) with clusterings of random 80 % of the samples.",
    "ACC": "Share of samples in the right class under the best one-to-one matching of clusters.",
    "NMI": "Normalised mutual information with the classes.",
    "ARI": "Agreement with the classes on pairs of samples; 0 is chance.",
    "seconds": "Time of the fit.",
}  # fmt: skip


def columns_of(rows: Sequence[Any]) -> list[str]:
    """Names of the columns that some row has a value of."""
    known = {name for row in rows for name, value in row.as_dict().items() if value is not None}
    return [*_ALWAYS, *(name for name in _FIGURES if name in known)]


def shown_columns(rows: Sequence[Any]) -> list[str]:
    """The columns of the tables that people read: without the method, which the title tells, and
    the error, which takes a line."""
    return [name for name in columns_of(rows) if name not in ("method", "error")]


def shown_cells(rows: Sequence[Any]) -> list[list[str]]:
    """The cells of these columns as text; the figures of failed clusterings are empty."""
    names = shown_columns(rows)
    return [[_cell(name, row.as_dict().get(name)) for name in names] for row in rows]


def heading(name: str) -> str:
    return {"title": "clustering", "n_clusters": "clusters"}.get(name, name)


def text_table(rows: Sequence[Any]) -> str:
    """Lines with columns in line, and the reasons of failures below."""
    headings = [heading(name) for name in shown_columns(rows)]
    lines = [headings, *shown_cells(rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = []
    for first, *others in lines:
        cells = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        texts.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    texts += [f"{row.title} failed: {row.error}" for row in rows if row.error is not None]
    return "\n".join(texts)


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.1f}" if name == "seconds" else f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
