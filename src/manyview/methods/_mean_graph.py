"""Normalised spectral clustering of the mean of some graphs: what the baselines share."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray
from manyview.graphs import GraphStack, ViewGraphs
from manyview.runtime import Run
from manyview.spectral import kmeans_labels, normalized_embedding, relabel_by_first_sample


def mean_graph_results(graphs: ViewGraphs, n_clusters: int, run: Run) -> dict[str, Any]:
    """Attributes of a fitted estimator: k-means on the spectral embedding of the mean graph."""
    stack = graphs.whole_stack()
    with run.stage("eigenvectors"):
        symmetric = stack.symmetric(_mean_over_present(stack))
        embedding = normalized_embedding(symmetric, n_clusters, run.rng)
    with run.stage("labels"):
        labels = kmeans_labels(embedding, n_clusters, run.seed)
    return {
        "labels_": relabel_by_first_sample(stack.by_sample(labels)),
        "embedding_": stack.by_sample(embedding),
        "view_graphs_": [graphs.by_sample(graph) for graph in graphs.graphs],
        "bridges_": graphs.bridges,
    }


def mean_graph(graphs: ViewGraphs) -> csr_array:
    """The mean graph, symmetric, between samples in the order of the input."""
    stack = graphs.whole_stack()
    mean = stack.matrix(_mean_over_present(stack))
    return csr_array((mean + mean.T) / 2)


def _mean_over_present(stack: GraphStack) -> FloatArray:
    """In each row the mean over the views that have the sample."""
    if stack.present is None:
        return np.asarray(stack.weights.mean(axis=0))
    counts = stack.present.sum(axis=1)
    return np.asarray(stack.weights.sum(axis=0) / np.repeat(counts, np.diff(stack.indptr)))
