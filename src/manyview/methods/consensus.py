"""The default method: a weighted mean of the views' graphs, and a soft spectral embedding of it.

Our own, in no paper. docs/quality.md has what was measured and what was tried.
"""

from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from manyview._typing import FloatArray, IntArray
from manyview.graphs import (
    ClusterWeightByView,
    EdgeWeightByView,
    FitSize,
    Neighbors,
    Stack,
    WeightedMean,
    expand_graph,
    expand_rows,
    without_silent,
)
from manyview.inputs import Scaling, ViewColumns
from manyview.methods._backend import Backend
from manyview.methods._base import MultiViewClusterer
from manyview.methods._constraints import COMMON, GRAPH, integer, optional, real
from manyview.methods._docs import shared_docs
from manyview.methods._fusion_results import (
    edge_disagreement,
    graph_results,
    graphs_within_unified,
    inconsistent_graphs,
)
from manyview.methods._fusion_steps import ExcessWeightByView, ProjectRows, lookup_copy
from manyview.methods._memory_model import consensus_memory
from manyview.methods._predict_mixin import PredictMixin
from manyview.runtime import Estimate, RowShare, Run, check_integer
from manyview.spectral import (
    MAX_CLUSTERS,
    ROUGH,
    SOFT,
    ClusterNumber,
    Eigenpairs,
    Spectrum,
    is_large,
    kmeans_labels,
    label_stability,
    laplacian_spectrum,
    leiden_labels,
    relabel_by_first_sample,
    scaled_graph,
    soft_embedding,
)

#: Eigenvectors per cluster. The later ones count less; see `soft_embedding`.
VECTORS_PER_CLUSTER = 2
# Limits of the share of edges inside clusters that counts for the weight of a view.
_EDGES_INSIDE = (0.01, 0.99)
# How much a squared distance of 1 in the embedding takes from an edge: the mean edge of 20.
_PULL = 0.05


