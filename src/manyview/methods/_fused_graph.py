"""From one graph fused of all views to labels: what SNF, NEMO and WNN share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from manyview._typing import IntArray
from manyview.graphs import (
    Affinity,
    GraphOptions,
    NeighborSearch,
    Stack,
    ViewGraphs,
    expand_graph,
    joined_graph,
    lone_affinity,
    scale_rows,
    scaled_affinity,
    warn_of_no_edges,
)
from manyview.inputs import CanonicalOrder, Views, canonical_order, view_rows
from manyview.runtime import Run
from manyview.spectral import (
    kmeans_labels,
    leiden_labels,
    normalized_embedding,
    relabel_by_first_sample,
)


@dataclass(frozen=True)
class FusedGraph:
    """A symmetric graph, and those that it was made of; samples and views in canonical order."""

    graph: csr_array
    view_graphs: Sequence[csr_array]
    order: CanonicalOrder


def fused_results(
    fused: FusedGraph,
    views: Views,
    run: Run,
    resolution: float | None,
    settle: Callable[[Callable[[], Stack], Run], int],
) -> dict[str, Any]:
    """Attributes of a fitted estimator; `settle` gives the number of clusters, unless there is a
    `resolution`."""
    # A sample's similarity to itself tells of no cluster.
    graph, order = without_diagonal(fused.graph), fused.order
    one = ViewGraphs((graph,), replace(order, views=np.zeros(1, dtype=np.intp)), "unified graph")
    bridges, shown, n_clusters = one.bridges, fused.graph, 0
    if resolution is None:
        n_clusters = settle(one.stack, run)
        graph, bridges = joined_graph(graph, order, views, n_clusters, run)
    if len(bridges):
        graph = shown = csr_array((graph + graph.T) / 2)
    by_view = [fused.view_graphs[position] for position in np.argsort(order.views)]
    return _clusters(graph, order, n_clusters, resolution, run) | {
        "unified_graph_": one.by_sample(shown),
        "view_graphs_": [one.by_sample(scale_rows(without_diagonal(own))) for own in by_view],
        "bridges_": bridges,
    }


def _clusters(
    graph: csr_array, order: CanonicalOrder, n_clusters: int, resolution: float | None, run: Run
) -> dict[str, Any]:
    """Leiden clusters, or k-means on the spectral embedding."""
    if resolution is not None:
        with run.stage("labels"):
            labels = leiden_labels(graph, resolution, run.seed)
        n_clusters = int(labels.max()) + 1
    with run.stage("eigenvectors"):
        embedding = normalized_embedding(graph, n_clusters, run.rng)
    if resolution is None:
        with run.stage("labels"):
            labels = kmeans_labels(embedding, n_clusters, run.seed)
    return {
        "labels_": relabel_by_first_sample(order.by_sample(labels)),
        "embedding_": order.by_sample(embedding),
        "n_clusters_": n_clusters,
    }


def without_diagonal(graph: csr_array) -> csr_array:
    """A copy without edges from samples to themselves."""
    return csr_array(graph - diags_array(graph.diagonal()))


@dataclass(frozen=True)
class ViewAffinities:
    """Similarities of each view's own samples, in canonical order of samples and views."""

    affinities: list[Affinity]
    n_neighbors: Sequence[int]
    samples: Sequence[IntArray | None]  # the rows of each view; None for all
    all_pairs: bool
    order: CanonicalOrder

    @property
    def searches(self) -> list[NeighborSearch]:
        """How neighbours were found, in the order of the input."""
        return [self.affinities[position].search for position in np.argsort(self.order.views)]

    def between_all(self, graphs: Sequence[csr_array]) -> list[csr_array]:
        """The graphs with empty rows and columns for samples that a view lacks."""
        n = self.order.n_samples
        return [
            graph if own is None else expand_graph(graph, own, n)
            for graph, own in zip(graphs, self.samples, strict=True)
        ]


def view_affinities(
    views: Views, options: GraphOptions, run: Run, *, squared: bool, all_pairs: bool
) -> ViewAffinities:
    """The scaled exponential kernel of every view."""
    order = canonical_order(views)
    found, numbers, samples = [], [], []
    for v in order.views:
        name, own, matrix = views.names[v], None, views.matrices[v][order.samples]
        if views.present is not None:
            own = np.flatnonzero(views.present[order.samples, v])
            matrix = matrix[own]
        k, affinity = 1, lone_affinity(matrix.shape[0])
        if own is None or len(own) > 2:  # else no neighbour is nearer than another one
            k = options.of_view(v, views.names).neighbors_for(matrix.shape[0], name)
            rows, search = view_rows(matrix, views.scalings[v]), options.search
            with run.stage("neighbors"):
                affinity = scaled_affinity(
                    rows, k, squared=squared, all_pairs=all_pairs, search=search, seed=run.seed
                )
        run.log("view '%s': similarities, %s", name, affinity.search)
        if not affinity.informative:
            warn_of_no_edges(name, "all samples are equal, or fewer than 3")
        found.append(affinity)
        numbers.append(k)
        samples.append(own)
    return ViewAffinities(found, numbers, samples, all_pairs, order)
