"""Spectral clustering of the mean of the views' graphs: the baseline that learns nothing."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from scipy.sparse import csr_array

from manyview.graphs import FitSize, Neighbors
from manyview.inputs import Scaling, ViewColumns
from manyview.methods._base import MultiViewClusterer
from manyview.methods._constraints import COMMON, GRAPH
from manyview.methods._docs import shared_docs
from manyview.methods._mean_graph import mean_graph, mean_graph_results
from manyview.methods._memory_model import spectral_memory
from manyview.methods._predict_mixin import PredictMixin
from manyview.runtime import Estimate


@shared_docs
@dataclass(eq=False, repr=False)
class SpectralAverage(PredictMixin, MultiViewClusterer):
    """Normalised spectral clustering of the mean of all views' graphs.

    Works on sparse graphs: memory O(V k N), seconds at 20,000 samples.

    Parameters
    ----------
    {common}
    {graph}

    Attributes
    ----------
    {learned}
    view_graphs_ : list of csr_array
        The graph of every view.
    bridges_ : array of shape (n_bridges, 2)
        Pairs of samples joined because the graph had too many components; usually none.

    See Also
    --------
    ConsensusGraph : Weighs the views.
    SpectralConcat : Joins the features rather than the graphs.

    Examples
    --------
    >>> from manyview import SpectralAverage
    >>> from manyview.datasets import make_blob_views
    >>> data = make_blob_views(60, random_state=0)
    >>> SpectralAverage(5, random_state=0).fit_predict(data.views).shape
    (60,)
    """

    _constraints = COMMON | GRAPH
    _takes_missing = True

    n_clusters: int | str = 8
    _: KW_ONLY
    n_neighbors: Neighbors = "auto"
    graph: str = "adaptive"
    neighbor_search: str = "auto"
    scaling: Scaling = "paper"
    views: ViewColumns = None
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: Any = None, *, present: Any = None) -> Self:
        """Cluster the samples; X and `present` are as in `CIGMVC.fit`, y is ignored."""
        with self._running() as run, self._backend(run) as backend:
            graphs = self._graphs(backend, self._read(backend, X, present))
            self._learned(mean_graph_results(graphs, self.n_clusters_, run))
        return self

    def average_graph(self, X: Any, *, present: Any = None) -> csr_array:
        """The mean of the views' graphs, symmetric and without bridges; X is as in `fit`."""
        with self._running() as run, self._backend(run) as backend:
            views = self._read(backend, X, present)
            backend.check_memory(self._fit_size(views), self._memory, type(self).__name__)
            return mean_graph(backend.graphs(views))

    def _memory(self, size: FitSize) -> Estimate:
        return spectral_memory(size)
