"""k-means on an embedding."""

import numpy as np
import pytest

from manyview.spectral import _labels, kmeans_labels, relabel_by_first_sample


def test_clusters_are_numbered_by_first_samples():
    assert relabel_by_first_sample(np.array([2, 2, 0, 1, 0])).tolist() == [0, 0, 1, 2, 1]


def test_clusters_are_found_from_trial_samples(rng, monkeypatch):
    expected = np.repeat(np.arange(3), 100)
    embedding = np.eye(3)[expected] + 0.01 * rng.standard_normal((300, 3))
    np.testing.assert_array_equal(kmeans_labels(embedding, 3, 0), expected)
    monkeypatch.setattr(_labels, "TRIAL_SAMPLES", 50)
    np.testing.assert_array_equal(kmeans_labels(embedding, 3, 0), expected)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fewer_distinct_rows_than_clusters():
    with pytest.raises(ValueError, match="only 2 of n_clusters=3 clusters were found"):
        kmeans_labels(np.repeat(np.eye(2), 5, axis=0), 3, 0)
