"""Warnings about results that can probably not be trusted."""

import warnings
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray
from manyview.spectral import kmeans_labels, normalized_embedding

# A collapse of three clusters or more: one has more than the second share of the samples, or more
# than the first and others have less than the third share of the mean size.
_LARGE, _GIANT, _TINY = 0.5, 0.75, 0.05
# Labels whose normalised cut is so much larger than that of the average graph's are worse.
_WORSE = 1.2
# With more samples the average graph is not clustered for comparison.
_COMPARED = 20_000
# A view that has no edges from more than this share of its samples tells little.
_SILENT = 0.5


def warn_of_sizes(labels: IntArray) -> None:
    """Warn of a giant cluster beside tiny ones."""
    sizes = np.sort(np.bincount(labels))[::-1]
    mean = sizes.mean()
    tiny = int((sizes < max(_TINY * mean, 3)).sum())
    largest = sizes[0] / sizes.sum()
    if len(sizes) > 2 and (largest > _GIANT or (largest > _LARGE and tiny)):
        warnings.warn(
            f"{sizes[0]:,} of {sizes.sum():,} samples are in one of {len(sizes)} clusters, and the "
            f"smallest has {sizes[-1]}: they have probably collapsed; try fewer clusters, "
            "ConsensusGraph (method='consensus'), or another scaling",
            stacklevel=4,
        )


def warn_of_cut(graphs: Sequence[csr_array], labels: IntArray, seed: int) -> None:
    """Warn of labels that cut the average graph more than its own spectral clusters do."""
    n, n_clusters = len(labels), int(labels.max()) + 1
    if n > _COMPARED or n_clusters < 2:
        return
    mean = sum(graphs[1:], start=graphs[0]) / len(graphs)
    graph = csr_array((mean + mean.T) / 2)
    embedding = normalized_embedding(graph, n_clusters, np.random.default_rng(seed))
    plain, own = (
        mean_cut(graph, kmeans_labels(embedding, n_clusters, seed)),
        mean_cut(graph, labels),
    )
    if own > _WORSE * plain:
        warnings.warn(
            f"the clusters cut the average graph of the views more ({own:.2f} of a cluster's edges "
            f"leave it) than plain spectral clustering does ({plain:.2f}): the method has probably "
            "lost the structure; try ConsensusGraph (method='consensus'), or SpectralAverage",
            stacklevel=4,
        )


def mean_cut(graph: csr_array, labels: IntArray) -> float:
    """The share of a cluster's edge weight that leaves it, mean over the clusters."""
    members = csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    between: FloatArray = (members @ graph @ members.T).toarray()
    volumes = between.sum(axis=1)
    inside = np.divide(between.diagonal(), volumes, out=np.ones_like(volumes), where=volumes > 0)
    return float(1 - inside.mean())


def warn_of_silent_views(
    graphs: Sequence[csr_array], names: Sequence[str], n_present: IntArray
) -> None:
    """Warn of views that have no edges from most of their samples."""
    for graph, name, n in zip(graphs, names, n_present.tolist(), strict=True):
        silent = n - int((np.diff(graph.indptr) > 0).sum())
        if graph.nnz and silent > _SILENT * n:
            warnings.warn(
                f"view '{name}' has no nearest neighbours for {silent:,} of {n:,} samples: they "
                "have no features there, or are equally far from all others; the view counts "
                "little for them",
                stacklevel=4,
            )
