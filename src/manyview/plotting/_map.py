"""Coordinates of samples on a two-dimensional map."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from manyview._typing import FloatArray, IntArray
from manyview.graphs import count_components
from manyview.plotting._fitted import learned
from manyview.spectral import laplacian_spectrum, unit_rows

_MAX_DIMENSIONS = 60
# t-SNE starts from an embedding that separates groups already: half the usual number is enough.
_TSNE_ITERATIONS = 500
_TSNE_ITERATIONS_FROM_START = 350
#: Samples that t-SNE places on a map, at most: its time would be minutes.
MAX_TSNE = 4000
# Of these, every cluster has so many, if it has as many samples.
_MIN_PER_CLUSTER = 5
_JITTER = 1e-4


def map_samples(model: Any, random_state: int = 0) -> FloatArray:
    """Map coordinates of all samples of a result or an estimator, (n_samples, 2).

    They are a t-SNE of the spectral embedding of the views' mean graph. (In the embedding of a
    converged fit every cluster would be one point.) Distances between distant groups mean little,
    and samples without neighbours all get the same position. With more than `MAX_TSNE` samples,
    t-SNE places some, and each of the others lies beside the most similar of these.

    See Also
    --------
    plot_samples : Draws them.

    Examples
    --------
    >>> import manyview
    >>> data = manyview.datasets.make_blob_views(60, 3, random_state=0)
    >>> map_samples(manyview.cluster(data.views, 3)).shape
    (60, 2)
    """
    graphs, n_clusters = learned(model, "view_graphs_"), learned(model, "n_clusters_")
    embedding = graph_embedding(graphs, n_clusters, random_state)
    landmarks = choose_some(np.asarray(learned(model, "labels_")), MAX_TSNE, random_state)
    return map_embedding(embedding, landmarks, random_state=random_state)


def choose_some(labels: IntArray, most: int, random_state: int = 0) -> IntArray:
    """At most `most` random samples, in ascending order, with a few of every cluster."""
    n = len(labels)
    if n <= most:
        return np.arange(n)
    drawn = np.random.default_rng(random_state).permutation(n)
    by_cluster = drawn[np.argsort(labels[drawn], kind="stable")]
    sizes = np.bincount(labels)
    rank = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # within the cluster
    kept = by_cluster[rank < min(_MIN_PER_CLUSTER, max(1, most // len(sizes)))][:most]
    rest = drawn[~np.isin(drawn, kept)]
    return np.sort(np.concatenate([kept, rest[: most - len(kept)]]))


def map_embedding(
    embedding: FloatArray,
    landmarks: IntArray,
    *,
    start: FloatArray | None = None,
    random_state: int = 0,
) -> FloatArray:
    """Map coordinates of all rows of an embedding: a t-SNE of the landmarks, and the other rows
    each beside its nearest landmark. A map of the same rows as `start` gives a similar layout.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview.plotting import map_embedding
    >>> groups = np.repeat(np.eye(4), 5, axis=0)
    >>> map_embedding(groups, landmarks=np.arange(0, 20, 2)).shape
    (20, 2)
    """
    # Without jitter, samples with equal rows would hide each other.
    rng = np.random.default_rng(random_state)
    embedding = embedding + _JITTER * rng.standard_normal(embedding.shape)
    places = _tsne(embedding[landmarks], None if start is None else start[landmarks], random_state)
    if len(landmarks) == len(embedding):
        return places
    beside = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(embedding[landmarks])
    nearest = beside.kneighbors(embedding, return_distance=False)[:, 0]
    near = NearestNeighbors(n_neighbors=min(4, len(places))).fit(places).kneighbors(places)[0]
    spread = near.mean(axis=1)[nearest, None] / 2
    coordinates = places[nearest] + spread * rng.standard_normal((len(embedding), 2))
    coordinates[landmarks] = places
    return np.asarray(coordinates)


def _tsne(rows: FloatArray, start: FloatArray | None, random_state: int) -> FloatArray:
    n = len(rows)
    if n < 4:  # too few for t-SNE: on a circle
        angles = 2 * np.pi * np.arange(n) / max(n, 1)
        return np.column_stack([np.cos(angles), np.sin(angles)])
    init: Any = "pca"
    if start is not None:  # as small as t-SNE wants it, so that every row can move anywhere
        init = (1e-4 * start / max(float(start.std()), 1e-300)).astype(np.float32)
    iterations = _TSNE_ITERATIONS if start is None else _TSNE_ITERATIONS_FROM_START
    tsne = TSNE(
        init=init,
        perplexity=min(30.0, (n - 1) / 3),
        max_iter=iterations,
        random_state=random_state,
    )
    # One thread: sums in another order would give another map.
    with threadpool_limits(1):
        return np.asarray(tsne.fit_transform(rows), dtype=np.float64)


def graph_embedding(
    graphs: Sequence[csr_array], n_clusters: int, random_state: int = 0
) -> FloatArray:
    """Spectral embedding of the mean of graphs: unit rows for samples with neighbours, zeros for
    the others; at least 2 columns."""
    mean = csr_array(sum(graphs) / len(graphs))
    graph = csr_array((mean + mean.T) / 2)
    graph.eliminate_zeros()
    linked = np.flatnonzero(np.diff(graph.indptr))
    n, m = graph.shape[0], len(linked)
    if m < n:
        graph = csr_array(graph[linked][:, linked])
    # Each connected component takes one eigenvector before any shows what is inside of it.
    wanted = n_clusters + count_components(graph) - 1 if m else 0
    width = min(max(wanted, 2), _MAX_DIMENSIONS, m - 1)
    embedding = np.zeros((n, max(width, 2)))
    if width > 0:
        rng = np.random.default_rng(random_state)
        spectrum = laplacian_spectrum(graph, width, rng, normalized=True)
        embedding[linked, :width] = unit_rows(spectrum.embedding)
    return embedding
