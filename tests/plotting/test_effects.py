"""Effect sizes of features."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview.plotting._effects import feature_effects


def plain_effect(column, inside):
    """Cohen's d by its definition."""
    a, b = column[inside], column[~inside]
    pooled = ((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) / (len(column) - 2)
    return (a.mean() - b.mean()) / np.sqrt(pooled)


@pytest.mark.parametrize("kind", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_effects_are_cohens_d(kind, rng):
    labels = np.r_[0, 0, 1, 1, 2, 2, rng.integers(0, 3, 54)]
    X = rng.standard_normal((60, 300)) + 1e6 * (np.arange(300) % 2)
    X[labels == 1, 7] += 5
    present = rng.random(60) < 0.8
    present[:6] = True
    names = [f"f{f}" for f in range(300)]
    found = feature_effects(kind(X), names, labels, 3, present, top=300)
    for c in range(3):
        assert len(found[c]) == 300
        strengths = [abs(entry.effect) for entry in found[c]]
        assert strengths == sorted(strengths, reverse=True)
        for entry in found[c]:
            column = X[present, int(entry.feature[1:])]
            inside = labels[present] == c
            assert entry.effect == pytest.approx(plain_effect(column, inside), rel=1e-6)
            assert entry.mean_inside == pytest.approx(column[inside].mean())
            assert entry.mean_outside == pytest.approx(column[~inside].mean())
    assert found[1][0].feature == "f7"


def test_features_without_effect_are_left_out():
    X = np.column_stack([np.full(6, 0.1), np.r_[0, 0, 0, 1, 1, 1], [1e300] * 5 + [-1e300]])
    found = feature_effects(X, ["flat", "perfect", "huge"], np.r_[0, 0, 0, 1, 1, 1], 2)
    assert [entry.feature for entry in found[0]] == ["perfect", "huge"]
    assert found[0][0].effect == -1000  # limited: the standard deviation is 0
    assert feature_effects(X, ["a", "b", "c"], np.zeros(6, dtype=int), 1) == [[]]
    absent = feature_effects(X, ["a", "b", "c"], np.r_[0, 0, 0, 1, 1, 1], 2, np.arange(6) < 3)
    assert absent == [[], []]
