"""SNF: similarity network fusion."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import reduce
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray
from manyview.graphs import (
    AFFINITY_REACH,
    Affinity,
    FitSize,
    Neighbors,
    aligned_weights,
    scale_rows,
    united_pattern,
)
from manyview.inputs import Scaling, ViewColumns
from manyview.methods._base import MultiViewClusterer
from manyview.methods._constraints import AFFINITY, COMMON, integer
from manyview.methods._docs import shared_docs
from manyview.methods._fused_graph import FusedGraph, fused_results, view_affinities
from manyview.methods._memory_model import candidate_stages, pair_stages
from manyview.methods._predict_mixin import PredictMixin
from manyview.runtime import Estimate


@shared_docs
@dataclass(eq=False, repr=False)
class SNF(PredictMixin, MultiViewClusterer):
    """Similarity network fusion: each view's similarities diffuse through those of the others.

    P_v are the similarities of all samples in view v, S_v those of each sample to its k most
    similar ones, rows scaled to sum 1. In every round P_v becomes S_v M_v S_v' + I, where M_v is
    the mean of the other views' P. The mean of all P_v, scaled and symmetric, is clustered.

    Up to `max_dense_samples` samples the result is that of the authors' program: O(V N^2) memory
    and O(V k N^2) time per round. With more samples similarities are kept between samples that are
    among the k most similar of each other in any view; what diffuses elsewhere is dropped. Then
    memory is O(V^2 k N), and clusters are similar, not the same (docs/compared-methods.md).

    The paper leaves scaling to the user; here it is "auto", as in `ConsensusGraph`.

    Parameters
    ----------
    {common}
    {affinity}
    max_iter : int, default=20
        Rounds; all are run.

    Attributes
    ----------
    {learned}
    {fused_graph}
    n_iter_ : int

    See Also
    --------
    NEMO : Fuses similarities to neighbours, also of samples that lack views.
    WNN : Weighs the views per sample.
    ConsensusGraph : The default method.

    References
    ----------
    B. Wang, A. M. Mezlini, F. Demir, M. Fiume, Z. Tu, M. Brudno, B. Haibe-Kains and A. Goldenberg,
    "Similarity network fusion for aggregating data types on a genomic scale", Nature Methods 11,
    2014.

    Examples
    --------
    >>> from manyview import SNF
    >>> from manyview.datasets import make_blob_views
    >>> model = SNF(5, random_state=0).fit(make_blob_views(random_state=0).views)
    >>> int(model.labels_.max())
    4
    """

    _constraints = COMMON | AFFINITY | {"max_iter": integer(1)}
    _auto_neighbors = 20

    n_clusters: int | str = 8
    _: KW_ONLY
    n_neighbors: Neighbors = "auto"
    max_iter: int = 20
    resolution: float | None = None
    neighbor_search: str = "auto"
    scaling: Scaling = "auto"
    views: ViewColumns = None
    max_dense_samples: int = 2000
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the samples; X is as in `CIGMVC.fit`, y is ignored."""
        with self._running() as run, self._backend(run) as backend:
            views = self._read(backend, X)
            backend.check_memory(self._fit_size(views), self._memory, type(self).__name__)
            all_pairs = views.n_samples <= self.max_dense_samples
            found = view_affinities(
                views, self._graph_options(), run, squared=False, all_pairs=all_pairs
            )
            self.neighbor_search_ = found.searches
            with run.stage("fusion"):
                fuse = _fuse_dense if found.all_pairs else _fuse_sparse
                graph, view_graphs = fuse(found.affinities, found.n_neighbors, self.max_iter)
            fused = FusedGraph(graph, view_graphs, found.order)
            self._learned(fused_results(fused, views, run, self.resolution, self._settled))
        self.n_iter_ = self.max_iter
        return self

    def _memory(self, size: FitSize) -> Estimate:
        if size.n_samples <= self.max_dense_samples:
            return pair_stages(size, "fusion", max(len(size.views) + 6, 10))
        edge = 100 + 24 * len(size.views)  # P_v twice, S_v, and sums on the way
        return candidate_stages(size, AFFINITY_REACH, fusion=edge * size.graph_edges)


def _fuse_dense(
    affinities: list[Affinity], n_neighbors: Sequence[int], n_rounds: int
) -> tuple[csr_array, list[csr_array]]:
    """The fused similarities of all samples, and S_v of every view. Removes the affinities."""
    P, S = [], []
    for k in n_neighbors:
        affinity = affinities.pop(0)
        own = affinity.values / affinity.values.sum(axis=1, keepdims=True)
        P.append((own + own.T) / 2)
        S.append(scale_rows(affinity.strongest(P[-1], k)))
    for _ in range(n_rounds):
        total = reduce(np.add, P)
        for v, view in enumerate(S):
            P[v] = _diffused(view, _others(total, P[v], len(P)))
    fused = reduce(np.add, P)
    del P
    fused /= fused.sum(axis=1, keepdims=True)
    fused = (fused + fused.T) / 2
    fused[np.diag_indices(len(fused))] += 0.5
    return csr_array(fused), S


def _others(total: FloatArray, own: FloatArray, n_views: int) -> FloatArray:
    """The mean of all other views; of one view, itself."""
    return own if n_views == 1 else (total - own) / (n_views - 1)


def _diffused(S: csr_array, M: FloatArray) -> FloatArray:
    """S M S' + I of a symmetric M."""
    found = S @ np.ascontiguousarray((S @ M).T)
    found[np.diag_indices(len(found))] += 1.0
    return np.asarray(found)


def _fuse_sparse(
    affinities: list[Affinity], n_neighbors: Sequence[int], n_rounds: int
) -> tuple[csr_array, list[csr_array]]:
    """The same on the union of all S_v and their transposes."""
    from manyview import _kernels

    strongest = [_strongest(affinities.pop(0), k) for k in n_neighbors]
    start = [csr_array(graph.maximum(graph.T)) for graph in strongest]
    S = [scale_rows(graph) for graph in strongest]
    indptr, indices = united_pattern(start)
    P = np.ascontiguousarray(aligned_weights(indptr, indices, start))
    n, n_views = len(indptr) - 1, len(S)
    diagonal = np.repeat(np.arange(n), np.diff(indptr)) == indices
    for _ in range(n_rounds):
        total, diffused = P.sum(axis=0), np.empty_like(P)
        for own, view, out in zip(P, S, diffused, strict=True):
            M = _others(total, own, n_views)
            _kernels.diffuse(indptr, indices, M, view.indptr, view.indices, view.data, out)
        P = diffused
        P[:, diagonal] += 1.0
    fused = scale_rows(csr_array((P.sum(axis=0), indices, indptr), shape=(n, n)))
    fused = csr_array((fused + fused.T) / 2)
    fused.setdiag(fused.diagonal() + 0.5)
    return fused, S


def _strongest(affinity: Affinity, k: int) -> csr_array:
    """Each sample's k largest similarities, scaled by both samples' sums."""
    sums = affinity.values.sum(axis=1)
    scaled = affinity.values * (1 / sums[:, None] + 1 / sums[affinity.indices]) / 2
    return affinity.strongest(scaled, k)