@shared_docs
@dataclass(eq=False, repr=False)
class ConsensusGraph(PredictMixin, MultiViewClusterer):
    """Clusters of the views' consensus: the default method of `manyview.cluster`.

    Each view is scaled to suit its kind of data, and becomes a nearest-neighbour graph. The mean of
    these graphs is embedded by twice as many eigenvectors as there are clusters, and k-means gives
    first clusters. A view whose graph these clusters cut little gets a large weight; one that they
    cut like a random graph gets hardly any. The weighted mean of the graphs, embedded and clustered
    in the same way, gives the clusters. In it, edges of samples that are missing from some views
    weigh less. At the end each graph is split, as in `CIGMVC`, into a part that is consistent with
    the unified graph and an inconsistent rest, the disagreement.

    Parameters
    ----------
    {common}
    {graph}
    resolution : float, optional
        If given, the Leiden algorithm finds the clusters of the weighted mean graph, and
        `n_clusters` is ignored. A higher resolution gives more clusters; 1 is usual. It needs
        igraph (``pip install 'manyview[leiden]'``).
    n_resamples : int, default=10
        Resamples that `stability_` is measured by; 0 for none.

    Attributes
    ----------
    {learned}
    stability_ : array of shape (n_samples,)
        How well a sample's cluster holds together: the Jaccard index of its cluster and its cluster
        in a resample, corrected for chance and never below 0; the mean over resamples. 1 is always
        the same cluster, 0 is chance. A resample gives every sample a random weight (Bayesian
        bootstrap). Not set for ``n_resamples=0``.
    cluster_stability_ : array of shape (n_clusters,)
        The mean over the samples of each cluster.
    unified_graph_ : csr_array of shape (n_samples, n_samples)
        The weighted mean of the views' graphs, without edges between samples that the embedding
        separates. Rows sum to 1.
    view_graphs_, consistent_graphs_, inconsistent_graphs_ : list of csr_array
        S_v, A_v = min(S_v, U) and E_v = S_v - A_v of every view; the last two are made when they
        are asked for. Weights between more than 20,000 samples are in single precision.
    view_weights_ : array of shape (n_views,)
        sqrt(e / (1 - e)), scaled to mean 1. e is the share of a cluster's edge weight in the view
        that stays inside the cluster, beyond chance, as a mean over the first clusters; at least
        0.01 and at most 0.99.
    neighbor_search_ : list of NeighborSearch
        Per view: how the neighbours were found, why, and with what recall.
    bridges_ : array of shape (n_bridges, 2)
        Pairs of samples joined because the graphs had too many components; usually none.
    {disagreement}

    See Also
    --------
    CIGMVC : The paper's method, which splits the views' graphs.
    SpectralAverage : The plain mean of the graphs.
    cluster : The same method with ids, a report and files.

    Examples
    --------
    >>> from manyview import ConsensusGraph
    >>> from manyview.datasets import make_conflict_views
    >>> data = make_conflict_views(random_state=0)
    >>> model = ConsensusGraph(n_clusters=4, random_state=0).fit(data.views)
    >>> int(model.view_disagreement_.argmax())  # 30 % of its samples follow another cluster there
    0
    """

    _constraints = (
        COMMON
        | GRAPH
        | {
            "n_resamples": integer(0),
            "resolution": optional(real(0, above=True)),
        }
    )
    _doc_page = "quality.md"
    _takes_missing = True
    _auto_neighbors = 20
    _limits_neighbors = True
    _stacks_blockwise = True

    n_clusters: int | str = 8
    _: KW_ONLY
    n_neighbors: Neighbors = "auto"
    graph: str = "adaptive"
    neighbor_search: str = "auto"
    scaling: Scaling = "auto"
    resolution: float | None = None
    n_resamples: int = 10
    views: ViewColumns = None
    random_state: Any = None
    verbose: int = 0

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        present: Any = None,
        checkpoint: str | Path | None = None,
        client: Any = None,
    ) -> Self:
        """Cluster the samples; parameters are those of `CIGMVC.fit`.

        A checkpoint has the graphs of the views; what follows is computed again.
        """
        if client is not None and self.resolution is not None:
            raise ValueError(
                f"resolution={self.resolution!r} with a client; expected a number of clusters, as "
                "the Leiden algorithm needs the whole graph on one machine"
            )
        with self._running() as run, self._backend(run, client, checkpoint) as backend:

            def learn(stack: Stack) -> dict[str, Any]:
                found: dict[str, Any] = stack.compute(
                    consensus_results, run, self.n_clusters_, self.n_resamples, self.resolution
                )
                if backend.is_distributed:
                    return found
                return of_all(found, stack, self._views.n_samples)

            self._learned(
                backend.run_fit(
                    lambda: self._graphs(backend, self._read(backend, X, present)), learn
                )
            )
            self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def _separate_graphs(self, backend: Backend, views: Any) -> Any:
        graphs = backend.graphs(views)
        if backend.is_distributed or self._takes_similarities:
            return graphs
        return without_silent(graphs, views, 3 if self._finds_n_clusters else self.n_clusters_)

    def _find_n_clusters(self, stack: Stack, run: Run) -> int:
        if self.resolution is None:
            return self._suggested(stack, run)
        graph = stack.symmetric(stack.edges(WeightedMean(np.ones(stack.n_views))))
        return int(leiden_labels(graph, self.resolution, run.seed).max()) + 1

    def suggest_n_clusters(
        self, X: Any, *, present: Any = None, max_clusters: int = MAX_CLUSTERS, client: Any = None
    ) -> ClusterNumber:
        """The suggested number of clusters, with the evidence; X is as in `fit`."""
        check_integer("max_clusters", max_clusters, 2)
        with self._running() as run, self._backend(run, client) as backend:
            return backend.run_fit(
                lambda: self._separate_graphs(backend, self._read(backend, X, present)),
                lambda stack: self._number_from(stack, run, max_clusters),
            )

    edge_disagreement = edge_disagreement
    consistent_graphs_ = cached_property(graphs_within_unified)
    inconsistent_graphs_ = cached_property(inconsistent_graphs)

    def _memory(self, size: FitSize) -> Estimate:
        return consensus_memory(size, VECTORS_PER_CLUSTER * size.n_clusters)


def consensus_results(
    stack: Stack, run: Run, n_clusters: int, n_resamples: int, resolution: float | None = None
) -> dict[str, Any]:
    """Attributes of a fitted estimator by name."""
    equal = np.ones(stack.n_views)
    first = _clusters(stack, equal, n_clusters, run, resolution, tolerance=ROUGH)
    labels = first.labels
    start = first.spectrum.warm_start if is_large(stack.n_samples) else None
    del first  # graphs and eigenvectors are large
    weights = view_weights(stack, labels)
    last = _clusters(stack, weights, n_clusters, run, resolution, start)
    del start
    labels = relabel_by_first_sample(last.labels, stack.share, stack.order)
    embedding = last.embedding
    found = {"view_weights_": weights[np.argsort(stack.view_order)]}
    if stack.keeps_embedding:
        found["embedding_"] = stack.by_sample(embedding)
    if n_resamples:
        with run.stage("stability"):
            stability = last.stability(run.seed, n_resamples)
        found["stability_"] = stack.by_sample(stability)
        found["cluster_stability_"] = _mean_by_cluster(stack.share, stability, labels)
    del last
    with run.stage("split"):
        U = _unified(stack, weights, embedding)
        del embedding
        # The part of S_v that minimises ||U - A_v|| is the smaller of both.
        inconsistent = stack.rows(ExcessWeightByView(), U)
    with run.stage("labels"):
        return found | graph_results(stack, U, labels, weights, inconsistent)


