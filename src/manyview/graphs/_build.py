"""Views -> one similarity graph per view, joined where together they have too many components."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import BoolArray, IntArray
from manyview.graphs._blockwise_stack import BLOCKWISE_ABOVE, BlockwiseStack, blockwise_stack
from manyview.graphs._bridges import Bridges, add_bridges, closest_bridges, union_components
from manyview.graphs._checkpoint import ViewGraph, load_graph, save_graph
from manyview.graphs._components import component_labels
from manyview.graphs._knn import nearest
from manyview.graphs._row_block import reordered, weight_type
from manyview.graphs._stack import GraphStack, stack_graphs
from manyview.graphs._weights import (
    EdgeRules,
    complete_graph,
    edge_rules,
    expand_graph,
    neighbor_graph,
    precomputed_graph,
    scale_rows,
)
from manyview.inputs import (
    CanonicalOrder,
    Rows,
    Views,
    canonical_order,
    count_distinct,
    fit_scaler,
    let_go,
    per_view,
    side_by_side,
    statistics_sample,
    view_rows,
)
from manyview.runtime import Run, warn

#: A number, "auto" or "all"; or one per view, in a list or in a dict by name.
Neighbors: TypeAlias = int | str | Sequence[int | str] | Mapping[str, int | str]
#: Complete graphs store N^2 weights per view; with more samples they are refused.
COMPLETE_LIMIT = 10_000
# Fewer neighbours than this leave graphs in pieces.
_FEWEST = 10
_EQUALLY_FAR = "every sample is equally far from all its neighbours"


@dataclass(frozen=True)
class GraphOptions:
    """How graphs are made from views."""

    n_neighbors: Neighbors
    auto_neighbors: int  # what "auto" stands for where there are enough samples
    weighting: str  # one of `WEIGHTINGS`, or "precomputed"
    search: str  # {"auto", "exact", "approximate"}
    # Whether the pattern of the graphs of many samples is made block by block.
    blockwise: bool = False
    # With this many clusters "auto" is at most the mean size of a cluster, but at least 10.
    n_clusters: int | None = None

    def __post_init__(self) -> None:
        if self.has_complete and self.weighting == "adaptive":
            raise ValueError(
                "n_neighbors='all' with graph='adaptive'; expected a number of neighbours, "
                "or a graph of 'binary', 'cosine' or 'heat' weights"
            )

    @property
    def precomputed(self) -> bool:
        return self.weighting == "precomputed"

    @property
    def has_complete(self) -> bool:
        """Whether the graph of some view is complete."""
        k = self.n_neighbors
        several = list(k.values()) if isinstance(k, Mapping) else k
        return "all" in (several if isinstance(several, list | tuple) else [several])

    def by_view(self, names: Sequence[str]) -> list[int | str]:
        """For every view k or "all"; "auto" is the number it stands for among many samples."""
        found = per_view("n_neighbors", self.n_neighbors, names)
        return [self.auto_neighbors if k == "auto" else k for k in found]

    def of_view(self, v: int, names: Sequence[str]) -> "GraphOptions":
        """The same with the neighbours of one view alone."""
        return replace(self, n_neighbors=per_view("n_neighbors", self.n_neighbors, names)[v])

    def neighbors_for(self, n: int, name: str) -> int:
        """k for a view of n samples; options are those `of_view`."""
        automatic = self.n_neighbors == "auto"
        k = self._auto(n) if automatic else int(self.n_neighbors)  # type: ignore[arg-type]
        if n < 3 and automatic:
            raise ValueError(f"view '{name}' has n_samples={n}; expected at least 3 for a graph")
        if k > n - 2:
            expected = f"expected 1 to {n - 2}" if n > 2 else "expected at least 3 samples"
            raise ValueError(f"n_neighbors={k}, but view '{name}' has n_samples={n}; {expected}")
        return k

    def _auto(self, n: int) -> int:
        k = min(self.auto_neighbors, max(n - 2, 1))
        return k if self.n_clusters is None else min(k, max(n // self.n_clusters, _FEWEST))


@dataclass(frozen=True)
class ViewGraphs:
    """One graph per view, rows in the canonical order of the samples."""

    graphs: tuple[csr_array, ...]  # in the order of the views
    order: CanonicalOrder  # the canonical order
    what: str  # what the graphs are, for messages
    # How the neighbours were found, one entry per view that was searched.
    searches: tuple[Any, ...] = ()
    # Pairs of samples that had to be joined; usually none.
    bridges: IntArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))
    # Rows in an order in which neighbours are close, if a search found one.
    row_order: IntArray | None = None
    # (n_samples, V), whether the view has the sample of that row; None if all have all.
    present: BoolArray | None = None
    blockwise: bool = False  # whether `stack` makes a `BlockwiseStack` of many samples

    def stack(self) -> GraphStack | BlockwiseStack:
        """The graphs on one pattern, views in canonical order."""
        if not self.blockwise or self.order.n_samples <= BLOCKWISE_ABOVE:
            return self.whole_stack()
        return blockwise_stack(*self._in_order(), *self._rows_and_views())

    def whole_stack(self) -> GraphStack:
        """The same, with the whole pattern at a time."""
        order, view_order = self._rows_and_views()
        return replace(stack_graphs(*self._in_order()), order=order, view_order=view_order)

    def _rows_and_views(self) -> tuple[IntArray, IntArray]:
        """The sample in each row, and the view at each position, of a stack."""
        samples = self.order.samples
        return samples if self.row_order is None else samples[self.row_order], self.order.views

    def _in_order(self) -> tuple[list[csr_array], IntArray | None, BoolArray | None]:
        """Graphs and `present` with views in canonical order, and the order of the rows."""
        views = self.order.views
        present = None if self.present is None else self.present[:, views]
        return [self.graphs[v] for v in views], self.row_order, present

    def by_sample(self, graph: csr_array) -> csr_array:
        """A graph with rows and columns in the order of the input."""
        return reordered(graph, np.argsort(self.order.samples))


def view_graphs(views: Views, options: GraphOptions, run: Run) -> ViewGraphs:
    """The similarity graph of every view, not yet joined."""
    order = canonical_order(views, between_samples=options.precomputed)
    what = graphs_in_words(views.names)
    if options.precomputed:
        given = [precomputed_graph(matrix, order.samples) for matrix in views.matrices]
        _warn_of_empty(given, views.names, "it has no edges")
        return ViewGraphs(tuple(given), order, what)
    made = [_saved_or_made(views, v, order, options, run) for v in range(len(views.names))]
    _warn_of_empty([one.graph for one in made], views.names, _EQUALLY_FAR)
    return ViewGraphs(
        graphs=tuple(one.graph for one in made),
        order=order,
        what=what,
        searches=tuple(one.search for one in made if one.search is not None),
        row_order=next((made[v].rows for v in order.views if made[v].rows is not None), None),
        present=None if views.present is None else views.present[order.samples],
        blockwise=options.blockwise,
    )


def concatenated_graph(views: Views, options: GraphOptions, run: Run) -> tuple[ViewGraphs, Rows]:
    """The one graph of all views' features side by side, and the rows it was made from."""
    order = canonical_order(views)
    rows = side_by_side(rows_in_order(views, order))
    made = _graph(rows, "all views", options, run)
    searches = () if made.search is None else (made.search,)
    single = replace(order, views=np.zeros(1, dtype=np.intp))
    what = "graph of all views"
    return ViewGraphs((made.graph,), single, what, searches, row_order=made.rows), rows


