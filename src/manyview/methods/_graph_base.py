"""What the methods on nearest-neighbour graphs share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._checks import check_choice, check_integer
from manyview._run import Run
from manyview._typing import BoolArray, IntArray
from manyview.bridging import add_bridges, closest_bridges, union_pieces
from manyview.graphs import WEIGHTINGS, complete_graph, given_graph, neighbor_graph, spread_graph
from manyview.methods._base import MultiViewClusterer
from manyview.neighbors import SEARCHES, NeighborSearch, nearest
from manyview.scaling import Rows
from manyview.views import Views

_EQUALLY_FAR = "every sample is equally far from all its neighbours"
#: Complete graphs store N^2 weights a view; beyond this many samples they are refused.
COMPLETE_LIMIT = 10_000


@dataclass(frozen=True)
class ViewGraphs:
    """One graph a view, and the pairs of samples that had to be joined (usually none).

    `order` has the samples so that neighbours are near each other, where a search found one;
    `present` says which samples each view has, None for all.
    """

    graphs: tuple[csr_array, ...]
    bridges: IntArray
    order: IntArray | None = None
    present: BoolArray | None = None


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

    def _view_graphs(self, views: Views, run: Run) -> ViewGraphs:
        """The similarity graph of every view, joined where together they leave too many pieces."""
        graphs, order = self._separate_graphs(views, run)
        self._settle_n_clusters(graphs, run)

        def rows() -> list[Rows]:  # made again if they are needed: they can be large
            return [self._rows(*view) for view in zip(views.matrices, views.names, strict=True)]

        one = f"graph of view '{views.names[0]}'"
        what = "graphs of the views together" if len(graphs) > 1 else one
        make_rows = None if self._takes_similarities() else rows
        joined = self._join(graphs, make_rows, what, run, views.present)
        return replace(joined, order=order, present=views.present)

    def _separate_graphs(self, views: Views, run: Run) -> tuple[list[csr_array], IntArray | None]:
        """The similarity graph of every view, and an order of the samples if one was found."""
        if self._takes_similarities():
            graphs = [given_graph(matrix) for matrix in views.matrices]
            self._check_says_something(graphs, views.names, "it has no edges")
            return graphs, None
        self.neighbor_search_: list[NeighborSearch] = []
        made = [self._graph_of(views, v, run) for v in range(len(views.names))]
        graphs = [graph for graph, _ in made]
        orders = [order for _, order in made if order is not None]
        self._check_says_something(graphs, views.names, _EQUALLY_FAR)
        return graphs, orders[0] if orders else None

    def _check_says_something(
        self, graphs: Sequence[csr_array], names: Sequence[str], why: str
    ) -> None:
        for graph, name in zip(graphs, names, strict=True):
            if graph.nnz == 0:
                warnings.warn(f"view '{name}' says nothing about any sample: {why}", stacklevel=4)

    def _graph_of(self, views: Views, v: int, run: Run) -> tuple[csr_array, IntArray | None]:
        """A view's graph over all samples; those that it lacks have no edges."""
        matrix, name, own = views.matrices[v], views.names[v], views.samples_of(v)
        if own is None:
            return self._graph(self._rows(matrix, name), name, run)
        if len(own) < 3:  # nobody to be nearer to than to another
            return csr_array((views.n_samples, views.n_samples)), None
        graph, order = self._graph(self._rows(matrix[own], name), name, run)
        if order is not None:
            order = np.concatenate([own[order], np.setdiff1d(np.arange(views.n_samples), own)])
        return spread_graph(graph, own, views.n_samples), order

    def _graph(self, rows: Rows, name: str, run: Run) -> tuple[csr_array, IntArray | None]:
        """The graph, and an order of the samples if the search came across a good one."""
        n = rows.n_samples
        with run.stage("neighbors"):
            if self.n_neighbors == "all":
                return self._complete_graph(rows, name), None
            automatic = self.n_neighbors == "auto"
            k = min(self._auto_neighbors, max(n - 2, 1)) if automatic else int(self.n_neighbors)
            if n < 3 and automatic:
                raise ValueError(
                    f"view '{name}' has n_samples={n}; expected at least 3 for a graph"
                )
            if k > n - 2:
                expected = f"expected 1 to {n - 2}" if n > 2 else "expected at least 3 samples"
                raise ValueError(
                    f"n_neighbors={k}, but view '{name}' has n_samples={n}; {expected}"
                )
            near = nearest(rows, k + 1, self.neighbor_search, run.seed)
            graph = neighbor_graph(near, self.graph, rows.sq_norms())
        self.neighbor_search_.append(near.search)
        run.say("view '%s': a graph of %d edges, %s", name, graph.nnz, near.search)
        return graph, near.order

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
        graphs: list[csr_array],
        make_rows: Callable[[], list[Rows]] | None,
        what: str,
        run: Run,
        present: BoolArray | None = None,
    ) -> ViewGraphs:
        """Bridge the union of the graphs if it has more components than clusters are wanted."""
        n_pieces, pieces = union_pieces(graphs)
        if n_pieces <= self._C:
            return ViewGraphs(tuple(graphs), np.empty((0, 2), dtype=np.intp))
        if make_rows is None:
            raise ValueError(
                f"n_clusters={self._C}, but the precomputed {what} "
                f"{_have(what)} {n_pieces} connected components; "
                f"expected at most {self._C}"
            )
        rows = make_rows()
        self._check_distinct(rows)
        with run.stage("bridges"):
            run.say("joining %d pieces", n_pieces)
            bridges = closest_bridges(pieces, rows, present)
        warnings.warn(
            f"the {what} {_have(what)} {n_pieces} connected components, more than "
            f"n_clusters={self._C}; joined them by their closest pairs of samples "
            "(see bridges_)",
            stacklevel=4,
        )
        bridged = [
            add_bridges(graph, bridges if present is None else bridges.between(present[:, v]))
            for v, graph in enumerate(graphs)
        ]
        return ViewGraphs(tuple(bridged), bridges.pairs)


def _have(what: str) -> str:
    return "have" if what.startswith("graphs") else "has"
