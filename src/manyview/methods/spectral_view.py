"""Spectral clustering of one of the views."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from manyview._typing import FloatArray
from manyview.graphs import FitSize
from manyview.inputs import Views
from manyview.methods._docs import shared_docs
from manyview.methods._graph_base import ViewGraphs
from manyview.methods._spectral_baseline import SpectralBaseline
from manyview.runtime import Run


@shared_docs
class SpectralView(SpectralBaseline):
    """Normalised spectral clustering of one view alone.

    Works on sparse graphs: memory O(V k N), seconds at 20,000 samples.

    Parameters
    ----------
    {common}
    {graph}
    view : int or str, default=0
        Which view: its number, from 0, or its name.

    Attributes
    ----------
    {learned}
    view_graphs_ : list of csr_array
        The graph of the one view.
    bridges_ : array of shape (n_bridges, 2)
        Pairs of samples joined because the graph fell into too many pieces; usually none.

    Examples
    --------
    >>> from manyview import SpectralView
    >>> from manyview.datasets import make_blob_views
    >>> data = make_blob_views(60, random_state=0)
    >>> SpectralView(5, random_state=0).fit_predict(data.views).shape
    (60,)
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        view: int | str = 0,
        n_neighbors: int | str = "auto",
        graph: str = "adaptive",
        neighbor_search: str = "auto",
        normalize: str | None = "auto",
        views: Sequence[int] | None = None,
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
        self.view = view

    def _fit_size(self, views: Views) -> FitSize:
        v = self._view_number(views)
        return super()._fit_size(Views((views.names[v],), (views.matrices[v],)))

    def _view_number(self, views: Views) -> int:
        names = list(views.names)
        view: Any = self.view
        number = isinstance(view, Integral) and not isinstance(view, bool)
        if isinstance(view, str) and view in names:
            return names.index(view)
        if number and 0 <= view < len(names):
            return int(view)
        raise ValueError(
            f"view={self.view!r}; expected one of {names} or a number from 0 to {len(names) - 1}"
        )

    def _chosen_graphs(self, views: Views, run: Run) -> ViewGraphs:
        self._chosen = v = self._view_number(views)
        return self._view_graphs(Views((views.names[v],), (views.matrices[v],)), run)

    def _voting_weights(self) -> FloatArray:
        return np.asarray(np.arange(len(self._views.names)) == self._chosen, dtype=np.float64)
