"""Normalised spectral clustering of one graph: what the three baselines share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from manyview._log import verbosity
from manyview.labels import kmeans_labels
from manyview.methods._graph_base import GraphClusterer, ViewGraphs
from manyview.spectral import normalized_embedding
from manyview.views import Views


class SpectralBaseline(GraphClusterer):
    """Fit by k-means on the normalised spectral embedding of the mean of some graphs."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the samples; X is as in `CIGMVC.fit`, y is ignored."""
        with verbosity(self.verbose):
            self._check_parameters()
            seed = self._draw_seed()
            chosen = self._chosen_graphs(self._read_views(X))
            mean = sum(chosen.graphs[1:], chosen.graphs[0]) / len(chosen.graphs)
            both_ways = csr_array((mean + mean.T) / 2)
            rng = np.random.default_rng(seed)
            self.embedding_ = normalized_embedding(both_ways, self._C, rng)
            self.labels_ = kmeans_labels(self.embedding_, self._C, seed)
        self.view_graphs_ = list(chosen.graphs)
        self.bridges_ = chosen.bridges
        return self

    def _chosen_graphs(self, views: Views) -> ViewGraphs:
        """The graphs to take the mean of."""
        return self._view_graphs(views)
