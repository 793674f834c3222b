"""Labels from an embedding: k-means."""

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.sparse import csr_array
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning

from manyview._typing import FloatArray, IntArray
from manyview.graphs import nearest_centre
from manyview.runtime import RowShare, n_threads, one_blas_thread, thread_pools

#: Starts of k-means are compared on at most this many samples.
TRIAL_SAMPLES = 10_000
# Starts as in the paper, and for labels that depend less on chance.
_STARTS, _MANY_STARTS = 10, 30
_MAX_ITERATIONS = 300
# From so many rows on the starts run in threads, and first centres are chosen among some rows: so
# many, or so many per cluster. The centres of one start are then the pivots of a QR factorisation:
# the most independent rows, which in spectral embeddings lie in different clusters. Mostly it is
# the best start, so that there are fewer others.
_MANY_ROWS = 5_000
_CHOSEN_FROM, _CHOSEN_FROM_PER_CLUSTER = 1_000, 20
_FEWER = 6


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
    columns: k-means sees the rows in the order of their distances to the mean, runs until no label
    changes, and has three times as many starts. `share` tells which rows of all are given; by
    default all.
    """
    share = share or RowShare(len(embedding))
    some = some_samples(share.n_samples, np.random.default_rng(seed))
    is_trial = len(some) < share.n_samples
    tol = 0.0 if by_distance else 1e-4
    n_starts = _MANY_STARTS if by_distance else _STARTS
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
    model = _best_start(rows[order], None, n_clusters, seed, n_starts, tol)
    labels = np.empty(len(rows), dtype=np.intp)
    labels[order] = model.labels_
    return model.cluster_centers_, labels


def _best_start(
    rows: FloatArray,
    weights: FloatArray | None,
    n_clusters: int,
    seed: int,
    n_starts: int,
    tol: float = 1e-4,
) -> Any:
    """k-means from several starts: the `KMeans` with the lowest inertia."""
    # It sums thread by thread, and labels must not depend on their number: threads of ours run
    # whole starts.
    pools = thread_pools()
    if len(rows) < _MANY_ROWS:
        with pools.limit(limits=1):
            model = KMeans(n_clusters, n_init=n_starts, tol=tol, random_state=seed)
            return model.fit(rows, sample_weight=weights)
    count = min(max(_CHOSEN_FROM, _CHOSEN_FROM_PER_CLUSTER * n_clusters), len(rows))
    choices = [_chosen_by_distance] * n_starts
    if rows.shape[1] >= n_clusters:
        choices = [_chosen_by_pivots, *choices[: max(n_starts // _FEWER, 1)]]

    def fitted(choose: Callable[..., FloatArray], rng: np.random.Generator) -> Any:
        some = rng.choice(len(rows), count, replace=False)
        own = None if weights is None else weights[some]
        with pools.limit(limits=1):
            centres = choose(rows[some], own, n_clusters, rng)
            model = KMeans(n_clusters, init=centres, n_init=1, tol=tol)
            return model.fit(rows, sample_weight=weights)

    with pools.limit(limits=1), ThreadPoolExecutor(n_threads()) as threads:
        found = threads.map(fitted, choices, np.random.default_rng(seed).spawn(len(choices)))
        return min(found, key=lambda model: model.inertia_)


def _chosen_by_distance(
    rows: FloatArray, weights: FloatArray | None, n_clusters: int, rng: np.random.Generator
) -> FloatArray:
    """First centres by k-means++."""
    centres, _ = kmeans_plusplus(
        rows.astype(np.float64), n_clusters, random_state=int(rng.integers(2**31)),
        sample_weight=weights,
    )  # fmt: skip
    return np.asarray(centres, rows.dtype)


def _chosen_by_pivots(
    rows: FloatArray, weights: FloatArray | None, n_clusters: int, rng: np.random.Generator
) -> FloatArray:
    """The rows that are farthest from the span of those before."""
    pivots = qr(rows.T, mode="r", pivoting=True, check_finite=False)[1]
    return np.asarray(rows[pivots[:n_clusters]])


def _lloyd(embedding: FloatArray, centres: FloatArray, tol: float, share: RowShare) -> IntArray:
    """Labels by Lloyd's iterations from some centres, as `KMeans` stops them: where no label
    changes, or where centres move by less than this share of the mean variance."""
    n = share.n_samples
    mean = share.sum(embedding) / n
    squares = share.total(lambda rows: ((rows - mean) ** 2).sum(axis=0), embedding)
    variance = squares.mean() / n
    labels = np.full(len(embedding), -1)
    for _ in range(_MAX_ITERATIONS):
        before, labels = labels, _nearest(embedding, centres)
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


def _nearest(embedding: FloatArray, centres: FloatArray) -> IntArray:
    """The nearest centre of each row."""
    with one_blas_thread():
        return nearest_centre(centres.astype(embedding.dtype, copy=False), embedding)


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
    return _nearest(embedding, centres)


def _fit_some(n_clusters: int, seed: int, n_starts: int, parts: Sequence[Any]) -> FloatArray:
    rows = np.concatenate([rows for rows, _ in parts])
    given = [weights for _, weights in parts if weights is not None]
    weights = np.concatenate(given) if given else None
    with warnings.catch_warnings():
        # Fewer clusters than wanted are a result here: such clusters do not hold.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = _best_start(rows, weights, n_clusters, seed, n_starts)
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
