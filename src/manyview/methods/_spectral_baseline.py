"""Normalised spectral clustering of one graph: what the three baselines share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from manyview._run import Run
from manyview.labels import kmeans_labels
from manyview.methods._graph_base import GraphClusterer, ViewGraphs
from manyview.spectral import normalized_embedding
from manyview.views import Views


class SpectralBaseline(GraphClusterer):
    """Fit by k-means on the normalised spectral embedding of the mean of some graphs."""

    def fit(self, X: Any, y: Any = None, *, present: Any = None) -> Self:
        """Cluster the samples; X and `present` are as in `CIGMVC.fit`, y is ignored."""
        with self._running() as run:
            chosen = self._chosen_graphs(self._read_views(X, present), run)
            mean = _mean_graph(chosen)
            both_ways = csr_array((mean + mean.T) / 2)
            with run.stage("eigenvectors"):
                self.embedding_ = normalized_embedding(both_ways, self._C, run.rng)
            with run.stage("labels"):
                self.labels_ = kmeans_labels(self.embedding_, self._C, run.seed)
        self.view_graphs_ = list(chosen.graphs)
        self.bridges_ = chosen.bridges
        return self

    def _chosen_graphs(self, views: Views, run: Run) -> ViewGraphs:
        """The graphs to take the mean of."""
        return self._view_graphs(views, run)


def _mean_graph(chosen: ViewGraphs) -> csr_array:
    """Row by row the mean over the views that have the sample."""
    total = sum(chosen.graphs[1:], chosen.graphs[0])
    if chosen.present is None:
        return csr_array(total / len(chosen.graphs))
    counts = chosen.present.sum(axis=1)
    total.data /= np.repeat(counts, np.diff(total.indptr))
    return total
