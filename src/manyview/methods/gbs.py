"""GBS: graph-based system for multi-view clustering (Wang, Yang and Liu 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manyview.methods._graph_fusion import GraphFusion


class GBS(GraphFusion):
    """Graph-based multi-view clustering without a split of the views' graphs.

    One graph U is learned from the nearest-neighbour graphs of all views, weighted by how well each
    agrees with it, until it falls into `n_clusters` connected components. It is CI-GMVC with nothing
    set aside as inconsistent.

    PARAMETERS
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int | str = 15,
        graph: str = "adaptive",
        normalize: str | None = "zscore",
        views: Sequence[int] | None = None,
        updates: str = "published",
        lambda_init: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-10,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.normalize = normalize
        self.views = views
        self.updates = updates
        self.lambda_init = lambda_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
