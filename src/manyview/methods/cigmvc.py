"""CI-GMVC: consistency-aware and inconsistency-aware graph-based multi-view clustering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manyview._checks import check_real
from manyview.methods._fusion import Penalty
from manyview.methods._graph_fusion import GraphFusion


class CIGMVC(GraphFusion):
    """X."""

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int | str = 15,
        graph: str = "adaptive",
        normalize: str | None = "zscore",
        views: Sequence[int] | None = None,
        beta: float = 1e-12,
        gamma: float = 1e-5,
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
        self.beta = beta
        self.gamma = gamma
        self.updates = updates
        self.lambda_init = lambda_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("beta", self.beta, 0)
        check_real("gamma", self.gamma, 0)

    def _penalty(self) -> Penalty | None:
        return Penalty(self.beta, self.gamma)
