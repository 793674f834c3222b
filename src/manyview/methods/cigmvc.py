"""CI-GMVC: consistency-aware and inconsistency-aware graph-based multi-view clustering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manyview._checks import check_real
from manyview.methods._fusion import Penalty
from manyview.methods._graph_fusion import GraphFusion


class CIGMVC(GraphFusion):
    """Consistency-aware and inconsistency-aware graph-based multi-view clustering.

    The nearest-neighbour graph S_v of every view is split into a part A_v that is consistent with
    the other views and an inconsistent rest E_v. One unified graph U is learned from the consistent
    parts until it falls into `n_clusters` connected components: the clusters.

    The defaults are those of the published program, which made the paper's tables.

    Parameters
    ----------
    n_clusters : int, default=8
        C, the number of clusters. `labels_` has exactly this many, or `fit` raises.
    n_neighbors : int, "auto" or "all", default="auto"
        k, the neighbours of a sample in each view's graph. "auto" is 15 as in the paper, or
        n_samples - 2 where that is less; "all" a complete graph, not for `graph="adaptive"`.
    graph : {"adaptive", "binary", "cosine", "heat", "precomputed"}, default="adaptive"
        How the edges of the views' graphs S_v are weighted. "adaptive" is the paper's: in
        proportion to how much closer a neighbour is than the (k+1)-th. "heat" is
        exp(-d^2 / 2t), t the mean squared distance between neighbours. Rows are scaled to sum 1.
        With "precomputed", X holds square matrices of similarities, used as they are but for rows
        that sum to more than 1: they are scaled to 1. Whether a sample resembles itself says
        nothing about clusters: a diagonal is best left 0.
    normalize : {"auto", "zscore", "unit", None}, default="auto"
        What is done to each sample within each view before distances are measured. "zscore"
        subtracts the sample's mean over its features and divides by its standard deviation, as in
        the paper; "unit" scales it to length 1. "auto" is "zscore", except that views of one or
        two columns, of which that would leave a sign at most, are taken as they are.
    views : sequence of int, optional
        Widths of the views, left to right, where X is one matrix.
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
    lambda_init : float, default=1.0
        lambda, the weight of the rank constraint, at the start. It doubles in a round that left
        too few components and halves after too many.
    max_iter : int, default=100
        Rounds at most.
    tol : float, default=1e-10
        Sums of Laplacian eigenvalues below this are taken for 0.
    random_state : int, RandomState instance or None, default=None
        Seed of the eigen-solver's start vectors (more than 500 samples) and of k-means (a loop
        that did not converge).
    verbose : int, default=0
        Log each stage and round if positive.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Clusters, numbered in the order of their first samples.
    unified_graph_ : csr_array of shape (n_samples, n_samples)
        U. Its connected components, edges taken both ways, are the clusters.
    view_graphs_, consistent_graphs_, inconsistent_graphs_ : list of csr_array
        S_v, A_v and E_v = S_v - A_v of every view.
    view_weights_ : array of shape (n_views,)
        alpha_v = 1 / (2 ||U - A_v||_F), U and A_v being those the last round started from: higher
        for views that agree with U. Not scaled to sum 1.
    embedding_ : array of shape (n_samples, n_clusters)
        F, eigenvectors of the Laplacian of U for its smallest eigenvalues; where the loop ended
        with too many components, those of the last round that had fewer.
    history_ : list of Round
        What every round left behind, round 0 being the start; ``pandas.DataFrame(history_)``
        makes a table of it.
    n_iter_ : int
        Rounds run.
    converged_ : bool
        Whether U has exactly `n_clusters` components. Where it has not, labels come from k-means
        on the embedding, and a ConvergenceWarning said so.
    stop_reason_ : {"components", "eigenvalues", "max_iter", "lambda_limit"}
        "eigenvalues" where they say that U has C components, but links too faint for them are
        left.
    bridges_ : array of shape (n_bridges, 2)
        Pairs of samples joined because the views' graphs fell into too many pieces; usually none.
    view_names_ : tuple of str
    n_features_in_ : int
        Columns of all views together.
    feature_names_in_ : array of shape (n_features_in_,)
        Only where X was one data frame.

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
