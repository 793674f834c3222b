"""What the memory of a fit depends on, as it is known before the fit."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.sparse import csr_array

from manyview.graphs import _knn as neighbors
from manyview.graphs import _knn_faiss as approximate
from manyview.inputs import Views

#: Edges of a neighbour graph taken both ways, in terms of its own.
_BOTH_WAYS = 1.5
# Those of methods on dense kernels.
_DENSE_STAGES = ("kernels", "dense eigenvectors", "decomposition")


@dataclass(frozen=True)
class ViewSize:
    """One view: samples that it has, features, and stored entries if it is sparse."""

    n_samples: int
    width: int
    stored: int | None = None

    @property
    def is_sparse(self) -> bool:
        return self.stored is not None

    @property
    def cells(self) -> int:
        """Numbers in it."""
        return self.n_samples * self.width if self.stored is None else self.stored


@dataclass(frozen=True)
class FitSize:
    """What the memory of a fit depends on.

    `n_clusters` is the largest that may be found where it is not given (`finds_n_clusters`),
    `n_neighbors` None for complete graphs. `edges`
    has those of each graph where graphs are given, else None. `different` is the share of all edges
    that is left when those that several views have are counted once.
    """

    n_samples: int
    views: tuple[ViewSize, ...]
    n_clusters: int
    n_neighbors: int | None = None
    search: str = "auto"
    edges: tuple[int, ...] | None = None
    different: float = 1.0
    finds_n_clusters: bool = False

    @property
    def graph_edges(self) -> tuple[int, ...]:
        """Edges of every view's graph, at most."""
        if self.edges is not None:
            return self.edges
        if self.n_neighbors is None:
            return tuple(view.n_samples**2 for view in self.views)
        return tuple(view.n_samples * self.n_neighbors for view in self.views)

    @property
    def all_edges(self) -> float:
        """Edges that any view has, at most."""
        return min(self.different * sum(self.graph_edges), self.n_samples**2)

    def savings(self, stage: str) -> list[str]:
        """What would need less in a stage."""
        found = []
        if self.edges is None and stage == "neighbors":
            dense = any(not view.is_sparse for view in self.views)
            if dense and self.search == "exact" and self.n_samples > neighbors.EXACT_LIMIT:
                found.append("neighbor_search='approximate'")
            found.append("fewer features")
        elif stage in _DENSE_STAGES:
            found.append("a method on graphs, such as GBS")
        elif self.edges is None:
            found.append("fewer neighbours")
        if stage == "eigenvectors":
            found.append("fewer clusters")
        return [*found, "fewer samples" + ("" if self.edges else " and predict for the rest")]

    def both_ways(self, edges: float) -> float:
        return min(_BOTH_WAYS * edges, self.n_samples**2)

    def is_approximate(self, view: ViewSize) -> bool:
        """Whether the view is searched by cells."""
        if view.is_sparse or self.search == "exact" or not approximate.is_available():
            return False
        return self.search == "approximate" or view.n_samples > neighbors.EXACT_LIMIT

    @property
    def is_searched(self) -> bool:
        """Whether graphs are of nearest neighbours: neither given nor complete."""
        return self.edges is None and self.n_neighbors is not None

    @property
    def is_ordered(self) -> bool:
        """Whether a search by cells finds an order to lay the graphs out in."""
        return self.is_searched and any(self.is_approximate(view) for view in self.views)


def view_sizes(views: Views) -> tuple[ViewSize, ...]:
    """The size of every view."""
    present = views.present
    return tuple(
        ViewSize(
            views.n_samples if present is None else int(present[:, v].sum()),
            int(matrix.shape[1]),
            int(matrix.nnz) if isinstance(matrix, csr_array) else None,
        )
        for v, matrix in enumerate(views.matrices)
    )
