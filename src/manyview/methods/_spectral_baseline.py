"""Normalised spectral clustering of one graph: what the three baselines share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from manyview._typing import FloatArray
from manyview.graphs import FitSize, GraphStack
from manyview.inputs import Views
from manyview.methods._graph_base import GraphClusterer, ViewGraphs
from manyview.methods._memory_model import spectral_memory
from manyview.runtime import Estimate, Run
from manyview.spectral import in_order_of_first, kmeans_labels, normalized_embedding


class SpectralBaseline(GraphClusterer):
    """Fit by k-means on the normalised spectral embedding of the mean of some graphs."""

    def fit(self, X: Any, y: Any = None, *, present: Any = None) -> Self:
        """Cluster the samples; X and `present` are as in `CIGMVC.fit`, y is ignored."""
        with self._running() as run:
            chosen = self._chosen_graphs(self._read_views(X, present), run)
            stack = chosen.stack()
            with run.stage("eigenvectors"):
                both_ways = stack.symmetric(_mean_over_present(stack))
                embedding = normalized_embedding(both_ways, self._C, run.rng)
            with run.stage("labels"):
                labels = kmeans_labels(embedding, self._C, run.seed)
                self.labels_ = in_order_of_first(stack.by_sample(labels))
            self.embedding_ = stack.by_sample(embedding)
            self.view_graphs_ = chosen.between_samples()
        self.bridges_ = chosen.bridges
        return self

    def _memory(self, size: FitSize) -> Estimate:
        return spectral_memory(size)

    def _chosen_graphs(self, views: Views, run: Run) -> ViewGraphs:
        """The graphs to take the mean of."""
        return self._view_graphs(views, run)


def _mean_over_present(stack: GraphStack) -> FloatArray:
    """Row by row the mean over the views that have the sample."""
    if stack.present is None:
        return np.asarray(stack.weights.mean(axis=0))
    counts = stack.present.sum(axis=1)
    return np.asarray(stack.weights.sum(axis=0) / np.repeat(counts, np.diff(stack.indptr)))
