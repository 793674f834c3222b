"""WNN: weighted nearest neighbours."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, vstack
from scipy.special import softmax

from manyview._typing import FloatArray, IntArray
from manyview.graphs import FitSize, NeighborSearch, nearest, rows_in_order, warn_of_no_edges
from manyview.inputs import (
    CanonicalOrder,
    DenseRows,
    Scaling,
    SparseRows,
    ViewColumns,
    Views,
    canonical_order,
)
from manyview.methods._base import MultiViewClusterer
from manyview.methods._constraints import COMMON, FUSED, integer
from manyview.methods._docs import shared_docs
from manyview.methods._fused_graph import FusedGraph, fused_results
from manyview.methods._memory_model import candidate_stages, eigenvector_bytes
from manyview.methods._predict_mixin import PredictMixin
from manyview.runtime import Estimate, Run

# As in Seurat and muon: samples that decide the width of a kernel, and nearest samples of each view
# among which the neighbours are looked for.
_WIDTH_SAMPLES, _CANDIDATES = 20, 200
# Keeps the ratio of two affinities finite; as in Seurat and muon.
_EPSILON = 1e-4
# Edges with a smaller Jaccard index are left out; as in Seurat.
_FEWEST_SHARED = 1 / 15
# Rows at a time.
_BLOCK = 256


@shared_docs
@dataclass(eq=False, repr=False)
class WNN(PredictMixin, MultiViewClusterer):
    """Weighted nearest neighbours: every sample trusts the view that predicts it best.

    A view's weight for a sample is large if its neighbours in this view predict its features there
    better than its neighbours in other views do. The similarity of two samples is the mean over the
    views by these weights. Two samples are joined if they share enough of their k most similar
    samples; the weight of the edge is the Jaccard index of both sets.

    Memory is O(V m N), m = 200 candidates per view and sample.

    The paper leaves scaling to the user; here it is "auto", as in `ConsensusGraph`.

    Parameters
    ----------
    {common}
    {fused_parameters}

    Attributes
    ----------
    {learned}
    {fused_graph}
    sample_view_weights_ : array of shape (n_samples, n_views)
        The weight of each view for each sample; rows sum to 1.
    view_weights_ : array of shape (n_views,)
        The mean over samples.

    See Also
    --------
    SNF : Lets similarities diffuse between the views.
    ConsensusGraph : The default method, with one weight per view.

    References
    ----------
    Y. Hao and 25 others, "Integrated analysis of multimodal single-cell data", Cell 184, 2021.

    Examples
    --------
    >>> from manyview import WNN
    >>> from manyview.datasets import make_blob_views
    >>> model = WNN(5, random_state=0).fit(make_blob_views(random_state=0).views)
    >>> model.sample_view_weights_.shape
    (300, 3)
    """

    _constraints = COMMON | FUSED | {"n_neighbors": integer(1, "auto")}
    _auto_neighbors = 20

    n_clusters: int | str = 8
    _: KW_ONLY
    n_neighbors: int | str = "auto"
    resolution: float | None = None
    neighbor_search: str = "auto"
    scaling: Scaling = "auto"
    views: ViewColumns = None
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the samples; X is as in `CIGMVC.fit`, y is ignored."""
        with self._running() as run, self._backend(run) as backend:
            views = self._read(backend, X)
            backend.check_memory(self._fit_size(views), self._memory, type(self).__name__)
            order = canonical_order(views)
            spaces = self._spaces(views, order, run)
            position = np.argsort(order.views)
            self.neighbor_search_ = [spaces[p].search for p in position]
            with run.stage("fusion"):
                weights = sample_view_weights(spaces)
                k = spaces[0].n_neighbors
                graph = shared_neighbors(_most_similar(spaces, weights, k))
                graphs = [_binary(space.neighbors) for space in spaces]
            fused = FusedGraph(graph, graphs, order)
            self._learned(fused_results(fused, views, run, self.resolution, self._settled))
            self.sample_view_weights_ = order.by_sample(weights)[:, position]
            self.view_weights_ = weights.mean(axis=0)[position]
        return self

    def _spaces(self, views: Views, order: CanonicalOrder, run: Run) -> list["_Space"]:
        """The views, in canonical order."""
        k = self._graph_options().neighbors_for(views.n_samples, views.names[0])
        m = min(max(_CANDIDATES, k), views.n_samples - 1)
        found = []
        for v, own in zip(order.views, rows_in_order(views, order), strict=True):
            with run.stage("neighbors"):
                near = nearest(own, m, self.neighbor_search, run.seed)
                found.append(_Space.of(own, near.indices, near.sq_distances, k, near.search))
            if not found[-1].sigma.any():
                warn_of_no_edges(views.names[v], "all samples are equal")
        return found

    def _memory(self, size: FitSize) -> Estimate:
        reach = max(_CANDIDATES, size.n_neighbors or 0) / max(size.n_neighbors or 0, 1)
        return candidate_stages(size, reach, eigenvectors=eigenvector_bytes(size))


