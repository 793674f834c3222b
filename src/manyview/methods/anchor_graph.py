"""AnchorGraph: spectral clustering by the similarities of all samples to a few, the anchors."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, diags_array

from manyview._typing import FloatArray, IntArray
from manyview.graphs import (
    FitSize,
    edge_rules,
    graph_from_neighbors,
    nearest_reference,
    neighbor_weights,
    warn_of_no_edges,
)
from manyview.inputs import (
    CanonicalOrder,
    Scaling,
    ViewColumns,
    Views,
    canonical_order,
    fit_scaler,
    statistics_sample,
)
from manyview.methods._base import MultiViewClusterer
from manyview.methods._constraints import COMMON, NUMBER, integer
from manyview.methods._docs import shared_docs
from manyview.methods._memory_model import EDGE, candidate_bytes, scaling_bytes
from manyview.methods._predict_mixin import PredictMixin
from manyview.methods.consensus import VECTORS_PER_CLUSTER
from manyview.runtime import Estimate, some_eigenpairs
from manyview.spectral import kmeans_labels, relabel_by_first_sample, soft_embedding


@shared_docs
@dataclass(eq=False, repr=False)
class AnchorGraph(PredictMixin, MultiViewClusterer):
    """Spectral clustering of samples by their nearest anchors, in time linear in N.

    Anchors are random samples, the same in all views. In each view a sample is joined to its k
    nearest anchors, with the adaptive weights of the other graphs. The mean Z of these weights over
    the views, with columns divided by the roots of their sums, has as left singular vectors the
    eigenvectors of the normalised graph Z D^-1 Z' between all samples, which is never formed.
    k-means clusters a soft embedding of them, as in `ConsensusGraph`.

    For data beyond what graphs between all samples can do: memory O(k V N), time O(N m d), m the
    number of anchors, d the features of all views. Samples may be missing in views.

    On the mean of 20 real data sets, ``scaling="auto"`` gave better clusters than "paper", and
    random anchors better ones than the centres and quadratic programs of LMVSC
    (docs/compared-methods.md).

    Parameters
    ----------
    {common}
    n_anchors : int, default=1000
        m. All samples if there are fewer.
    n_neighbors : int or "auto", default="auto"
        k, the nearest anchors of a sample; also the samples that vote in `predict`. "auto" is 20,
        or one less than there are anchors.

    Attributes
    ----------
    {learned}
    anchors_ : array of shape (n_anchors,)
        Which samples are the anchors.

    See Also
    --------
    SpectralAverage : By neighbours among all samples, not among anchors.
    MultiViewKMeans : Also without a graph of all samples.

    References
    ----------
    X. Chen and D. Cai, "Large scale spectral clustering with landmark-based representation", AAAI
    2011, for one view. Z. Kang et al., "Large-scale multi-view subspace clustering in linear time",
    AAAI 2020 (LMVSC).

    Examples
    --------
    >>> from manyview import AnchorGraph
    >>> from manyview.datasets import make_blob_views
    >>> data = make_blob_views(2000, random_state=0)
    >>> AnchorGraph(5, n_anchors=200, random_state=0).fit(data.views).anchors_.shape
    (200,)
    """

    _constraints = COMMON | NUMBER | {"n_anchors": integer(2), "n_neighbors": integer(1, "auto")}
    _takes_missing = True
    _auto_neighbors = 20

    n_clusters: int = 8
    _: KW_ONLY
    n_anchors: int = 1000
    n_neighbors: int | str = "auto"
    scaling: Scaling = "auto"
    views: ViewColumns = None
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: Any = None, *, present: Any = None) -> Self:
        """Cluster the samples; X and `present` are as in `CIGMVC.fit`, y is ignored."""
        with self._running() as run, self._backend(run) as backend:
            views = self._read(backend, X, present)
            k = self._nearest_anchors(views.n_samples)
            backend.check_memory(self._fit_size(views), self._memory, type(self).__name__)
            order = canonical_order(views)
            count = min(int(self.n_anchors), views.n_samples)
            anchors = np.sort(run.rng.choice(views.n_samples, count, replace=False))
            with run.stage("neighbors"):
                Z = _row_stochastic(
                    [_anchor_weights(views, int(v), order, anchors, k) for v in order.views]
                )
            with run.stage("eigenvectors"):
                embedding = _embedding(Z, self.n_clusters_)
            with run.stage("labels"):
                labels = kmeans_labels(embedding, self.n_clusters_, run.seed)
            self.labels_ = relabel_by_first_sample(order.by_sample(labels))
            self.embedding_ = order.by_sample(embedding)
            self.anchors_ = order.samples[anchors]
        return self

    def _nearest_anchors(self, n_samples: int) -> int:
        """k, checked against the number of anchors."""
        count = min(int(self.n_anchors), n_samples)
        if self.n_clusters_ > count:
            raise ValueError(
                f"n_clusters={self.n_clusters}, but there are {count} anchors; expected at most "
                "n_anchors clusters"
            )
        if self.n_neighbors == "auto":
            return min(self._auto_neighbors, count - 1)
        if int(self.n_neighbors) >= count:
            raise ValueError(
                f"n_neighbors={self.n_neighbors}, but there are {count} anchors; expected 1 to "
                f"{count - 1}"
            )
        return int(self.n_neighbors)

    def _memory(self, size: FitSize) -> Estimate:
        """A view's rows and their candidates; then the weights, several times, and vectors."""
        n, k = size.n_samples, size.n_neighbors or 0
        edges = EDGE * n * k * len(size.views)
        scaled = max(scaling_bytes(view, self.scaling) for view in size.views)
        vectors = 8 * n * VECTORS_PER_CLUSTER * size.n_clusters
        gram = 8 * 4 * min(int(self.n_anchors), n) ** 2
        return Estimate(
            {
                "neighbors": edges + scaled + candidate_bytes(size, n),
                "eigenvectors": 4 * edges + 4 * vectors + gram,
            }
        )


