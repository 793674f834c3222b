"""Spectral clustering of all views' features side by side."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

from manyview.graphs import FitSize, ViewSize, concatenated_graph, joined
from manyview.inputs import Scaling, ViewColumns
from manyview.methods._base import MultiViewClusterer
from manyview.methods._constraints import COMMON, ONE_GRAPH
from manyview.methods._docs import shared_docs
from manyview.methods._mean_graph import mean_graph_results
from manyview.methods._memory_model import candidate_bytes, graph_bytes, spectral_memory
from manyview.methods._predict_mixin import PredictMixin
from manyview.runtime import Estimate


@shared_docs
@dataclass(eq=False, repr=False)
class SpectralConcat(PredictMixin, MultiViewClusterer):
    """Normalised spectral clustering of the concatenated features.

    Each view is normalised first, then all features are taken for one view. There is no
    ``graph="precomputed"``: graphs have no features.

    Works on sparse graphs: memory O(V k N), seconds at 20,000 samples.

    Parameters
    ----------
    {common}
    {graph}

    Attributes
    ----------
    {learned}
    view_graphs_ : list of csr_array
        The one graph of all features.
    bridges_ : array of shape (n_bridges, 2)
        Pairs of samples joined because the graph had too many components; usually none.

    See Also
    --------
    SpectralAverage : Joins the graphs rather than the features.
    SpectralView : One view alone.

    Examples
    --------
    >>> from manyview import SpectralConcat
    >>> from manyview.datasets import make_blob_views
    >>> data = make_blob_views(60, random_state=0)
    >>> SpectralConcat(5, random_state=0).fit_predict(data.views).shape
    (60,)
    """

    _constraints = COMMON | ONE_GRAPH

    n_clusters: int | str = 8
    _: KW_ONLY
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
            if self.graph == "precomputed":
                raise ValueError(
                    "graph='precomputed' with SpectralConcat; expected features to put side by side"
                )
            views = self._read(backend, X)
            backend.check_memory(self._fit_size(views), self._memory, type(self).__name__)
            graph, rows = concatenated_graph(views, self._graph_options(), run)
            self.neighbor_search_ = list(graph.searches)
            self._settle_n_clusters(graph.stack, run)
            graph = joined(graph, lambda: [rows], self.n_clusters_, run)
            self._learned(mean_graph_results(graph, self.n_clusters_, run))
        return self

    def _memory(self, size: FitSize) -> Estimate:
        """One view with the features of all."""
        n = size.n_samples
        joined = replace(size, views=(ViewSize(n, sum(view.width for view in size.views)),))
        dense = spectral_memory(joined)
        if not any(view.is_sparse for view in size.views):
            return dense
        # Rows stay as they are; scores of some rows with all samples are computed block by block.
        rows = 24 * sum(view.n_values for view in size.views)
        neighbors = graph_bytes(joined) + rows + candidate_bytes(size, n) + 7 * max(2**25, 8 * n)
        return Estimate({**dense.stages, "neighbors": neighbors})
