"""The samples on the map."""

import numpy as np
import pytest

from manyview.report._points import choose_shown


def test_every_cluster_is_shown(rng):
    labels = np.repeat([0, 1, 2, 3], [90_000, 9_000, 10, 2])
    shown = choose_shown(labels, 1000, rng)
    assert len(shown) == len(np.unique(shown)) == 1000
    assert (np.diff(shown) > 0).all()
    counts = np.bincount(labels[shown], minlength=4)
    assert counts[2] >= 5
    assert counts[3] == 2
    assert counts[0] / 1000 == pytest.approx(0.9, abs=0.05)  # otherwise in proportion
    np.testing.assert_array_equal(choose_shown(labels, 100_000, rng), np.arange(len(labels)))
    many = np.arange(500) % 300
    assert len(choose_shown(many, 200, rng)) == 200