def rows_in_order(views: Views, order: CanonicalOrder) -> list[Any]:
    """Scaled rows of all views, samples and views in canonical order."""
    return [view_rows(views.matrices[v], views.scalings[v], order.samples) for v in order.views]


def joined(
    separate: ViewGraphs, make_rows: Callable[[], Sequence[Rows]] | None, n_clusters: int, run: Run
) -> ViewGraphs:
    """The graphs with bridges between components, if their union has more than `n_clusters`.

    `make_rows` gives the scaled rows of the views in canonical order; None for graphs that were
    given, which have no distances to choose bridges by.
    """
    order, present = separate.order, separate.present
    n_components, components = union_components(separate.graphs)
    if n_components <= n_clusters:
        if n_components == order.n_samples and make_rows is not None:  # each its own cluster
            check_distinct(count_distinct(make_rows()), order.n_samples, n_clusters)
        return separate
    if make_rows is None:
        raise ValueError(
            f"n_clusters={n_clusters}, but the precomputed {separate.what} "
            f"{_have(separate.what)} {n_components} connected components; "
            f"expected at most {n_clusters}"
        )
    ordered = None if present is None else present[:, order.views]
    bridges = _bridges(components, make_rows(), ordered, separate.what, n_clusters, run)
    bridged = [
        add_bridges(graph, bridges if present is None else bridges.between(present[:, v]))
        for v, graph in enumerate(separate.graphs)
    ]
    return replace(separate, graphs=tuple(bridged), bridges=order.samples[bridges.pairs])


def joined_graph(
    graph: csr_array, order: CanonicalOrder, views: Views, n_clusters: int, run: Run
) -> tuple[csr_array, IntArray]:
    """As `joined`, for one graph fused of all views: with bridges, and the pairs they join."""
    components = component_labels(graph)
    rows = rows_in_order(views, order)
    check_distinct(count_distinct(rows, n_clusters), order.n_samples, n_clusters)
    if components.max(initial=-1) < n_clusters:
        return graph, np.empty((0, 2), dtype=np.intp)
    present = None if views.present is None else views.present[np.ix_(order.samples, order.views)]
    bridges = _bridges(components, rows, present, "unified graph", n_clusters, run)
    return add_bridges(scale_rows(graph.copy()), bridges), order.samples[bridges.pairs]


