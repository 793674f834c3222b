"""The estimator that GBS and CI-GMVC share: graphs, loop, labels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

from sklearn.exceptions import ConvergenceWarning

from manyview._checks import check_choice, check_integer, check_real
from manyview._typing import IntArray
from manyview.graphs import GraphStack, stack_graphs
from manyview.labels import in_order_of_first, kmeans_labels
from manyview.methods._fusion import UPDATES, Fusion, Penalty, fuse
from manyview.methods._graph_base import GraphClusterer


class GraphFusion(GraphClusterer):
    """Fit by learning one unified graph whose connected components are the clusters."""

    # Whether the embedding is that of normalised spectral clustering.
    _angular = False
    _takes_absent = True

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_neighbors: int | str = "auto",
        graph: str = "adaptive",
        neighbor_search: str = "auto",
        normalize: str | None = "auto",
        views: Sequence[int] | None = None,
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
            random_state=random_state,
            verbose=verbose,
        )
        self.updates = updates
        self.lambda_init = lambda_init
        self.max_iter = max_iter
        self.tol = tol

    def _penalty(self) -> Penalty | None:
        """The price of inconsistent parts; None where graphs are not split."""
        return None

    def fit(self, X: Any, y: Any = None, *, present: Any = None) -> Self:
        """Cluster the samples.

        Parameters
        ----------
        X : list, tuple or dict of 2-D tables, or one 2-D table
            Views of the same samples in the same order: arrays, scipy sparse matrices, pandas or
            polars data frames. The keys of a dict name the views. One table is cut into views by
            the parameter `views`, or is a single view. With ``graph="precomputed"`` each table is
            a square matrix of similarities. A row of nothing but NaN is a sample that the view
            lacks; it is clustered from the views that have it.
        y : ignored
        present : boolean array of shape (n_samples, n_views), optional
            False where a view lacks a sample, whatever its row holds.

        Returns
        -------
        self
        """
        with self._running() as run:
            view_graphs = self._view_graphs(self._read_views(X, present), run)
            with run.stage("fusion"):
                stack = stack_graphs(view_graphs.graphs, view_graphs.order, view_graphs.present)
                fusion = fuse(
                    stack,
                    self._C,
                    self._penalty(),
                    updates=self.updates,
                    lambda_init=float(self.lambda_init),
                    max_iter=int(self.max_iter),
                    tol=float(self.tol),
                    run=run,
                    angular=self._angular,
                )
            with run.stage("labels"):
                self.converged_ = fusion.spectrum.n_components == self._C
                if self.converged_:
                    self.labels_ = in_order_of_first(stack.by_sample(fusion.spectrum.components))
                else:
                    self.labels_ = self._complete(fusion, stack, run.seed)
        self.view_graphs_ = list(view_graphs.graphs)
        self.bridges_ = view_graphs.bridges
        self._remember(stack, fusion)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("updates", self.updates, UPDATES)
        check_real("lambda_init", self.lambda_init, 0, above=True)
        check_integer("max_iter", self.max_iter, 1)
        check_real("tol", self.tol, 0, above=True)

    def _complete(self, fusion: Fusion, stack: GraphStack, seed: int) -> IntArray:
        """Labels by k-means on the embedding, for a loop that ended without C components."""
        warnings.warn(
            f"the loop ended after {len(fusion.history) - 1} rounds ({fusion.stop_reason}) with "
            f"{fusion.spectrum.n_components} components in the unified graph, not "
            f"n_clusters={self._C}; labels come from k-means on the embedding",
            ConvergenceWarning,
            stacklevel=3,
        )
        fusion.spectrum.warn_unless_converged()
        return kmeans_labels(stack.by_sample(fusion.embedding), self._C, seed)

    def _remember(self, stack: GraphStack, fusion: Fusion) -> None:
        self.unified_graph_ = stack.matrix(fusion.unified)
        self.consistent_graphs_ = [stack.matrix(values) for values in fusion.consistent]
        self.inconsistent_graphs_ = [
            stack.matrix(whole - part)
            for whole, part in zip(stack.weights, fusion.consistent, strict=True)
        ]
        self.view_weights_ = fusion.view_weights
        self.embedding_ = stack.by_sample(fusion.embedding)
        self.history_ = list(fusion.history)
        self.n_iter_ = len(fusion.history) - 1
        self.stop_reason_ = fusion.stop_reason
