"""The samples on the map of the page, as compact data for its script."""

from typing import Any

import numpy as np

from manyview._typing import FloatArray, IntArray
from manyview.report._contents import ReportContents

# Samples that every cluster keeps, if it has as many.
_MIN_PER_CLUSTER = 5


def choose_shown(labels: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    """At most `most` random samples, in ascending order, with a few of every cluster."""
    n = len(labels)
    if n <= most:
        return np.arange(n)
    drawn = rng.permutation(n)
    by_cluster = drawn[np.argsort(labels[drawn], kind="stable")]
    sizes = np.bincount(labels)
    rank = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # within the cluster
    kept = by_cluster[rank < min(_MIN_PER_CLUSTER, max(1, most // len(sizes)))][:most]
    rest = drawn[~np.isin(drawn, kept)]
    return np.sort(np.concatenate([kept, rest[: most - len(kept)]]))


def point_data(contents: ReportContents, shown: IntArray, coordinates: FloatArray) -> Any:
    """Columns of the shown samples, rounded; unknown values are None."""
    positions = coordinates - coordinates.min(axis=0)
    positions = positions / max(float(positions.max()), 1e-300)
    disagreement = contents.disagreement
    columns = () if disagreement is None else disagreement[shown].T
    return {
        "id": [str(contents.ids[i]) for i in shown],
        "x": _rounded(positions[:, 0], 4),
        "y": _rounded(positions[:, 1], 4),
        "cluster": contents.labels[shown].tolist(),
        "confidence": _rounded(contents.confidence[shown], 3),
        "stability": None if contents.stability is None else _rounded(contents.stability[shown], 3),
        "disagreement": [_rounded(column, 3) for column in columns],
    }


def _rounded(values: FloatArray, digits: int) -> list[float | None]:
    rounded = np.round(np.asarray(values, dtype=np.float64), digits)
    return [value if np.isfinite(value) else None for value in rounded.tolist()]
