"""CI-GMVC: consistency-aware and inconsistency-aware graph-based multi-view clustering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manyview._checks import check_real
from manyview.methods._fusion import Penalty
from manyview.methods._graph_fusion import GraphFusion
from manyview.methods._shared_docs import shared_docs


@shared_docs
class CIGMVC(GraphFusion):
    """Consistency-aware and inconsistency-aware graph-based multi-view clustering.

    The nearest-neighbour graph S_v of every view is split into a part A_v that is consistent with
    the other views and an inconsistent rest E_v. One unified graph U is learned from the consistent
    parts until it falls into `n_clusters` connected components: the clusters.

    The defaults are those of the published program, which made the paper's tables.

    Parameters
    ----------
    {common}
    {graph}
    beta : float, default=1e-12
        Price of large inconsistent parts.
    gamma : float, default=1e-5
        Price of inconsistent parts that several views share. At the defaults neither price changes
        any labels of the paper's data sets: what works is the box 0 <= A_v <= S_v. Prices that
        count are of the size of the view weights; from about gamma - beta = 2 min(alpha) on the
        update has no minimum, and `fit` raises.
    updates : {"published", "paper", "exact"}, default="published"
        "published" follows the published program, which takes max(A_v, A_v') before cutting A_v at
        S_v; "paper" leaves that out, as the paper does. Both compute U and A_v approximately;
        "exact" minimises the paper's objective in each of them.
    {loop}

    Attributes
    ----------
    {learned}
    {fused}

    References
    ----------
    M. Horie and H. Kasai, "Consistency-aware and inconsistency-aware graph-based multi-view
    clustering", EUSIPCO 2020.

    Examples
    --------
    >>> from manyview import CIGMVC
    >>> from manyview.datasets import make_conflict_views
    >>> data = make_conflict_views(random_state=0)
    >>> model = CIGMVC(n_clusters=4).fit(data.views)
    >>> model.labels_.shape
    (400,)
    >>> [round(float(graph.sum() / 400), 2) for graph in model.inconsistent_graphs_]
    [0.77, 0.55, 0.58]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int | str = "auto",
        graph: str = "adaptive",
        neighbor_search: str = "auto",
        normalize: str | None = "auto",
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
        super().__init__(
            n_clusters,
            n_neighbors=n_neighbors,
            graph=graph,
            neighbor_search=neighbor_search,
            normalize=normalize,
            views=views,
            updates=updates,
            lambda_init=lambda_init,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
            verbose=verbose,
        )
        self.beta = beta
        self.gamma = gamma

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("beta", self.beta, 0)
        check_real("gamma", self.gamma, 0)

    def _penalty(self) -> Penalty | None:
        return Penalty(self.beta, self.gamma)