def of_all(found: dict[str, Any], stack: Stack, n: int) -> dict[str, Any]:
    """Results of all n samples from those of the stack, which silent samples are left out of."""
    if stack.n_samples == n:
        return found
    known = np.sort(stack.order)
    largest = int(np.bincount(found["labels_"]).argmax())
    labels = expand_rows(found["labels_"], known, n, largest)
    out = found | {
        "labels_": relabel_by_first_sample(labels),
        "embedding_": expand_rows(found["embedding_"], known, n, 0.0),
        "sample_disagreement_": expand_rows(found["sample_disagreement_"], known, n, np.nan),
        "unified_graph_": expand_graph(found["unified_graph_"], known, n),
        "view_graphs_": [expand_graph(graph, known, n) for graph in found["view_graphs_"]],
    }
    if "stability_" in found:
        out["stability_"] = expand_rows(found["stability_"], known, n, 0.0)
        out["cluster_stability_"] = _mean_by_cluster(RowShare(n), out["stability_"], out["labels_"])
    return out


@dataclass(frozen=True)
class Clustering:
    """Clusters of the rows of a graph, and what they were found from."""

    labels: IntArray
    embedding: FloatArray
    graph: Any  # the symmetric mean graph
    spectrum: Spectrum
    resolution: float | None  # where the Leiden algorithm found them

    def stability(self, seed: int, n_resamples: int) -> FloatArray:
        given = (self.graph, self.spectrum, self.labels, seed, n_resamples)
        if self.resolution is None:
            return label_stability(*given)
        return label_stability(*given, partial(leiden_labels, self.graph, self.resolution, seed))


def view_weights(stack: Stack, labels: IntArray) -> FloatArray:
    """The root of the odds e / (1 - e) of each view, scaled to mean 1.

    e is the share of the weight of a cluster's edges that stays inside it, beyond what edges
    between random samples would have; the mean over the clusters. It is near 0 for a view of noise.
    """
    step = ClusterWeightByView(labels, stack.share.count(labels))
    inside, touching = np.moveaxis(stack.total(step), 2, 0)
    share = np.divide(inside, touching, out=np.zeros_like(inside), where=touching > 0)
    total = touching.sum(axis=1, keepdims=True)
    chance = touching / np.where(total > 0, total, 1.0)
    beyond = np.divide(share - chance, 1 - chance, out=np.ones_like(share), where=chance < 1)
    e = np.clip(beyond.mean(axis=1), *_EDGES_INSIDE)
    weights = np.sqrt(e / (1 - e))
    return np.asarray(weights / weights.mean())


def _clusters(
    stack: Stack,
    weights: FloatArray,
    n_clusters: int,
    run: Run,
    resolution: float | None,
    start: Eigenpairs | None = None,
    tolerance: float = SOFT,
) -> Clustering:
    """Clusters of the weighted mean graph; eigenvectors of a similar one may be a `start`."""
    dtype = np.float32 if is_large(stack.n_samples) else np.float64
    with run.stage("eigenvectors"):
        graph = stack.symmetric(stack.edges(WeightedMean(weights)), dtype)
    if resolution is not None:
        with run.stage("labels"):
            labels = leiden_labels(graph, resolution, run.seed)
            n_clusters = int(labels.max()) + 1
    else:
        graph = scaled_graph(graph)
    with run.stage("eigenvectors"):
        count = min(VECTORS_PER_CLUSTER * n_clusters, stack.n_samples)
        spectrum = laplacian_spectrum(
            graph, count, run.rng, normalized=True, start=start, soft_tolerance=tolerance
        )
    with run.stage("labels"):
        embedding = soft_embedding(spectrum.embedding, spectrum.values, n_clusters, spectrum.rows)
        if resolution is None:
            labels = kmeans_labels(
                embedding, n_clusters, run.seed, by_distance=True, share=spectrum.rows
            )
    return Clustering(labels, embedding, graph, spectrum, resolution)


def _mean_by_cluster(share: RowShare, values: FloatArray, labels: IntArray) -> FloatArray:
    by_cluster = partial(np.bincount, minlength=share.count(labels))
    sums = share.total(by_cluster, labels, values)
    return np.asarray(sums / share.total(by_cluster, labels))


def _unified(stack: Stack, weights: FloatArray, embedding: FloatArray) -> Any:
    """Equation 4 of the paper: the weighted mean, less what the embedding separates."""
    shares = weights / weights.sum()
    total = stack.rows(EdgeWeightByView()) @ shares
    tiny = np.finfo(np.float64).tiny  # smaller numbers have no inverse
    factor = 1 / np.where(total > 0, np.maximum(total, tiny), 1.0)
    step = ProjectRows(lookup_copy(embedding, stack.n_samples), _PULL, factor, shares)
    return stack.edges(step, stack.view_graphs)
