"""Labels from an embedding: k-means."""

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from manyview._typing import FloatArray, IntArray

#: Ten starts of k-means are compared on at most this many samples; the best continues with all.
TRIAL_SAMPLES = 50_000


def kmeans_labels(embedding: FloatArray, n_clusters: int, seed: int) -> IntArray:
    """Exactly `n_clusters` clusters of the rows, numbered by first samples."""
    # k-means sums its centres thread by thread: labels must not depend on the number of threads.
    with threadpool_limits(1):
        labels = _kmeans(embedding, n_clusters, seed)
    found = len(np.unique(labels))
    if found != n_clusters:
        raise ValueError(
            f"only {found} of n_clusters={n_clusters} clusters were found in the embedding; "
            "expected fewer clusters or samples that differ more"
        )
    return relabel_by_first_sample(labels)


def _kmeans(embedding: FloatArray, n_clusters: int, seed: int) -> IntArray:
    n = len(embedding)
    if n > TRIAL_SAMPLES:
        some = np.random.default_rng(seed).choice(n, TRIAL_SAMPLES, replace=False)
        trial = KMeans(n_clusters, n_init=10, random_state=seed).fit(embedding[some])
        model = KMeans(n_clusters, init=trial.cluster_centers_, n_init=1, random_state=seed)
    else:
        model = KMeans(n_clusters, n_init=10, random_state=seed)
    return np.asarray(model.fit_predict(embedding))


def relabel_by_first_sample(labels: IntArray) -> IntArray:
    """The same clusters, numbered in the order of their first samples."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
