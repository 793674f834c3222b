"""The samples that the page's map shows, as compact data for its script."""

from __future__ import annotations

from typing import Any

import numpy as np

from manyview._typing import FloatArray, IntArray
from manyview.report._contents import ReportContents

#: More samples than this are neither mapped nor drawn: they would only cover each other.
MOST_SHOWN = 4000
# Samples that even the smallest cluster keeps, if it has them.
_KEPT = 5


def choose_shown(labels: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    """At most `most` samples at random, in their order; a few of every cluster in any case."""
    n = len(labels)
    if n <= most:
        return np.arange(n)
    drawn = rng.permutation(n)
    by_cluster = drawn[np.argsort(labels[drawn], kind="stable")]
    sizes = np.bincount(labels)
    place = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # within the cluster
    kept = by_cluster[place < min(_KEPT, max(1, most // len(sizes)))][:most]
    rest = drawn[~np.isin(drawn, kept)]
    return np.sort(np.concatenate([kept, rest[: most - len(kept)]]))


def point_data(contents: ReportContents, shown: IntArray, coordinates: FloatArray) -> Any:
    """Columns of the shown samples, in few digits; what is not known is None."""
    places = coordinates - coordinates.min(axis=0)
    places = places / max(float(places.max()), 1e-300)
    return {
        "id": [str(contents.ids[i]) for i in shown],
        "x": _rounded(places[:, 0], 4),
        "y": _rounded(places[:, 1], 4),
        "cluster": contents.labels[shown].tolist(),
        "confidence": _rounded(contents.confidence[shown], 3),
        "disagreement": [
            _rounded(view.disagreement[shown], 3)
            for view in contents.views
            if view.disagreement is not None
        ],
    }


def _rounded(values: FloatArray, digits: int) -> list[float | None]:
    rounded = np.round(np.asarray(values, dtype=np.float64), digits)
    return [value if np.isfinite(value) else None for value in rounded.tolist()]
