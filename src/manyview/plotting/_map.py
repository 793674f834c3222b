"""Where samples lie on a map in two dimensions, for looking at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from manyview._typing import FloatArray, IntArray
from manyview.graphs import count_components
from manyview.spectral import laplacian_spectrum, unit_rows

# Eigenvectors that a map is drawn from, at most: more clusters than that share them.
_MAP_DIMENSIONS = 60
# Of t-SNE: the embedding has told the groups apart already, so that half the usual is enough.
_MAP_ROUNDS = 500
_JITTER = 1e-4


def map_samples(model: Any, random_state: int = 0) -> FloatArray:
    """Two coordinates a sample, for looking at; see `map_graphs`."""
    return map_graphs(model.view_graphs_, model.n_clusters_, random_state=random_state)


def map_graphs(
    graphs: Sequence[csr_array],
    n_clusters: int,
    shown: IntArray | None = None,
    *,
    random_state: int = 0,
) -> FloatArray:
    """Two coordinates for each of the `shown` samples (all unless given), for looking at.

    A converged embedding has one point a cluster, so the map is drawn from what came before: t-SNE
    of the spectral embedding of the views' mean graph. The embedding is that of all samples, only
    t-SNE looks at the `shown` ones alone. Distances between far groups mean little.

    Samples without any neighbour come to lie in one place: nothing is known of them.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from manyview.plotting import map_graphs
    >>> pairs = csr_array(np.kron(np.eye(4), [[0.0, 1.0], [1.0, 0.0]]))
    >>> map_graphs([pairs], n_clusters=4, shown=np.array([0, 1, 6])).shape
    (3, 2)
    """
    embedding = _graph_embedding(graphs, n_clusters, random_state)
    if shown is not None:
        embedding = embedding[shown]
    n = len(embedding)
    if n < 4:
        return _on_a_circle(n)
    # Samples in the very same place would stay there, hidden behind each other.
    rng = np.random.default_rng(random_state)
    embedding = embedding + _JITTER * rng.standard_normal(embedding.shape)
    perplexity = min(30.0, (n - 1) / 3)
    tsne = TSNE(init="pca", perplexity=perplexity, max_iter=_MAP_ROUNDS, random_state=random_state)
    # One thread: sums in another order would make another map, and on a busy machine several
    # threads that wait for each other take longer than one.
    with threadpool_limits(1):
        return np.asarray(tsne.fit_transform(embedding), dtype=np.float64)


def _graph_embedding(graphs: Sequence[csr_array], n_clusters: int, random_state: int) -> FloatArray:
    """Rows of length 1 for the samples with neighbours, of 0 for the others; 2 columns or more."""
    mean = csr_array(sum(graphs) / len(graphs))
    both_ways = csr_array((mean + mean.T) / 2)
    both_ways.eliminate_zeros()
    linked = np.flatnonzero(np.diff(both_ways.indptr))
    n, m = both_ways.shape[0], len(linked)
    if m < n:
        both_ways = csr_array(both_ways[linked][:, linked])
    # Each piece takes one eigenvector to be told from the others, before there is any for what is
    # inside of it.
    wanted = n_clusters + count_components(both_ways) - 1 if m else 0
    width = min(max(wanted, 2), _MAP_DIMENSIONS, m - 1)
    embedding = np.zeros((n, max(width, 2)))
    if width > 0:
        rng = np.random.default_rng(random_state)
        spectrum = laplacian_spectrum(both_ways, width, rng, normalized=True)
        embedding[linked, :width] = unit_rows(spectrum.embedding)
    return embedding


def _on_a_circle(n: int) -> FloatArray:
    angles = 2 * np.pi * np.arange(n) / max(n, 1)
    return np.column_stack([np.cos(angles), np.sin(angles)])