def _bridges(
    components: IntArray,
    rows: Sequence[Rows],
    present: BoolArray | None,
    what: str,
    n_clusters: int,
    run: Run,
) -> Bridges:
    """Bridges between too many components; `present` has views in the order of the rows."""
    check_distinct(count_distinct(rows), len(components), n_clusters)
    n_components = int(components.max()) + 1
    with run.stage("bridges"):
        run.log("joining %d components", n_components)
        bridges = closest_bridges(components, rows, present)
    warn_of_bridges(what, n_components, n_clusters)
    return bridges


def check_distinct(n_distinct: int, n_samples: int, n_clusters: int) -> None:
    """Refuse more clusters than there are different samples."""
    if n_distinct < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters}, but only {n_distinct} sample(s) of {n_samples} "
            f"differ; expected 1 to {n_distinct}"
        )


def graphs_in_words(names: Sequence[str]) -> str:
    return "graphs of the views together" if len(names) > 1 else f"graph of view '{names[0]}'"


def warn_of_bridges(what: str, n_components: int, n_clusters: int) -> None:
    warn(
        f"the {what} {_have(what)} {n_components} connected components, more than "
        f"n_clusters={n_clusters}; joined them by their closest pairs of samples",
    )


def warn_of_no_edges(name: str, why: str = _EQUALLY_FAR) -> None:
    warn(f"view '{name}' has no information about any sample: {why}")


def _warn_of_empty(graphs: Sequence[csr_array], names: Sequence[str], why: str) -> None:
    for graph, name in zip(graphs, names, strict=True):
        if graph.nnz == 0:
            warn_of_no_edges(name, why)


def _saved_or_made(
    views: Views, v: int, order: CanonicalOrder, options: GraphOptions, run: Run
) -> ViewGraph:
    saved = None if run.checkpoint is None else load_graph(run.checkpoint, v)
    if saved is not None:
        run.log("view '%s': its graph is read from the checkpoint", views.names[v])
        return saved
    made = _graph_of_view(views, v, order, options, run)
    if run.checkpoint is not None:
        save_graph(run.checkpoint, v, made)
    return made


def _graph_of_view(
    views: Views, v: int, order: CanonicalOrder, options: GraphOptions, run: Run
) -> ViewGraph:
    """A view's graph between all samples; rows of samples that the view lacks are empty."""
    name, n, matrix = views.names[v], views.n_samples, views.matrices[v]
    own = np.arange(n)
    if (samples := views.samples_of(v)) is not None:
        own = np.flatnonzero(np.isin(order.samples, samples))
    scaler = fit_scaler(statistics_sample(matrix, chosen=order.samples[own]), views.scalings[v])
    if (empty := scaler.empty(matrix)) is not None:
        own = own[~empty[order.samples[own]]]
    if len(own) < min(n, 3):  # no neighbour is nearer than another one
        return ViewGraph(csr_array((n, n)), None, None)
    rows = scaler.rows(matrix, order.samples[own])
    let_go(matrix)
    made = _graph(rows, name, options.of_view(v, views.names), run, edge_rules(scaler.name))
    if len(own) == n:
        return made
    row_order = made.rows
    if row_order is not None:
        row_order = np.concatenate([own[row_order], np.setdiff1d(np.arange(n), own)])
    return ViewGraph(expand_graph(made.graph, own, n), row_order, made.search)


def _graph(
    rows: Rows, name: str, options: GraphOptions, run: Run, rules: EdgeRules | None = None
) -> ViewGraph:
    """The graph of some rows."""
    n = rows.n_samples
    with run.stage("neighbors"):
        if options.n_neighbors == "all":
            if n > COMPLETE_LIMIT:
                raise ValueError(
                    f"n_neighbors='all', but view '{name}' has {n} samples and a complete graph "
                    f"stores {n} x {n} weights; expected at most {COMPLETE_LIMIT} samples"
                )
            return ViewGraph(complete_graph(rows, options.weighting), None, None)
        k = options.neighbors_for(n, name)
        near = nearest(rows, k + 1, options.search, run.seed)
        graph = neighbor_graph(near, options.weighting, rows.sq_norms(), rules)
        graph.data = graph.data.astype(weight_type(n), copy=False)
    run.log("view '%s': a graph of %d edges, %s", name, graph.nnz, near.search)
    return ViewGraph(graph, near.order, near.search)


def _have(what: str) -> str:
    return "have" if what.startswith("graphs") else "has"
