"""Labels from an embedding: k-means."""

import warnings
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from manyview._typing import FloatArray, IntArray
from manyview.runtime import RowShare

#: Starts of k-means are compared on at most this many samples.
TRIAL_SAMPLES = 10_000
# Starts as in the paper, and for labels that depend less on chance.
_STARTS, _MANY_STARTS = 10, 30
_MAX_ITERATIONS = 300
# Rows whose distances to all centres are computed at a time.
_AT_A_TIME = 1024


def kmeans_labels(
    embedding: FloatArray,
    n_clusters: int,
    seed: int,
    *,
    by_distance: bool = False,
    share: RowShare | None = None,
) -> IntArray:
    """Exactly `n_clusters` clusters of the rows, numbered by first samples.

    `by_distance` makes the labels independent of the order of the rows and of the signs of the
    columns: k-means sees the rows in the order of their distances to the mean and runs until no
    label changes; if it sees all of them, it has three times as many starts. `share` tells which
    rows of all are given; by default all.
    """
    share = share or RowShare(len(embedding))
    some = some_samples(share.n_samples, np.random.default_rng(seed))
    is_trial = len(some) < share.n_samples
    tol = 0.0 if by_distance else 1e-4
    n_starts = _MANY_STARTS if by_distance and not is_trial else _STARTS
    centres, labels = share.combine(
        partial(_fit_all, n_clusters, seed, 1e-4 if is_trial else tol, n_starts, by_distance),
        share.collect(some, embedding),
    )
    labels = labels[share.start : share.stop]
    if is_trial:
        labels = _lloyd(embedding, centres, tol, share)
    return numbered_labels(labels, n_clusters, share)


def _fit_all(
    n_clusters: int,
    seed: int,
    tol: float,
    n_starts: int,
    by_distance: bool,
    parts: Sequence[FloatArray],
) -> tuple[FloatArray, IntArray]:
    """Centres, and the cluster of every row."""
    rows = np.concatenate(parts)
    order = np.arange(len(rows))
    if by_distance:
        order = np.argsort(((rows - rows.mean(axis=0)) ** 2).sum(axis=1))
    with _thread_pools().limit(limits=1):
        model = KMeans(n_clusters, n_init=n_starts, tol=tol, random_state=seed)
        labels = np.empty(len(rows), dtype=np.intp)
        labels[order] = model.fit_predict(rows[order])
    return model.cluster_centers_, labels


@cache
def _thread_pools() -> ThreadpoolController:
    """What k-means runs on: it sums thread by thread, and labels must not depend on their number.

    Looking for these libraries takes as long as k-means of a hundred samples.
    """
    return ThreadpoolController()


def _lloyd(embedding: FloatArray, centres: FloatArray, tol: float, share: RowShare) -> IntArray:
    """Labels by Lloyd's iterations from some centres, as `KMeans` stops them: where no label
    changes, or where centres move by less than this share of the mean variance."""
    n = share.n_samples
    mean = share.sum(embedding) / n
    squares = share.total(lambda rows: ((rows - mean) ** 2).sum(axis=0), embedding)
    variance = squares.mean() / n
    labels = np.full(len(embedding), -1)
    for _ in range(_MAX_ITERATIONS):
        before, labels = labels, nearest_centres(embedding, centres)
        sums = share.total(partial(_sums_by_cluster, len(centres)), labels, embedding)
        if share.sum(labels != before) == 0:
            break
        means = sums[:, 1:] / np.maximum(sums[:, :1], 1)
        moved, centres = centres, np.where(sums[:, :1] > 0, means, centres)
        if ((moved - centres) ** 2).sum() <= tol * variance:
            break
    return labels


def _sums_by_cluster(n_clusters: int, labels: IntArray, rows: FloatArray) -> FloatArray:
    """Per cluster: number of rows, and their sum."""
    n = len(labels)
    members = csr_array((np.ones(n), (labels, np.arange(n))), shape=(n_clusters, n))
    return np.column_stack([members.sum(axis=1), members @ rows])


def nearest_centres(embedding: FloatArray, centres: FloatArray) -> IntArray:
    """The nearest centre of each row."""
    norms = (centres**2).sum(axis=1)
    labels = np.empty(len(embedding), dtype=np.intp)
    for start in range(0, len(labels), _AT_A_TIME):
        rows = slice(start, start + _AT_A_TIME)
        labels[rows] = (norms - 2 * embedding[rows] @ centres.T).argmin(axis=1)
    return labels


def some_samples(n: int, rng: np.random.Generator) -> IntArray:
    """The samples that k-means sees, in order: all, or enough of them."""
    if n <= TRIAL_SAMPLES:
        return np.arange(n)
    return np.sort(rng.choice(n, TRIAL_SAMPLES, replace=False))


def kmeans_of_some(
    embedding: FloatArray,
    weights: FloatArray | None,
    some: IntArray,
    n_clusters: int,
    seed: int,
    n_starts: int,
    share: RowShare | None = None,
) -> IntArray:
    """Clusters of some rows; the others are assigned to them."""
    share = share or RowShare(len(embedding))
    own = None if weights is None else share.collect(some, weights)
    part = share.collect(some, embedding), own
    centres = share.combine(partial(_fit_some, n_clusters, seed, n_starts), part)
    return nearest_centres(embedding, centres)


def _fit_some(n_clusters: int, seed: int, n_starts: int, parts: Sequence[Any]) -> FloatArray:
    rows = np.concatenate([rows for rows, _ in parts])
    given = [weights for _, weights in parts if weights is not None]
    with warnings.catch_warnings(), _thread_pools().limit(limits=1):
        # Fewer clusters than wanted are a result here: such clusters do not hold.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(n_clusters, n_init=n_starts, random_state=seed)
        model.fit(rows, sample_weight=np.concatenate(given) if given else None)
    return np.asarray(model.cluster_centers_)


def numbered_labels(labels: IntArray, n_clusters: int, share: RowShare | None = None) -> IntArray:
    """The same clusters, numbered by first samples; refused if there are fewer than wanted."""
    found = relabel_by_first_sample(labels, share)
    count = (share or RowShare(len(labels))).count(found)
    if count != n_clusters:
        raise ValueError(
            f"only {count} of n_clusters={n_clusters} clusters were found; "
            "expected fewer clusters or samples that differ more"
        )
    return found


def relabel_by_first_sample(
    labels: IntArray, share: RowShare | None = None, samples: IntArray | None = None
) -> IntArray:
    """The same clusters, numbered in the order of their first samples.

    `samples` are the samples of the rows; by default rows are in the order of the samples.
    """
    share = share or RowShare(len(labels))
    found, inverse = np.unique(labels, return_inverse=True)
    samples = np.arange(share.start, share.stop) if samples is None else samples
    first = np.full(len(found), np.iinfo(np.int64).max)
    np.minimum.at(first, inverse, samples)
    rank = share.combine(_ranks, (found, first))
    return np.array([rank[label] for label in found.tolist()], dtype=np.intp)[inverse]


def _ranks(parts: Sequence[tuple[IntArray, IntArray]]) -> dict[int, int]:
    """The number of each cluster, from its first sample in each part."""
    first: dict[int, int] = {}
    for labels, samples in parts:
        for label, sample in zip(labels.tolist(), samples.tolist(), strict=True):
            first[label] = min(sample, first.get(label, sample))
    return {label: rank for rank, label in enumerate(sorted(first, key=first.__getitem__))}
