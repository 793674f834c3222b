"""NEMO: neighbourhood-based multi-omics clustering."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import BoolArray
from manyview.graphs import AFFINITY_REACH, Affinity, FitSize, Neighbors, scale_rows
from manyview.inputs import CanonicalOrder, Scaling, ViewColumns, Views
from manyview.methods._base import MultiViewClusterer
from manyview.methods._constraints import AFFINITY, COMMON
from manyview.methods._docs import shared_docs
from manyview.methods._fused_graph import FusedGraph, fused_results, view_affinities
from manyview.methods._memory_model import candidate_stages, eigenvector_bytes, pair_stages
from manyview.methods._predict_mixin import PredictMixin
from manyview.runtime import Estimate


@shared_docs
@dataclass(eq=False, repr=False)
class NEMO(PredictMixin, MultiViewClusterer):
    """NEMO: the mean of the views' similarities, relative to each sample's neighbourhood.

    In each view a sample keeps its k largest similarities, scaled to sum 1: S_v. The fused
    similarity of two samples is the mean of S_v + S_v' over the views that have both. Samples with
    no view in common have no edge.

    Memory is O(V k N).

    The paper leaves scaling to the user; here it is "auto", as in `ConsensusGraph`.

    Parameters
    ----------
    {common}
    {affinity}

    Attributes
    ----------
    {learned}
    {fused_graph}

    See Also
    --------
    SNF : Lets similarities diffuse between the views.
    ConsensusGraph : The default method.

    References
    ----------
    N. Rappoport and R. Shamir, "NEMO: cancer subtyping by integration of partial multi-omic data",
    Bioinformatics 35, 2019.

    Examples
    --------
    >>> from manyview import NEMO
    >>> from manyview.datasets import make_blob_views
    >>> data = make_blob_views(60, random_state=0)
    >>> NEMO(5, random_state=0).fit_predict(data.views).shape
    (60,)
    """

    _constraints = COMMON | AFFINITY
    _takes_missing = True
    _auto_neighbors = 20

    n_clusters: int | str = 8
    _: KW_ONLY
    n_neighbors: Neighbors = "auto"
    resolution: float | None = None
    neighbor_search: str = "auto"
    scaling: Scaling = "auto"
    views: ViewColumns = None
    max_dense_samples: int = 2000
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: Any = None, *, present: Any = None) -> Self:
        """Cluster the samples; X and `present` are as in `CIGMVC.fit`, y is ignored."""
        with self._running() as run, self._backend(run) as backend:
            views = self._read(backend, X, present)
            backend.check_memory(self._fit_size(views), self._memory, type(self).__name__)
            all_pairs = views.n_samples <= self.max_dense_samples
            found = view_affinities(
                views, self._graph_options(), run, squared=True, all_pairs=all_pairs
            )
            self.neighbor_search_ = found.searches
            with run.stage("fusion"):
                relative = [_strongest(found.affinities.pop(0), k) for k in found.n_neighbors]
                graphs = found.between_all(relative)
                graph = _mean(graphs, _present(views, found.order))
            fused = FusedGraph(graph, graphs, found.order)
            self._learned(fused_results(fused, views, run, self.resolution, self._settled))
        return self

    def _memory(self, size: FitSize) -> Estimate:
        if size.n_samples <= self.max_dense_samples:
            return pair_stages(size, "similarities", len(size.views) + 1.5)
        return candidate_stages(size, AFFINITY_REACH, eigenvectors=eigenvector_bytes(size))


def _strongest(affinity: Affinity, k: int) -> csr_array:
    """S_v: each sample's k largest similarities, scaled to sum 1."""
    return scale_rows(affinity.strongest(affinity.values, k))


def _present(views: Views, order: CanonicalOrder) -> BoolArray | None:
    if views.present is None:
        return None
    return np.asarray(views.present[np.ix_(order.samples, order.views)])


def _mean(graphs: list[csr_array], present: BoolArray | None) -> csr_array:
    """The mean of S_v + S_v' over the views that have both samples."""
    total = csr_array(sum(graphs[1:], graphs[0]))
    total = csr_array(total + total.T)
    shared: Any = len(graphs)
    if present is not None:
        rows = np.repeat(np.arange(len(present)), np.diff(total.indptr))
        shared = (present[rows] & present[total.indices]).sum(axis=1)
    total.data /= shared
    return total
