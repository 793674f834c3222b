"""The samples on the map."""

import numpy as np
import pytest

from manyview.plotting import choose_some


def test_every_cluster_is_shown():
    labels = np.repeat([0, 1, 2, 3], [90_000, 9_000, 10, 2])
    shown = choose_some(labels, 1000)
    assert len(shown) == len(np.unique(shown)) == 1000
    assert (np.diff(shown) > 0).all()
    counts = np.bincount(labels[shown], minlength=4)
    assert counts[2] >= 5
    assert counts[3] == 2
    assert counts[0] / 1000 == pytest.approx(0.9, abs=0.05)  # otherwise in proportion
    np.testing.assert_array_equal(choose_some(labels, 100_000), np.arange(len(labels)))
    many = np.arange(500) % 300
    assert len(choose_some(many, 200)) == 200
