"""k-means on an embedding."""

import numba
import numpy as np
import pytest

from manyview.metrics import adjusted_rand
from manyview.spectral import _labels, kmeans_labels, relabel_by_first_sample


def test_clusters_are_numbered_by_first_samples():
    assert relabel_by_first_sample(np.array([2, 2, 0, 1, 0])).tolist() == [0, 0, 1, 2, 1]


def test_clusters_are_found_from_trial_samples(rng, monkeypatch):
    expected = np.repeat(np.arange(3), 100)
    embedding = np.eye(3)[expected] + 0.01 * rng.standard_normal((300, 3))
    np.testing.assert_array_equal(kmeans_labels(embedding, 3, 0), expected)
    monkeypatch.setattr(_labels, "TRIAL_SAMPLES", 50)
    np.testing.assert_array_equal(kmeans_labels(embedding, 3, 0), expected)


def test_many_rows_in_threads(rng, monkeypatch):
    """From many rows on starts run in threads, whose number does not matter."""
    expected = rng.integers(0, 12, 600)
    embedding = 4 * np.eye(12)[expected] + rng.standard_normal((600, 12))
    few = kmeans_labels(embedding, 12, 0)
    monkeypatch.setattr(_labels, "_MANY_ROWS", 500)
    before, found = numba.get_num_threads(), []
    for n_threads in (1, before):
        numba.set_num_threads(n_threads)
        found.append(kmeans_labels(embedding, 12, 0, by_distance=True))
    numba.set_num_threads(before)
    np.testing.assert_array_equal(found[0], found[1])
    assert adjusted_rand(found[0], few) > 0.95
    weights = np.where(expected < 6, 1.0, 1e-3)
    heavy = _labels._best_start(embedding, weights, 6, 0, 10).predict(embedding[expected < 6])
    assert adjusted_rand(heavy, expected[expected < 6]) > 0.9


def test_pivots_are_of_different_clusters(rng):
    """Pivots of QR have one row of each of many clusters, of which k-means++ misses some."""
    expected = rng.integers(0, 60, 3000)
    rows = np.eye(60)[expected] + 0.02 * rng.standard_normal((3000, 60))
    centres = _labels._chosen_by_pivots(rows, None, 60, rng)
    assert sorted(centres.argmax(axis=1).tolist()) == list(range(60))
    by_distance = [_labels._chosen_by_distance(rows, None, 60, rng) for _ in range(5)]
    assert min(len(set(found.argmax(axis=1))) for found in by_distance) < 60


def test_all_starts_where_there_are_fewer_columns_than_clusters(rng, monkeypatch):
    """Pivots can't be had then."""
    used = []
    by_distance = _labels._chosen_by_distance
    monkeypatch.setattr(
        _labels, "_chosen_by_distance", lambda *given: used.append(1) or by_distance(*given)
    )
    monkeypatch.setattr(_labels, "_MANY_ROWS", 500)
    for width, expected in ((3, 12), (5, 2)):
        _labels._best_start(rng.standard_normal((600, width)), None, 5, 0, 12)
        assert len(used) == expected
        used.clear()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fewer_distinct_rows_than_clusters():
    with pytest.raises(ValueError, match="only 2 of n_clusters=3 clusters were found"):
        kmeans_labels(np.repeat(np.eye(2), 5, axis=0), 3, 0)
