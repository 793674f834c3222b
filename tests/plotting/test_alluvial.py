"""Figures of comparisons."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest

from manyview import plotting

mpl.use("Agg")


@pytest.fixture
def ax():
    return mpl.figure.Figure().add_subplot()


def band_heights(ax):
    """Where every band starts and ends, and how high it is at both ends."""
    for bands in ax.collections:
        for path in bands.get_paths():
            y = path.vertices[:40, 1]
            yield y[39] - y[0], y[20] - y[19]


def test_boxes_and_bands_have_all_samples(rng, ax):
    labels = {f"method {i}": rng.integers(0, 4 + i, 200) for i in range(3)}
    plotting.plot_alluvial(labels, ax)
    assert [sum(bar.get_height() for bar in bars) for bars in ax.containers] == [200] * 3
    assert len(ax.collections) == 2
    heights = np.array(list(band_heights(ax)))
    np.testing.assert_allclose(heights[:, 0], heights[:, 1])
    assert heights.sum() == pytest.approx(2 * 2 * 200)


def test_the_same_clusters_give_one_band_each_without_crossings(rng, ax):
    """Numbers of clusters do not matter."""
    labels = rng.integers(0, 5, 100)
    plotting.plot_alluvial({"one": labels, "other": np.array([3, 0, 4, 1, 2])[labels]}, ax)
    paths = ax.collections[0].get_paths()
    assert len(paths) == 5
    for path in paths:
        assert np.ptp(path.vertices[:20, 1]) == pytest.approx(0)


def test_many_clusters_stay_in_view(rng, ax):
    plotting.plot_alluvial({"one": np.arange(300), "two": rng.integers(0, 2, 300)}, ax)
    tops = [bar.get_y() for bar in ax.containers[0]]
    assert np.ptp(tops) < 1.5 * 300


def test_different_samples_are_refused(ax):
    with pytest.raises(ValueError, match=r"clusterings have \[2, 3\] samples"):
        plotting.plot_alluvial({"one": [0, 1], "two": [0, 1, 1]}, ax)
    with pytest.raises(ValueError, match="expected at least one"):
        plotting.plot_alluvial({}, ax)


def test_agreement(ax):
    matrix = np.array([[1.0, 0.25], [0.25, 1.0]])
    comparison = SimpleNamespace(agreement=matrix, labels={"one": None, "two": None})
    assert plotting.plot_agreement(comparison, ax) is ax
    np.testing.assert_array_equal(ax.images[0].get_array(), matrix)
    assert [text.get_text() for text in ax.texts] == ["1.00", "0.25", "0.25", "1.00"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["one", "two"]
