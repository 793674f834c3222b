"""Spectral clustering of one of the views."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from manyview.graphs import FitSize
from manyview.inputs import Scaling, ViewColumns, Views
from manyview.methods._base import MultiViewClusterer, view_index
from manyview.methods._constraints import COMMON, ONE_GRAPH
from manyview.methods._docs import shared_docs
from manyview.methods._mean_graph import mean_graph_results
from manyview.methods._memory_model import spectral_memory
from manyview.methods._predict_mixin import PredictMixin
from manyview.runtime import Estimate


@shared_docs
@dataclass(eq=False, repr=False)
class SpectralView(PredictMixin, MultiViewClusterer):
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
        Pairs of samples joined because the graph had too many components; usually none.

    See Also
    --------
    SpectralAverage : All views.
    SpectralConcat : All features side by side.

    Examples
    --------
    >>> from manyview import SpectralView
    >>> from manyview.datasets import make_blob_views
    >>> data = make_blob_views(60, random_state=0)
    >>> SpectralView(5, random_state=0).fit_predict(data.views).shape
    (60,)
    """

    _constraints = COMMON | ONE_GRAPH

    n_clusters: int | str = 8
    _: KW_ONLY
    view: int | str = 0
    n_neighbors: int | str = "auto"
    graph: str = "adaptive"
    neighbor_search: str = "auto"
    scaling: Scaling = "paper"
    views: ViewColumns = None
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the samples; X is as in `CIGMVC.fit`, y is ignored."""
        with self._running() as run, self._backend(run) as backend:
            views = self._read(backend, X)
            v = view_index(self.view, views.names)
            chosen = Views(
                (views.names[v],), (views.matrices[v],), scalings=views.scalings[v : v + 1]
            )
            graphs = self._graphs(backend, chosen)
            self._learned(mean_graph_results(graphs, self.n_clusters_, run))
            self.view_weights_ = np.eye(len(views.names))[v]
        return self

    def _memory(self, size: FitSize) -> Estimate:
        return spectral_memory(size)
