"""Coordinates of samples on a two-dimensional map."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from manyview._typing import FloatArray, IntArray
from manyview.graphs import count_components
from manyview.plotting._fitted import learned
from manyview.spectral import laplacian_spectrum, unit_rows

_MAX_DIMENSIONS = 60
# t-SNE starts from an embedding that separates groups already: half the usual number is enough.
_TSNE_ITERATIONS = 500
_JITTER = 1e-4


def map_samples(model: Any, random_state: int = 0) -> FloatArray:
    """Map coordinates of all samples of a result or an estimator, (n_samples, 2); see
    `map_graphs`."""
    graphs, n_clusters = learned(model, "view_graphs_"), learned(model, "n_clusters_")
    return map_graphs(graphs, n_clusters, random_state=random_state)


def map_graphs(
    graphs: Sequence[csr_array],
    n_clusters: int,
    shown: IntArray | None = None,
    *,
    random_state: int = 0,
) -> FloatArray:
    """Map coordinates of the `shown` samples (default: all), (n_shown, 2).

    They are a t-SNE of the spectral embedding of the views' mean graph; in the embedding of a
    converged fit every cluster is one point. The embedding is computed from all samples, t-SNE sees
    the `shown` ones only. Distances between distant groups mean little, and samples without
    neighbours all get the same position.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from manyview.plotting import map_graphs
    >>> pairs = csr_array(np.kron(np.eye(4), [[0.0, 1.0], [1.0, 0.0]]))
    >>> map_graphs([pairs], n_clusters=4, shown=np.array([0, 1, 6])).shape
    (3, 2)
    """
    embedding = _embedding(graphs, n_clusters, random_state)
    if shown is not None:
        embedding = embedding[shown]
    n = len(embedding)
    if n < 4:  # too few for t-SNE: on a circle
        angles = 2 * np.pi * np.arange(n) / max(n, 1)
        return np.column_stack([np.cos(angles), np.sin(angles)])
    # Without jitter, samples with equal rows would hide each other.
    rng = np.random.default_rng(random_state)
    embedding = embedding + _JITTER * rng.standard_normal(embedding.shape)
    perplexity = min(30.0, (n - 1) / 3)
    tsne = TSNE(
        init="pca", perplexity=perplexity, max_iter=_TSNE_ITERATIONS, random_state=random_state
    )
    # One thread: sums in another order would give another map.
    with threadpool_limits(1):
        return np.asarray(tsne.fit_transform(embedding), dtype=np.float64)


def _embedding(graphs: Sequence[csr_array], n_clusters: int, random_state: int) -> FloatArray:
    """Unit rows for samples with neighbours, zeros for the others; at least 2 columns."""
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
