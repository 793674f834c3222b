"""What the methods on nearest-neighbour graphs share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import BoolArray, IntArray, Matrix
from manyview.graphs import (
    SEARCHES,
    WEIGHTINGS,
    FitSize,
    GraphStack,
    ViewSize,
    add_bridges,
    closest_bridges,
    complete_graph,
    given_graph,
    nearest,
    neighbor_graph,
    reordered,
    spread_graph,
    stack_graphs,
    union_pieces,
    view_sizes,
)
from manyview.inputs import CanonicalOrder, Rows, Views, canonical_order
from manyview.methods._base import MultiViewClusterer
from manyview.methods._loop_state import MadeGraph, keep_graph, kept_graph
from manyview.runtime import Run, check_choice, check_integer
from manyview.spectral import MAX_CLUSTERS

EQUALLY_FAR = "every sample is equally far from all its neighbours"
#: No bridges.
NO_PAIRS = np.empty((0, 2), dtype=np.intp)
#: Complete graphs store N^2 weights a view; beyond this many samples they are refused.
COMPLETE_LIMIT = 10_000


@dataclass(frozen=True)
class ViewGraphs:
    """One graph a view between the rows of a layout.

    Attributes
    ----------
    graphs : in the order of the views
    layout : which sample is in which row
    bridges : pairs of samples that had to be joined; usually none
    cells : array of shape (n_samples,), optional
        Rows in an order in which neighbours are near each other, where a search found one.
    present : boolean array of shape (n_samples, V), optional
        Whether a view has the sample of that row; None where all have all.
    """

    graphs: tuple[csr_array, ...]
    layout: CanonicalOrder
    bridges: IntArray
    cells: IntArray | None = None
    present: BoolArray | None = None

    def stack(self) -> GraphStack:
        """The graphs on one pattern, views in the places of the layout."""
        places, samples = self.layout.views, self.layout.samples
        present = None if self.present is None else self.present[:, places]
        stack = stack_graphs([self.graphs[v] for v in places], self.cells, present)
        return replace(stack, order=samples if self.cells is None else samples[self.cells])

    def between_samples(self) -> list[csr_array]:
        """The graph of every view, rows and columns in the order of the samples."""
        return [self.by_sample(graph) for graph in self.graphs]

    def by_sample(self, graph: csr_array) -> csr_array:
        return reordered(graph, np.argsort(self.layout.samples))


class GraphClusterer(MultiViewClusterer):
    """Base of the methods that start from one similarity graph a view."""

    # What n_neighbors="auto" stands for where there are samples enough; the paper's figure.
    _auto_neighbors = 15

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_neighbors: int | str = "auto",
        graph: str = "adaptive",
        neighbor_search: str = "auto",
        normalize: str | None = "auto",
        views: Sequence[int] | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.neighbor_search = neighbor_search
        self.normalize = normalize
        self.views = views
        self.random_state = random_state
        self.verbose = verbose

    def _takes_similarities(self) -> bool:
        return bool(self.graph == "precomputed")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("graph", self.graph, (*WEIGHTINGS, "precomputed"))
        check_choice("neighbor_search", self.neighbor_search, SEARCHES)
        if isinstance(self.n_neighbors, str):
            check_choice("n_neighbors", self.n_neighbors, ("auto", "all"))
            if self.n_neighbors == "all" and self.graph == "adaptive":
                raise ValueError(
                    "n_neighbors='all' with graph='adaptive'; expected a number of neighbours, "
                    "or a graph of 'binary', 'cosine' or 'heat' weights"
                )
        else:
            check_integer("n_neighbors", self.n_neighbors, 1)

    def _fit_size(self, views: Views) -> FitSize:
        size = self._size_of(views.n_samples, view_sizes(views))
        if not self._takes_similarities():
            return size
        edges = tuple(_n_stored(matrix) for matrix in views.matrices)
        return replace(size, n_neighbors=None, edges=edges)

    def _size_of(self, n_samples: int, views: tuple[ViewSize, ...]) -> FitSize:
        """That of graphs that are made from views of these sizes, wherever they are."""
        k = self._auto_neighbors if self.n_neighbors == "auto" else self.n_neighbors
        return FitSize(
            n_samples=n_samples,
            views=views,
            n_clusters=MAX_CLUSTERS if self._finds_n_clusters else int(self.n_clusters),
            finds_n_clusters=self._finds_n_clusters,
            n_neighbors=None if k == "all" else min(int(k), n_samples),
            search=self.neighbor_search,
        )

    def _view_graphs(self, views: Views, run: Run) -> ViewGraphs:
        """The similarity graph of every view, joined where together they leave too many pieces."""
        separate = self._separate_graphs(views, run)
        layout = separate.layout
        graphs = [separate.graphs[v] for v in layout.views]
        self._settle_n_clusters(lambda: stack_graphs(graphs), run)

        def rows() -> list[Rows]:  # made again if they are needed: they can be large
            return [
                self._rows(views.matrices[v][layout.samples], views.names[v]) for v in layout.views
            ]

        what = self._what(views.names)
        return self._join(separate, None if self._takes_similarities() else rows, what, run)

    def _what(self, names: Sequence[str]) -> str:
        """What falls into pieces, in words."""
        return "graphs of the views together" if len(names) > 1 else f"graph of view '{names[0]}'"

    def _separate_graphs(self, views: Views, run: Run) -> ViewGraphs:
        """The similarity graph of every view, as it is."""
        layout = canonical_order(views, between_samples=self._takes_similarities())
        if self._takes_similarities():
            given = [given_graph(matrix, layout.samples) for matrix in views.matrices]
            self._check_says_something(given, views.names, "it has no edges")
            return ViewGraphs(tuple(given), layout, NO_PAIRS)
        made = [self._made_or_kept(views, v, layout, run) for v in range(len(views.names))]
        self.neighbor_search_ = [one.search for one in made if one.search is not None]
        graphs = [one.graph for one in made]
        self._check_says_something(graphs, views.names, EQUALLY_FAR)
        cells = next((made[v].cells for v in layout.views if made[v].cells is not None), None)
        present = None if views.present is None else views.present[layout.samples]
        return ViewGraphs(tuple(graphs), layout, NO_PAIRS, cells, present)

    def _check_says_something(
        self, graphs: Sequence[csr_array], names: Sequence[str], why: str
    ) -> None:
        for graph, name in zip(graphs, names, strict=True):
            if graph.nnz == 0:
                self._warn_of_silence(name, why)

    def _warn_of_silence(self, name: str, why: str = EQUALLY_FAR) -> None:
        warnings.warn(f"view '{name}' says nothing about any sample: {why}", stacklevel=5)

    def _made_or_kept(self, views: Views, v: int, layout: CanonicalOrder, run: Run) -> MadeGraph:
        kept = None if run.checkpoint is None else kept_graph(run.checkpoint, v)
        if kept is not None:
            run.log("view '%s': its graph was kept", views.names[v])
            return kept
        made = self._graph_of(views, v, layout, run)
        if run.checkpoint is not None:
            keep_graph(run.checkpoint, v, made)
        return made

    def _graph_of(self, views: Views, v: int, layout: CanonicalOrder, run: Run) -> MadeGraph:
        """A view's graph over all rows; those of samples that it lacks have no edges."""
        matrix, name, n = views.matrices[v], views.names[v], views.n_samples
        samples = views.samples_of(v)
        if samples is None:
            return self._graph(self._rows(matrix[layout.samples], name), name, run)
        own = np.flatnonzero(np.isin(layout.samples, samples))
        if len(own) < 3:  # nobody to be nearer to than to another
            return MadeGraph(csr_array((n, n)), None, None)
        made = self._graph(self._rows(matrix[layout.samples[own]], name), name, run)
        cells = made.cells
        if cells is not None:
            cells = np.concatenate([own[cells], np.setdiff1d(np.arange(n), own)])
        return MadeGraph(spread_graph(made.graph, own, n), cells, made.search)

    def _graph(self, rows: Rows, name: str, run: Run) -> MadeGraph:
        n = rows.n_samples
        with run.stage("neighbors"):
            if self.n_neighbors == "all":
                return MadeGraph(self._complete_graph(rows, name), None, None)
            k = self._number_of_neighbors(n, name)
            near = nearest(rows, k + 1, self.neighbor_search, run.seed)
            graph = neighbor_graph(near, self.graph, rows.sq_norms())
        run.log("view '%s': a graph of %d edges, %s", name, graph.nnz, near.search)
        return MadeGraph(graph, near.order, near.search)

    def _number_of_neighbors(self, n: int, name: str) -> int:
        """k, for a view that has n samples."""
        automatic = self.n_neighbors == "auto"
        k = min(self._auto_neighbors, max(n - 2, 1)) if automatic else int(self.n_neighbors)
        if n < 3 and automatic:
            raise ValueError(f"view '{name}' has n_samples={n}; expected at least 3 for a graph")
        if k > n - 2:
            expected = f"expected 1 to {n - 2}" if n > 2 else "expected at least 3 samples"
            raise ValueError(f"n_neighbors={k}, but view '{name}' has n_samples={n}; {expected}")
        return k

    def _complete_graph(self, rows: Rows, name: str) -> csr_array:
        n = rows.n_samples
        if n > COMPLETE_LIMIT:
            raise ValueError(
                f"n_neighbors='all', but view '{name}' has {n} samples and a complete graph "
                f"stores {n} x {n} weights; expected at most {COMPLETE_LIMIT} samples"
            )
        return complete_graph(rows, self.graph)

    def _join(
        self,
        separate: ViewGraphs,
        make_rows: Callable[[], list[Rows]] | None,
        what: str,
        run: Run,
    ) -> ViewGraphs:
        """Bridge the union of the graphs if it has more components than clusters are wanted.

        `make_rows` gives the rows of the views in their places.
        """
        layout, present = separate.layout, separate.present
        n_pieces, pieces = union_pieces(separate.graphs)
        if n_pieces <= self._C:
            if n_pieces == layout.n_samples and make_rows is not None:  # each a cluster of its own
                self._check_distinct(make_rows())
            return separate
        if make_rows is None:
            raise ValueError(
                f"n_clusters={self._C}, but the precomputed {what} "
                f"{_have(what)} {n_pieces} connected components; "
                f"expected at most {self._C}"
            )
        rows = make_rows()
        self._check_distinct(rows)
        with run.stage("bridges"):
            run.log("joining %d pieces", n_pieces)
            placed = None if present is None else present[:, layout.views]
            bridges = closest_bridges(pieces, rows, placed)
        self._warn_of_bridges(what, n_pieces)
        bridged = [
            add_bridges(graph, bridges if present is None else bridges.between(present[:, v]))
            for v, graph in enumerate(separate.graphs)
        ]
        return replace(separate, graphs=tuple(bridged), bridges=layout.samples[bridges.pairs])

    def _warn_of_bridges(self, what: str, n_pieces: int) -> None:
        warnings.warn(
            f"the {what} {_have(what)} {n_pieces} connected components, more than "
            f"n_clusters={self._C}; joined them by their closest pairs of samples "
            "(see bridges_)",
            stacklevel=5,
        )


def _n_stored(matrix: Matrix) -> int:
    return int(matrix.nnz if isinstance(matrix, csr_array) else np.count_nonzero(matrix))


def _have(what: str) -> str:
    return "have" if what.startswith("graphs") else "has"
