"""What the page's tables and lists say, as text and as shares of a bar's length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from manyview._typing import FloatArray
from manyview.report._colors import cluster_colors
from manyview.report._contents import FeatureEffect, ReportContents, ViewContents

#: Samples in the table of those that disagree most.
MOST_LISTED = 200
#: Effect at which a bar ends: one length for all views and clusters, that a few odd ones do not
#: shrink.
FULL_BAR = 3
UNKNOWN = "–"  # noqa: RUF001 (an en dash: what a table shows for nothing)


@dataclass(frozen=True)
class Cell:
    """A number as text, and the number itself for bars and sorting; None where there is none."""

    text: str
    value: float | None = None


@dataclass(frozen=True)
class ClusterRow:
    number: int
    size: Cell
    confidence: Cell
    light: str
    dark: str


@dataclass(frozen=True)
class SampleRow:
    """A sample's disagreement: one cell a view, and the highest of them."""

    id: str
    point: int | None
    cluster: int
    confidence: Cell
    views: Sequence[Cell]
    highest: Cell


@dataclass(frozen=True)
class EffectRow:
    feature: str
    effect: Cell
    inside: str
    outside: str


def number(value: float | None, digits: int = 3) -> Cell:
    if value is None or not np.isfinite(value):
        return Cell(UNKNOWN)
    return Cell(f"{value:.{digits}f}", round(float(value), 4))


def cluster_rows(contents: ReportContents) -> list[ClusterRow]:
    """One row a cluster, in the order of their numbers; bars are shares of the largest."""
    sizes = np.bincount(contents.labels)
    known = np.isfinite(contents.confidence)
    counts = np.bincount(contents.labels[known], minlength=len(sizes))
    sums = np.bincount(
        contents.labels[known], weights=contents.confidence[known], minlength=len(sizes)
    )
    return [
        ClusterRow(
            c,
            Cell(f"{size:,}", round(size / sizes.max(), 4)),
            number(sums[c] / counts[c] if counts[c] else None, 2),
            *colors,
        )
        for c, (size, colors) in enumerate(
            zip(sizes.tolist(), cluster_colors(len(sizes)), strict=True)
        )
    ]


def sample_disagreement(views: Sequence[ViewContents]) -> FloatArray | None:
    """(n_samples, views that say what disagrees), or None where no view does."""
    columns = [view.disagreement for view in views if view.disagreement is not None]
    return np.column_stack(columns) if columns else None


def most_disagreeing(
    contents: ReportContents, disagreement: FloatArray, point_of: Mapping[int, int]
) -> list[SampleRow]:
    """The samples with the highest disagreement in any view, the highest first.

    `point_of` has the place on the map of those samples that are on it.
    """
    highest = np.where(np.isfinite(disagreement), disagreement, -np.inf).max(axis=1)
    order = np.argsort(-highest, kind="stable")[:MOST_LISTED]
    return [
        SampleRow(
            str(contents.ids[i]),
            point_of.get(i),
            int(contents.labels[i]),
            number(contents.confidence[i]),
            [number(value) for value in disagreement[i]],
            number(highest[i]),
        )
        for i in order.tolist()
        if np.isfinite(highest[i])
    ]


def effect_rows(view: ViewContents) -> list[list[EffectRow]]:
    """For every cluster its features; bars are shares of `FULL_BAR`."""
    return [[_effect_row(item) for item in items] for items in view.effects]


def _effect_row(item: FeatureEffect) -> EffectRow:
    share = float(np.clip(np.nan_to_num(item.effect / FULL_BAR), -1, 1))
    return EffectRow(
        item.feature,
        Cell(f"{item.effect:+.2f}".replace("-", "\N{MINUS SIGN}"), round(share, 3)),
        f"{item.mean_inside:.3g}",
        f"{item.mean_outside:.3g}",
    )
