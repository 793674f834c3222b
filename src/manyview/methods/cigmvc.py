"""CI-GMVC: consistency-aware and inconsistency-aware graph-based multi-view clustering."""

from __future__ import annotations

from manyview.methods._docs import shared_docs
from manyview.methods._split_fusion import SplitFusion


@shared_docs
class CIGMVC(SplitFusion):
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
    {disagreement}

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
