"""The estimator that GBS and CI-GMVC share: graphs, loop, labels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from manyview._typing import IntArray
from manyview._version import __version__
from manyview.graphs import FitSize, GraphStack
from manyview.inputs import CanonicalOrder, Views, content_digest
from manyview.methods._fusion import UPDATES, Fusion, Penalty, Stack, fuse
from manyview.methods._graph_base import GraphClusterer
from manyview.methods._memory_model import fusion_memory
from manyview.methods._predict_mixin import plain_params
from manyview.runtime import (
    Checkpoint,
    Estimate,
    Run,
    check_choice,
    check_integer,
    check_real,
    require_extra,
)
from manyview.spectral import in_order_of_first, kmeans_labels


class GraphFusion(GraphClusterer):
    """Fit by learning one unified graph whose connected components are the clusters."""

    # Whether the embedding is that of normalised spectral clustering.
    _angular = False
    _checkpoint: Checkpoint | None
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

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        present: Any = None,
        checkpoint: str | Path | None = None,
        client: Any = None,
    ) -> Self:
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
        checkpoint : path of a folder, optional
            What the fit has so far is kept there: the graph of every view, and the state of the
            loop as often as that takes a tenth of the time. The same fit begun again with the same
            folder goes on from there, to the same result bit by bit. Needs a number for
            `random_state`. What was kept is of no more use after the fit; `clear_checkpoint`
            removes it.
        client : distributed.Client, optional
            Fit on the workers of this Dask cluster. Views may then be Dask arrays or data frames
            as well, or paths of Parquet files that the workers can read. Graphs stay on the workers
            and are not kept; labels, embedding and disagreement are.

        Returns
        -------
        self
        """
        with self._running() as run:
            if client is not None:
                if checkpoint is not None:
                    raise ValueError(
                        "checkpoint with a client; expected one of them: a cluster makes what is "
                        "lost with a worker again by itself"
                    )
                with require_extra("a fit on a cluster", "dask"):
                    from manyview.distributed import fit_spread
                fit_spread(self, X, present, client, run)
                return self
            views = self._read_views(X, present)
            self._checkpoint = None
            if checkpoint is not None:
                self._checkpoint = Checkpoint(checkpoint, self._fit_in_words(views))
            run.checkpoint = self._checkpoint
            graphs = self._view_graphs(views, run)
            self.bridges_ = graphs.bridges
            layout = graphs.layout
            with run.stage("fusion"):
                stack = graphs.stack()
            del graphs  # the stack has all that they had
            self._learn(stack, layout, run)
        return self

    def _learn(self, stack: Stack, layout: CanonicalOrder, run: Run) -> None:
        """From the graphs of the views to labels."""
        with run.stage("fusion"):
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
            self._remember(stack, fusion, layout)
            if not isinstance(stack, GraphStack):  # its graphs will be gone
                places = layout.views
                self._confidence = stack.confidence(
                    self.labels_, self._voting_weights()[places], self._trust()[:, places]
                )

    def clear_checkpoint(self) -> None:
        """Remove what the fit kept, and its folder if nothing else is in it."""
        checkpoint: Checkpoint | None = getattr(self, "_checkpoint", None)
        if checkpoint is not None:
            checkpoint.clear()

    def _fit_in_words(self, views: Views) -> dict[str, Any]:
        """What a checkpoint must be of to be gone on from."""
        if not isinstance(self.random_state, Integral):
            raise ValueError(
                f"random_state={self.random_state!r} with a checkpoint; expected a number, so that "
                "the fit can go on as it began"
            )
        params = plain_params(self)
        del params["verbose"]
        return {
            "manyview": __version__,
            "method": type(self).__name__,
            "n_samples": views.n_samples,
            "widths": list(views.widths),
            "content": content_digest(views, between_samples=self._takes_similarities()),
            **params,
        }

    def _memory(self, size: FitSize) -> Estimate:
        return fusion_memory(size, splits=self._penalty() is not None, angular=self._angular)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("updates", self.updates, UPDATES)
        check_real("lambda_init", self.lambda_init, 0, above=True)
        check_integer("max_iter", self.max_iter, 1)
        check_real("tol", self.tol, 0, above=True)

    def _complete(self, fusion: Fusion, stack: Stack, seed: int) -> IntArray:
        """Labels by k-means on the embedding, for a loop that ended without C components."""
        warnings.warn(
            f"the loop ended after {len(fusion.history) - 1} rounds ({fusion.stop_reason}) with "
            f"{fusion.spectrum.n_components} components in the unified graph, not "
            f"n_clusters={self._C}; labels come from k-means on the embedding",
            ConvergenceWarning,
            stacklevel=3,
        )
        fusion.spectrum.warn_unless_converged()
        labels = kmeans_labels(fusion.embedding, self._C, seed)
        return in_order_of_first(stack.by_sample(labels))

    def _remember(self, stack: Stack, fusion: Fusion, layout: CanonicalOrder) -> None:
        places = np.argsort(layout.views).tolist()
        if isinstance(stack, GraphStack):
            self.view_graphs_ = [stack.matrix(stack.weights[p]) for p in places]
            self.unified_graph_ = stack.matrix(fusion.unified)
            self.consistent_graphs_ = [stack.matrix(fusion.consistent[p]) for p in places]
            self.inconsistent_graphs_ = [
                stack.matrix(stack.weights[p] - fusion.consistent[p]) for p in places
            ]
        self.view_weights_ = layout.by_view(fusion.view_weights)
        self.embedding_ = stack.by_sample(fusion.embedding)
        self.history_ = [
            replace(round_, view_weights=tuple(round_.view_weights[p] for p in places))
            for round_ in fusion.history
        ]
        self.n_iter_ = len(fusion.history) - 1
        self.stop_reason_ = fusion.stop_reason
