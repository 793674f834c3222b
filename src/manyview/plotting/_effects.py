"""Features that distinguish a cluster from all other samples, by effect size."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import BoolArray, FloatArray, IntArray, Matrix
from manyview.inputs import powers_of_two

# Largest effect: a feature that is constant in both groups would have an infinite one.
_LIMIT = 1000.0
# Columns per block: their squares are never held for the whole table.
_COLUMNS = 256


@dataclass(frozen=True)
class FeatureEffect:
    """Difference between a feature's mean in a cluster and its mean in all other samples.

    `effect` is the difference in units of the pooled standard deviation (Cohen's d).

    See Also
    --------
    feature_effects : Finds the largest ones.
    plot_feature_effects : Draws them.

    Examples
    --------
    >>> FeatureEffect("height", 2.0, 9.5, 5.1).effect
    2.0
    """

    feature: str
    effect: float
    mean_inside: float
    mean_outside: float


@dataclass(frozen=True)
class AllEffects:
    """Effects and means of all features, arrays of shape (n_clusters, n_features)."""

    features: Sequence[str]
    effects: FloatArray
    inside: FloatArray
    outside: FloatArray

    def strongest(self, cluster: int, top: int = 8) -> list[FeatureEffect]:
        """The `top` features of a cluster with the largest effects, the largest first."""
        found = []
        for f in self._order(cluster, top):
            values = (float(part[cluster, f]) for part in (self.effects, self.inside, self.outside))
            found.append(FeatureEffect(str(self.features[f]), *values))
        return found

    def most_telling(self, most: int = 30) -> tuple[list[str], FloatArray]:
        """Names and effects, (n_features, n_clusters), of the strongest features of every cluster;
        at most 3 per cluster and about `most` in all, side by side if they tell the same cluster.
        """
        top = min(3, max(1, most // len(self.effects)))
        chosen = {f for c in range(len(self.effects)) for f in self._order(c, top)}
        strongest = {f: int(np.abs(self.effects[:, f]).argmax()) for f in chosen}
        order = sorted(chosen, key=lambda f: (strongest[f], -self.effects[strongest[f], f]))
        return [str(self.features[f]) for f in order], self.effects[:, order].T

    def _order(self, cluster: int, top: int) -> list[int]:
        order = np.argsort(-np.abs(self.effects[cluster]), kind="stable")[:top]
        return [int(f) for f in order if self.effects[cluster, f] != 0]


def feature_effects(
    matrix: Matrix,
    features: Sequence[str],
    labels: IntArray,
    n_clusters: int,
    present: BoolArray | None = None,
    top: int = 8,
) -> list[list[FeatureEffect]]:
    """The `top` features per cluster with the largest effects, the largest first; see
    `all_effects`.

    See Also
    --------
    plot_feature_effects : Draws those of one cluster.
    FeatureEffect : One of them.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[1.0, 5.0], [1.1, 2.0], [9.0, 4.0], [9.2, 3.0]])
    >>> found = feature_effects(table, ["height", "age"], np.array([0, 0, 1, 1]), 2)
    >>> found[1][0].feature
    'height'
    """
    found = all_effects(matrix, features, labels, n_clusters, present)
    return [found.strongest(c, top) for c in range(n_clusters)]


def all_effects(
    matrix: Matrix,
    features: Sequence[str],
    labels: IntArray,
    n_clusters: int,
    present: BoolArray | None = None,
) -> AllEffects:
    """The effects of all features in all clusters.

    `matrix` has the features before normalisation, `features` their names; `present` is True for
    the samples that the view has, None stands for all.
    """
    rows = np.arange(len(labels)) if present is None else np.flatnonzero(present)
    shape = (n_clusters, matrix.shape[0])
    members = csr_array((np.ones(len(rows)), (labels[rows], rows)), shape=shape)
    blocks = []
    for start in range(0, matrix.shape[1], _COLUMNS):
        block: Any = matrix[:, start : start + _COLUMNS]
        dense = block.toarray() if isinstance(block, csr_array) else np.asarray(block)
        blocks.append(_compare(dense, members))
    effects, inside, outside = (np.hstack(parts) for parts in zip(*blocks, strict=True))
    return AllEffects(features, effects, inside, outside)


def _compare(block: FloatArray, members: csr_array) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(n_clusters, n_columns) each: effects, means inside, means outside."""
    sizes = members.sum(axis=1)[:, None]
    rest = sizes.sum() - sizes
    present = members.sum(axis=0) > 0
    if not present.any():
        zeros = np.zeros((members.shape[0], block.shape[1]))
        return zeros, zeros, zeros
    # In units of about the largest value, squares neither overflow nor underflow.
    unit = powers_of_two(np.abs(block[present]).max(axis=0))
    values = block[present] / unit
    # Centred: squares of large numbers that differ little would lose their digits.
    centre = values.mean(axis=0)
    centred = values - centre
    sums, squares = members[:, present] @ centred, members[:, present] @ centred**2
    inside = sums / np.maximum(sizes, 1)
    outside = (sums.sum(axis=0) - sums) / np.maximum(rest, 1)
    within = squares.sum(axis=0) - sizes * inside**2 - rest * outside**2
    deviation = np.sqrt(np.maximum(within, 0.0) / np.maximum(sizes + rest - 2, 1))
    gap = inside - outside
    rounding = 1e-12 * np.maximum(np.abs(inside), np.abs(outside))
    effects = np.where(np.abs(gap) > rounding, gap / np.maximum(deviation, 1e-300), 0.0)
    effects = np.clip(effects, -_LIMIT, _LIMIT)
    effects[(sizes == 0).ravel() | (rest == 0).ravel()] = 0.0
    # Without rounding errors a mean lies between the values; beyond the largest float is infinity.
    low, high = values.min(axis=0), values.max(axis=0)
    means = (np.clip(mean + centre, low, high) for mean in (inside, outside))
    zero = 1e-14 * np.maximum(np.abs(low), np.abs(high))
    inside, outside = (np.where(np.abs(mean) > zero, mean, 0.0) * unit for mean in means)
    return effects, inside, outside