@dataclass(frozen=True)
class _Space:
    """A view as a space with a kernel: exp(-(d - d_1) / (sigma - d_1)), at most 1.

    d_1 is a sample's distance to its nearest neighbour.
    """

    rows: DenseRows | SparseRows
    candidates: IntArray  # (n_samples, m): nearest first
    n_neighbors: int
    nearest: FloatArray  # (n_samples,): d_1
    sigma: FloatArray
    search: NeighborSearch

    @classmethod
    def of(
        cls,
        rows: DenseRows | SparseRows,
        near: IntArray,
        sq_distances: FloatArray,
        k: int,
        search: NeighborSearch,
    ) -> "_Space":
        sigma = _bandwidths(rows, near[:, :k], np.sqrt(sq_distances[:, k - 1]))
        return cls(rows, near, k, np.sqrt(sq_distances[:, 0]), sigma, search)

    @property
    def neighbors(self) -> IntArray:
        return self.candidates[:, : self.n_neighbors]

    def kernel(self, samples: slice, distances: FloatArray) -> FloatArray:
        """Affinities from the distances (n, m) of some samples to others."""
        first = self.nearest[samples, None]
        gap = np.maximum(distances - first, 0.0)
        width = np.broadcast_to(self.sigma[samples, None] - first, gap.shape)
        limit = np.where(gap > 0, np.inf, 0.0)  # of a width of 0
        return np.exp(-np.divide(gap, width, out=limit, where=width > 0))


def _bandwidths(
    rows: DenseRows | SparseRows, neighbors: IntArray, farthest: FloatArray
) -> FloatArray:
    """The mean distance of each sample to 20 others that share the fewest neighbours with it, but
    at least one; of equals the farthest. `farthest` is for samples without such others."""
    graph = _binary(neighbors)
    reverse, sigma = csr_array(graph.T), farthest.copy()
    for some in _blocks(len(neighbors)):
        shared: Any = (graph[some] @ reverse).tocoo()
        i, j = shared.row + some.start, shared.col
        other = i != j
        i, j, count = i[other], j[other], shared.data[other]
        distances = np.sqrt(rows.sq_distances(i, j[:, None]))[:, 0]
        order = np.lexsort((-distances, count, i))
        i, distances = i[order], distances[order]
        rank = np.arange(len(i)) - np.searchsorted(i, i)
        i, distances = i[rank < _WIDTH_SAMPLES], distances[rank < _WIDTH_SAMPLES]
        total, number = np.bincount(i, distances), np.bincount(i)
        found = np.flatnonzero(number)
        sigma[found] = total[found] / number[found]
    return sigma


def sample_view_weights(spaces: Sequence[_Space]) -> FloatArray:
    """(n_samples, V): how much better each view's own neighbours predict than those of others."""
    ratios = []
    for space in spaces:
        own = _predicted(space, space)
        others = [_predicted(space, other) for other in spaces if other is not space]
        ratios.append(own / (np.max(others, axis=0) + _EPSILON) if others else own)
    return np.asarray(softmax(np.column_stack(ratios), axis=1))


def _predicted(space: _Space, other: _Space) -> FloatArray:
    """Affinity of every sample to the mean of its neighbours in another view."""
    shares = _binary(other.neighbors) / other.n_neighbors
    found = np.empty(shares.shape[0])
    for some in _blocks(len(found)):
        distances = space.rows.distances_to_means(some, shares[some])
        found[some] = space.kernel(some, distances[:, None])[:, 0]
    return found


def _most_similar(spaces: Sequence[_Space], weights: FloatArray, k: int) -> IntArray:
    """(n_samples, k): the most similar of the nearest samples in all views."""
    found = np.empty((len(weights), k), dtype=np.intp)
    for some in _blocks(len(weights)):
        candidates = np.sort(np.hstack([space.candidates[some] for space in spaces]), axis=1)
        own = np.arange(some.start, some.start + len(candidates))
        similarity = np.zeros(candidates.shape)
        for space, weight in zip(spaces, weights[some].T, strict=True):
            distances = np.sqrt(space.rows.sq_distances(own, candidates))
            similarity += weight[:, None] * space.kernel(some, distances)
        similarity[:, 1:][candidates[:, 1:] == candidates[:, :-1]] = -1.0
        best = np.argsort(-similarity, axis=1, kind="stable")[:, :k]
        found[some] = np.take_along_axis(candidates, best, axis=1)
    return found


def shared_neighbors(neighbors: IntArray) -> csr_array:
    """Jaccard index of the neighbours of any two samples, each counted among its own."""
    n, k = neighbors.shape
    graph = _binary(np.hstack([np.arange(n)[:, None], neighbors]))
    reverse = csr_array(graph.T)
    blocks = []
    for some in _blocks(n):
        shared = csr_array(graph[some] @ reverse)
        shared.data = shared.data / (2 * (k + 1) - shared.data)
        shared.data[shared.data < _FEWEST_SHARED] = 0.0
        shared.eliminate_zeros()
        blocks.append(shared)
    return csr_array(vstack(blocks))


def _binary(neighbors: IntArray) -> csr_array:
    n, k = neighbors.shape
    starts = np.arange(0, n * k + 1, k)
    graph = csr_array((np.ones(n * k), neighbors.ravel(), starts), shape=(n, n))
    graph.sort_indices()
    return graph


def _blocks(n: int) -> Iterator[slice]:
    for start in range(0, n, _BLOCK):
        yield slice(start, min(start + _BLOCK, n))
