"""What CI-GMVC and its angular variant share: graphs split in two, and what the rest tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from manyview._typing import FloatArray, IntArray
from manyview.inputs import CanonicalOrder
from manyview.methods._fusion import Fusion, Penalty, Stack
from manyview.methods._graph_fusion import GraphFusion
from manyview.runtime import check_real


class SplitFusion(GraphFusion):
    """Fusion of graphs that are split into a consistent and an inconsistent part."""

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

    def _remember(self, stack: Stack, fusion: Fusion, layout: CanonicalOrder) -> None:
        super()._remember(stack, fusion, layout)
        places = np.argsort(layout.views)
        said = stack.by_sample(stack.said())[:, places]
        apart = stack.by_sample(stack.apart(fusion.consistent))[:, places]
        self.sample_disagreement_ = np.divide(
            apart, said, out=np.full_like(said, np.nan), where=said > 0
        )
        totals = said.sum(axis=0)
        self.view_disagreement_ = np.divide(
            apart.sum(axis=0), totals, out=np.full_like(totals, np.nan), where=totals > 0
        )

    def _trust(self) -> FloatArray:
        return np.asarray(np.nan_to_num(1 - self.sample_disagreement_, nan=0.0))

    def edge_disagreement(self, view: int | str) -> csr_array:
        """How much of every edge of a view's graph is inconsistent, from 0 to 1.

        Parameters
        ----------
        view : int or str
            Number or name of the view.

        Returns
        -------
        csr_array of shape (n_samples, n_samples)
            The share e_ij / s_ij; 0, as where there is no edge, is not stored.
        """
        check_is_fitted(self)
        number = self._view_number(view)
        apart, whole = self.inconsistent_graphs_[number], self.view_graphs_[number]
        places = np.searchsorted(_keys(whole), _keys(apart))
        shares = np.minimum(apart.data / whole.data[places], 1.0)
        return csr_array((shares, apart.indices, apart.indptr), shape=apart.shape, copy=True)

    def _view_number(self, view: int | str) -> int:
        names = self.view_names_
        if isinstance(view, str) and view in names:
            return names.index(view)
        if (
            isinstance(view, (int, np.integer))
            and not isinstance(view, bool)
            and 0 <= view < len(names)
        ):
            return int(view)
        raise ValueError(
            f"view={view!r}; expected a number from 0 to {len(names) - 1} or one of "
            f"{', '.join(names)}"
        )


def _keys(graph: csr_array) -> IntArray:
    """One number an entry, growing along rows and columns."""
    n = graph.shape[0]
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(graph.indptr))
    return np.asarray(rows * n + graph.indices)
