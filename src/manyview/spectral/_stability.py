"""Stability: how well clusters hold together if samples are weighted at random.

In each resample every sample gets a weight from the exponential distribution (the Bayesian
bootstrap), and an edge counts by the weights of both its ends. The eigenvectors of that graph are
approximated in the span of those that are known (Rayleigh-Ritz), which takes one product with the
graph. k-means finds clusters in them, or Leiden in the graph if it found the first ones. No sample
is left out, so no graph falls into pieces.
"""

from collections.abc import Callable, Iterator

import numpy as np

from manyview._typing import FloatArray, IntArray
from manyview.spectral._chebyshev import inner_products
from manyview.spectral._labels import kmeans_of_some, some_samples
from manyview.spectral._laplacian import Graph, laplacian_operator
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
    """(n_samples,): the mean over resamples of `cluster_overlap`.

    `spectrum` is that of the normalised Laplacian of the graph. `clusters_of` finds the clusters
    for some weights of the samples; without it, k-means does.
    """
    n, n_clusters = len(labels), int(labels.max()) + 1
    if n_clusters == 1:
        return np.ones(n)
    total, rng = np.zeros(n), np.random.default_rng(seed)
    some = some_samples(n, rng)
    for weights, embedding in _resamples(graph, spectrum, n_clusters, rng, n_resamples):
        if clusters_of is None:
            found = kmeans_of_some(embedding, weights, some, n_clusters, seed, _STARTS)
        else:
            found = clusters_of(weights)
        total += cluster_overlap(labels, found)
    return total / n_resamples


def cluster_overlap(labels: IntArray, others: IntArray) -> FloatArray:
    """Per sample: how far its cluster is the same in two clusterings.

    The Jaccard index of its two clusters, corrected for chance: 1 is the same cluster, 0 is chance
    or less.
    """
    shape = int(labels.max()) + 1, int(others.max()) + 1
    shared = np.bincount(labels * shape[1] + others, minlength=shape[0] * shape[1]).reshape(shape)
    sizes = shared.sum(axis=1, keepdims=True), shared.sum(axis=0)
    by_chance = sizes[0] * sizes[1] / len(labels)
    overlap, chance = (part / (sizes[0] + sizes[1] - part) for part in (shared, by_chance))
    beyond = np.divide(overlap - chance, 1 - chance, out=np.ones_like(chance), where=chance < 1)
    return np.asarray(np.maximum(beyond, 0.0)[labels, others])


def _resamples(
    graph: Graph, spectrum: Spectrum, n_clusters: int, rng: np.random.Generator, count: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Weights of the samples, and the soft embedding of the graph with these weights."""
    n, vectors = graph.shape[0], spectrum.embedding
    kind = vectors.dtype
    operator, root = laplacian_operator(graph, True, np.float32 if is_large(n) else np.float64)
    for _ in range(count):
        weights = rng.exponential(size=n)
        block = (root * weights)[:, None]
        degrees = root * (block - operator.times(block))[:, 0]
        # The span is that of the known vectors, each row multiplied by its factor.
        factors = (np.sqrt(weights * degrees) / root).astype(kind)[:, None]
        block = factors * vectors
        sizes, turn = np.linalg.eigh(inner_products(block, block))
        turn /= np.sqrt(np.maximum(sizes, _LEAST * sizes[-1]))  # orthogonal vectors of length 1
        block = weights.astype(kind)[:, None] * vectors
        product = turn.T @ inner_products(block, block - operator.times(block)) @ turn
        similarities, inner = np.linalg.eigh((product + product.T) / 2)
        values = np.maximum(1 - similarities[::-1], 0.0)
        block = vectors @ (turn @ inner[:, ::-1][:, :-1]).astype(kind)
        block *= factors
        yield weights, soft_embedding(block, values, n_clusters)
