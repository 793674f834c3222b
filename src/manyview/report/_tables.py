"""Rows of the tables and lists on the page."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from manyview._typing import FloatArray, IntArray
from manyview.plotting import FeatureEffect
from manyview.report._colors import cluster_colors
from manyview.report._contents import ReportContents
from manyview.report._metadata import cluster_association

#: Effect at which all bars end, so that a few extreme ones do not shrink the others.
FULL_BAR = 3
# Larger effects tell no more: all values inside a cluster differ from all others.
_HUGE = 10
UNKNOWN = "–"  # noqa: RUF001 (an en dash)

Row = dict[str, Any]


class Cell(NamedTuple):
    """A number as text and, for bars and sorting, as a number; None where it is unknown."""

    text: str
    value: float | None = None


def number(value: float | None, digits: int = 3) -> Cell:
    if value is None or not np.isfinite(value):
        return Cell(UNKNOWN)
    return Cell(f"{value:.{digits}f}", round(float(value), 4))


def cluster_rows(contents: ReportContents) -> list[Row]:
    """One row per cluster: size (its bar relative to the largest), confidence, stability, colours.

    The stability is missing from the rows of a method that does not measure it.
    """
    sizes = np.bincount(contents.labels)
    scores = {"confidence": contents.confidence}
    if contents.stability is not None:
        scores["stability"] = contents.stability
    means = {name: _cluster_means(values, contents.labels) for name, values in scores.items()}
    colors = cluster_colors(len(sizes))
    return [
        {
            "number": c,
            "size": Cell(f"{size:,}", round(size / int(sizes.max()), 4)),
            "light": light,
            "dark": dark,
        }
        | {name: number(values[c], 2) for name, values in means.items()}
        for c, (size, (light, dark)) in enumerate(zip(sizes.tolist(), colors, strict=True))
    ]


def _cluster_means(values: FloatArray, labels: IntArray) -> FloatArray:
    """Means of the known values; NaN for a cluster without any."""
    known = np.isfinite(values)
    count = int(labels.max()) + 1
    totals = np.bincount(labels[known], values[known], count)
    counts = np.bincount(labels[known], minlength=count)
    means = np.divide(totals, counts, out=np.full(count, np.nan), where=counts > 0)
    return np.asarray(means)


def column_heads(columns: Sequence[Row]) -> list[Row]:
    """Heads of the table of samples. It starts with the highest disagreements, or without any with
    the lowest confidences."""
    first = max((i for i, column in enumerate(columns) if column.get("heated")), default=None)
    order = {0: "ascending"} if first is None else {first: "descending"}
    return [
        {"index": i, "name": column["name"], "group": column["group"], "sorted": order.get(i)}
        for i, column in enumerate(columns)
    ]


def metadata_rows(contents: ReportContents) -> list[Row]:
    """One row per column of metadata: what it holds, and its association with the clusters."""
    rows = []
    for column in contents.metadata:
        kind = "numbers"
        if column.categories is not None:
            kind = f"{len(column.categories):,} categories"
        association = number(cluster_association(column, contents.labels), 2)
        known = f"{int(column.known.sum()):,}"
        rows.append({"name": column.name, "kind": kind, "known": known, "association": association})
    return rows


def heat_cell(effect: float) -> Cell:
    """An effect, and its share of `FULL_BAR`."""
    share = float(np.clip(np.nan_to_num(effect / FULL_BAR), -1, 1))
    text = f"{effect:+.2f}"
    if abs(effect) > _HUGE:
        text = f"> +{_HUGE}" if effect > 0 else f"< -{_HUGE}"
    return Cell(text.replace("-", "\N{MINUS SIGN}"), round(share, 2))


def effect_row(item: FeatureEffect) -> Row:
    """One feature of a cluster; its bar is relative to `FULL_BAR`."""
    return {
        "feature": item.feature,
        "effect": heat_cell(item.effect),
        "inside": f"{item.mean_inside:.3g}",
        "outside": f"{item.mean_outside:.3g}",
    }