def _anchor_weights(
    views: Views, v: int, order: CanonicalOrder, anchors: IntArray, k: int
) -> csr_array:
    """(n_samples, n_anchors), in canonical order: weights of a view's k nearest anchors.

    Rows sum to at most 1. Those of samples that the view lacks, or has no features of, are empty,
    and so are columns of such anchors.
    """
    n, scaling, matrix = views.n_samples, views.scalings[v], views.matrices[v]
    own = np.arange(n)
    if views.present is not None:
        own = np.flatnonzero(views.present[order.samples, v])
    scaler = fit_scaler(statistics_sample(matrix, chosen=order.samples[own]), scaling)
    if (empty := scaler.empty(matrix)) is not None:
        own = own[~empty[order.samples[own]]]
    columns = np.flatnonzero(np.isin(anchors, own))
    if len(columns) < 2:  # none is nearer than another one
        return csr_array((n, len(anchors)))
    rows = scaler.rows(matrix, order.samples[own])
    first = np.searchsorted(own, anchors[columns])
    rows = rows.take(np.concatenate([first, np.arange(len(own))]))
    k = min(k, len(columns) - 1)
    near, distances = nearest_reference(rows, len(columns), k + 1, "exact", 0)
    weights = graph_from_neighbors(
        near[:, :-1], neighbor_weights(distances, "adaptive"), distances[:, -1], len(columns),
        edge_rules(scaling),
    )  # fmt: skip
    if weights.nnz == 0:
        warn_of_no_edges(views.names[v])
    starts = np.zeros(n + 1, dtype=np.int64)
    starts[own + 1] = np.diff(weights.indptr)
    places = columns.astype(np.int32)[weights.indices]
    return csr_array((weights.data, places, np.cumsum(starts)), shape=(n, len(anchors)))


def _row_stochastic(parts: list[csr_array]) -> csr_array:
    """The sum of the views' weights, rows scaled to sum 1; rows without weights stay empty."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    sums = total.sum(axis=1)
    total.data /= np.repeat(np.where(sums > 0, sums, 1.0), np.diff(total.indptr))
    return total


def _embedding(Z: csr_array, n_clusters: int) -> FloatArray:
    """Soft embedding of the left singular vectors of Z D^-1/2, D the sums of its columns."""
    sums = Z.sum(axis=0)
    B = csr_array(Z @ diags_array(1 / np.sqrt(np.where(sums > 0, sums, 1.0))))
    gram = (csr_array(B.T) @ B).toarray()
    m = len(gram)
    count = min(VECTORS_PER_CLUSTER * n_clusters, m)
    squares, right = some_eigenpairs(gram, max(m - count - 1, 0), m - 1)
    squares, right = squares[::-1], right[:, ::-1]
    roots = np.sqrt(np.maximum(squares[:count], np.finfo(np.float64).eps))
    left = np.asarray(B @ right[:, :count]) / roots
    # 1 - s^2 is an eigenvalue of the normalised Laplacian of Z D^-1 Z'.
    values = np.append(np.maximum(1 - squares, 0.0), np.inf)[: count + 1]
    return soft_embedding(left, values, n_clusters)
