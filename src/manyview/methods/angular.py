"""The angular variant of CI-GMVC: our own, in no paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manyview.methods._docs import shared_docs
from manyview.methods._split_fusion import SplitFusion


@shared_docs
class AngularCIGMVC(SplitFusion):
    """CI-GMVC in which samples are compared by the angle between their embedded rows.

    As in `CIGMVC` every view's graph S_v is split into a part A_v that is consistent with the other
    views and an inconsistent rest, and one unified graph U is learned until it falls into
    `n_clusters` connected components. Three things differ:

    - The embedding is that of normalised spectral clustering, every row scaled to the same length:
      the rank constraint then looks at directions, and cutting off a handful of samples is no
      longer a cheap way to get one more component.
    - Where a view says nothing about a sample, U is drawn to the mean of those that do, instead of
      to a row that sums to less than 1.
    - U and A_v are the exact minimisers of the objective, not the published approximations.

    Neighbours (11) and `lambda_init` were chosen once, on the mean over several data sets; see
    docs/angular.md for what else was tried.

    Parameters
    ----------
    {common}
    {graph}
    beta : float, default=1e-12
        Price of large inconsistent parts.
    gamma : float, default=1e-5
        Price of inconsistent parts that several views share.
    updates : {"exact", "published", "paper"}, default="exact"
        As in `CIGMVC`.
    {loop}

    Attributes
    ----------
    {learned}
    {fused}
    {disagreement}

    Examples
    --------
    >>> from manyview import AngularCIGMVC
    >>> from manyview.datasets import make_conflict_views
    >>> data = make_conflict_views(random_state=0)
    >>> model = AngularCIGMVC(n_clusters=4, random_state=0).fit(data.views)
    >>> int(model.view_disagreement_.argmax())  # 30 % of its samples follow another cluster there
    0
    """

    _auto_neighbors = 11
    _angular = True

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_neighbors: int | str = "auto",
        graph: str = "adaptive",
        neighbor_search: str = "auto",
        normalize: str | None = "auto",
        views: Sequence[int] | None = None,
        beta: float = 1e-12,
        gamma: float = 1e-5,
        updates: str = "exact",
        lambda_init: float = 0.5,
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
            beta=beta,
            gamma=gamma,
            updates=updates,
            lambda_init=lambda_init,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
            verbose=verbose,
        )
