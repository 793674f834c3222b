"""Labels from an embedding: k-means."""

import warnings
from functools import cache

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from manyview._typing import FloatArray, IntArray

#: Starts of k-means are compared on at most this many samples.
TRIAL_SAMPLES = 20_000
# Starts as in the paper, and for labels that depend less on chance.
_STARTS, _MANY_STARTS = 10, 30


def kmeans_labels(
    embedding: FloatArray, n_clusters: int, seed: int, *, by_distance: bool = False
) -> IntArray:
    """Exactly `n_clusters` clusters of the rows, numbered by first samples.

    `by_distance` makes the labels independent of the order of the rows and of the signs of the
    columns: k-means sees the rows in the order of their distances to the mean, runs until no label
    changes, and has three times as many starts.
    """
    with _thread_pools().limit(limits=1):
        if by_distance:
            order = np.argsort(((embedding - embedding.mean(axis=0)) ** 2).sum(axis=1))
            labels = np.empty(len(embedding), dtype=np.intp)
            labels[order] = _kmeans(embedding[order], n_clusters, seed, 0.0, _MANY_STARTS)
        else:
            labels = _kmeans(embedding, n_clusters, seed, 1e-4, _STARTS)
    return numbered_labels(labels, n_clusters)


@cache
def _thread_pools() -> ThreadpoolController:
    """What k-means runs on: it sums thread by thread, and labels must not depend on their number.

    Looking for these libraries takes as long as k-means of a hundred samples.
    """
    return ThreadpoolController()


def _kmeans(
    embedding: FloatArray, n_clusters: int, seed: int, tol: float, n_starts: int
) -> IntArray:
    n = len(embedding)
    if n > TRIAL_SAMPLES:
        some = np.random.default_rng(seed).choice(n, TRIAL_SAMPLES, replace=False)
        trial = KMeans(n_clusters, n_init=n_starts, random_state=seed).fit(embedding[some])
        model = KMeans(
            n_clusters, init=trial.cluster_centers_, n_init=1, tol=tol, random_state=seed
        )
    else:
        model = KMeans(n_clusters, n_init=n_starts, tol=tol, random_state=seed)
    return np.asarray(model.fit_predict(embedding))


def some_samples(n: int, rng: np.random.Generator) -> IntArray:
    """The samples that k-means sees: all, or enough of them."""
    return np.arange(n) if n <= TRIAL_SAMPLES else rng.choice(n, TRIAL_SAMPLES, replace=False)


def kmeans_of_some(
    embedding: FloatArray,
    weights: FloatArray | None,
    some: IntArray,
    n_clusters: int,
    seed: int,
    n_starts: int,
) -> IntArray:
    """Clusters of some rows; the others are assigned to them."""
    with warnings.catch_warnings(), _thread_pools().limit(limits=1):
        # Fewer clusters than wanted are a result here: such clusters do not hold.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(n_clusters, n_init=n_starts, random_state=seed)
        model.fit(embedding[some], sample_weight=None if weights is None else weights[some])
        return np.asarray(model.predict(embedding), dtype=np.intp)


def numbered_labels(labels: IntArray, n_clusters: int) -> IntArray:
    """The same clusters, numbered by first samples; refused if there are fewer than wanted."""
    found = len(np.unique(labels))
    if found != n_clusters:
        raise ValueError(
            f"only {found} of n_clusters={n_clusters} clusters were found; "
            "expected fewer clusters or samples that differ more"
        )
    return relabel_by_first_sample(labels)


def relabel_by_first_sample(labels: IntArray) -> IntArray:
    """The same clusters, numbered in the order of their first samples."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
