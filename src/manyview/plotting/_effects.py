"""Which features set a cluster apart: effect sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import BoolArray, FloatArray, IntArray, Matrix
from manyview.inputs import powers_of_two

#: Features kept for each cluster.
TOP = 8
# A feature that is constant within and differs between would be infinitely far apart.
_LARGEST = 1000.0
# Columns looked at together, so that no second table of all squares is ever held.
_COLUMNS = 256


@dataclass(frozen=True)
class FeatureEffect:
    """How far a feature's mean in a cluster is from its mean in all others.

    `effect` is the difference in units of the pooled standard deviation (Cohen's d).
    """

    feature: str
    effect: float
    mean_inside: float
    mean_outside: float


def feature_effects(
    matrix: Matrix,
    features: Sequence[str],
    labels: IntArray,
    n_clusters: int,
    present: BoolArray | None = None,
    top: int = TOP,
) -> list[list[FeatureEffect]]:
    """The features that set each cluster apart from all other samples, the strongest first.

    Parameters
    ----------
    matrix : array or csr_array of shape (n_samples, n_features)
        Features as they came, not normalised.
    features : their names
    labels : array of shape (n_samples,)
    present : which samples the view has; None for all
    """
    own = np.arange(len(labels)) if present is None else np.flatnonzero(present)
    groups = csr_array((np.ones(len(own)), (labels[own], own)), shape=(n_clusters, matrix.shape[0]))
    inside, outside, effects = _compare(matrix, groups)
    found = []
    for c in range(n_clusters):
        strongest = np.argsort(-np.abs(effects[c]), kind="stable")[:top]
        found.append(
            [
                FeatureEffect(
                    str(features[f]),
                    float(effects[c, f]),
                    float(inside[c, f]),
                    float(outside[c, f]),
                )
                for f in strongest.tolist()
                if effects[c, f] != 0
            ]
        )
    return found


def _compare(matrix: Matrix, groups: csr_array) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(C, n_features) each: means inside, means outside, effects."""
    parts = [
        _compare_columns(_columns(matrix, start), groups)
        for start in range(0, matrix.shape[1], _COLUMNS)
    ]
    inside, outside, effects = (np.hstack(part) for part in zip(*parts, strict=True))
    return inside, outside, effects


def _columns(matrix: Matrix, start: int) -> FloatArray:
    some: Any = matrix[:, start : start + _COLUMNS]
    return np.asarray(some.toarray() if isinstance(some, csr_array) else some)


def _compare_columns(
    block: FloatArray, groups: csr_array
) -> tuple[FloatArray, FloatArray, FloatArray]:
    sizes = groups.sum(axis=1)[:, None]
    rest = sizes.sum() - sizes
    counted = groups.sum(axis=0) > 0
    if not counted.any():
        nothing = np.zeros((groups.shape[0], block.shape[1]))
        return nothing, nothing, nothing
    # An effect has no unit. In one near the largest number, squares neither overflow nor vanish.
    unit = powers_of_two(np.abs(block[counted]).max(axis=0))
    own = block[counted] / unit
    # Of columns of large numbers that differ little, squares would keep no digits.
    centre = own.mean(axis=0)
    moved = own - centre
    sums, squares = groups[:, counted] @ moved, groups[:, counted] @ moved**2
    inside = sums / np.maximum(sizes, 1)
    outside = (sums.sum(axis=0) - sums) / np.maximum(rest, 1)
    within = squares.sum(axis=0) - sizes * inside**2 - rest * outside**2
    spread = np.sqrt(np.maximum(within, 0.0) / np.maximum(sizes + rest - 2, 1))
    gap = inside - outside
    noise = 1e-12 * np.maximum(np.abs(inside), np.abs(outside))
    effects = np.where(np.abs(gap) > noise, gap / np.maximum(spread, 1e-300), 0.0)
    effects = np.clip(effects, -_LARGEST, _LARGEST)
    effects[(sizes == 0).ravel() | (rest == 0).ravel()] = 0.0
    # Rounding must not carry a mean beyond the numbers, the largest of which may be the last.
    low, high = own.min(axis=0), own.max(axis=0)
    inside, outside = (np.clip(mean + centre, low, high) * unit for mean in (inside, outside))
    return inside, outside, effects
