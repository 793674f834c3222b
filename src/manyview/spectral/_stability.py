"""Stability: how well clusters hold together if samples are weighted at random.

In each resample every sample gets a weight from the exponential distribution (the Bayesian
bootstrap), and an edge counts by the weights of both its ends. The eigenvectors of that graph are
approximated in the span of those that are known (Rayleigh-Ritz), which takes one product with the
graph. k-means finds clusters in them, or Leiden in the graph if it found the first ones. No sample
is left out, so no graph falls into pieces.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from manyview._typing import FloatArray, IntArray
from manyview.runtime import RowShare, total_of
from manyview.spectral._chebyshev import inner_products
from manyview.spectral._labels import kmeans_of_some, some_samples
from manyview.spectral._laplacian import Graph, laplacian_operator, share_of
from manyview.spectral._spectrum import Spectrum, is_large, soft_embedding

# A direction of the span with less than this share of the largest one's square is none.
_LEAST = 1e-14
# Starts of k-means in a resample.
_STARTS = 3


def label_stability(
    graph: Graph,
    spectrum: Spectrum,
    labels: IntArray,
    seed: int,
    n_resamples: int,
    clusters_of: Callable[[FloatArray], IntArray] | None = None,
) -> FloatArray:
    """(n_samples,), or the rows that are here: the mean over resamples of `cluster_overlap`.

    `spectrum` is that of the normalised Laplacian of the graph. `clusters_of` finds the clusters
    for some weights of the samples; without it, k-means does.
    """
    share = share_of(graph)
    n_clusters = share.count(labels)
    if n_clusters == 1:
        return np.ones(len(labels))
    total, rng = np.zeros(len(labels)), np.random.default_rng(seed)
    some = some_samples(share.n_samples, rng)
    for weights, embedding in _resamples(graph, spectrum, n_clusters, rng, n_resamples):
        if clusters_of is None:
            found = kmeans_of_some(embedding, weights, some, n_clusters, seed, _STARTS, share)
        else:
            found = clusters_of(weights)
        total += cluster_overlap(labels, found, share)
    return total / n_resamples


def cluster_overlap(
    labels: IntArray, others: IntArray, share: RowShare | None = None
) -> FloatArray:
    """Per sample: how far its cluster is the same in two clusterings.

    The Jaccard index of its two clusters, corrected for chance: 1 is the same cluster, 0 is chance
    or less.
    """
    share = share or RowShare(len(labels))
    shape = share.count(labels), share.count(others)
    pairs = np.ravel_multi_index((labels, others), shape)
    shared = share.total(partial(np.bincount, minlength=np.prod(shape)), pairs).astype(np.float64)
    shared = shared.reshape(shape)
    sizes = shared.sum(axis=1, keepdims=True), shared.sum(axis=0)
    by_chance = sizes[0] * sizes[1] / share.n_samples
    overlap, chance = (part / (sizes[0] + sizes[1] - part) for part in (shared, by_chance))
    beyond = np.divide(overlap - chance, 1 - chance, out=np.ones_like(chance), where=chance < 1)
    return np.asarray(np.maximum(beyond, 0.0)[labels, others])


def _resamples(
    graph: Graph, spectrum: Spectrum, n_clusters: int, rng: np.random.Generator, count: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Weights of the samples, and the soft embedding of the graph with these weights."""
    share, vectors = share_of(graph), spectrum.embedding
    kind = vectors.dtype
    dtype = np.float32 if is_large(share.n_samples) else np.float64
    operator, root = laplacian_operator(graph, True, dtype)
    for _ in range(count):
        weights = share.draw(rng, lambda own, rows: own.exponential(size=rows))
        block = (root * weights)[:, None]
        degrees = root * (block - operator.times(block))[:, 0]
        # The span is that of the known vectors, each row multiplied by its factor.
        factors = (np.sqrt(weights * degrees) / root).astype(kind)[:, None]
        turn = share.combine(_orthogonal, share.by_segment(_products_of_scaled, vectors, factors))
        block = share.by_row(np.multiply, vectors, weights.astype(kind)[:, None])
        inner = share.by_segment(_products_with_rest, block, operator.times(block))
        similarities, turn = share.combine(partial(_similarities, turn), inner)
        values = np.maximum(1 - similarities[::-1], 0.0)
        turn = turn[:, ::-1][:, :-1].astype(kind)
        block = share.by_row(partial(_turn_scaled, turn), vectors, factors)
        yield weights, soft_embedding(block, values, n_clusters, share)


def _products_of_scaled(vectors: FloatArray, factors: FloatArray) -> FloatArray:
    scaled = vectors * factors
    return inner_products(scaled, scaled)


def _products_with_rest(block: FloatArray, image: FloatArray) -> FloatArray:
    return inner_products(block, block - image)


def _turn_scaled(turn: FloatArray, vectors: FloatArray, factors: FloatArray) -> FloatArray:
    return np.asarray((vectors @ turn) * factors)


def _orthogonal(parts: Any) -> FloatArray:
    """What makes vectors orthogonal and of length 1, from their inner products."""
    sizes, turn = np.linalg.eigh(total_of(parts))
    return np.asarray(turn / np.sqrt(np.maximum(sizes, _LEAST * sizes[-1])))


def _similarities(turn: FloatArray, parts: Any) -> tuple[FloatArray, FloatArray]:
    product = turn.T @ total_of(parts) @ turn
    values, inner = np.linalg.eigh((product + product.T) / 2)
    return values, turn @ inner
