"""GBS: a general graph-based system for multi-view clustering."""

from __future__ import annotations

from manyview.methods._docs import shared_docs
from manyview.methods._graph_fusion import GraphFusion


@shared_docs
class GBS(GraphFusion):
    """Graph-based multi-view clustering that takes every view's graph whole.

    One unified graph U is learned from the nearest-neighbour graphs S_v of all views, each weighted
    by how well it agrees with U, until U falls into `n_clusters` connected components: the
    clusters. It is CI-GMVC with nothing set aside as inconsistent.

    Parameters
    ----------
    {common}
    {graph}
    updates : {"published", "paper", "exact"}, default="published"
        "published" follows the published program, whose U is an approximate minimiser; "exact" is
        the exact one. "paper" differs from "published" in CI-GMVC only.
    {loop}

    Attributes
    ----------
    {learned}
    {fused}

    References
    ----------
    H. Wang, Y. Yang, B. Liu and H. Fujita, "A study of graph-based system for multi-view
    clustering", Knowledge-Based Systems 163, 2019.

    Examples
    --------
    >>> from manyview import GBS
    >>> from manyview.datasets import make_blob_views
    >>> data = make_blob_views(random_state=0)
    >>> model = GBS(n_clusters=5).fit(data.views)
    >>> model.converged_, len(set(model.labels_.tolist()))
    (True, 5)
    """
