"""Sizes that the memory of a fit depends on, known before the fit."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from manyview.graphs._row_block import weight_type
from manyview.inputs import Views

#: Edges of a symmetrised graph per edge of a neighbour graph: 1.4 to 1.6 on data tried.
_SYMMETRISED = 1.5
_DENSE_STAGES = ("kernels", "dense eigenvectors", "decomposition")


@dataclass(frozen=True)
class ViewSize:
    """Size of a view: samples present, features, and stored entries if it is sparse."""

    n_samples: int
    width: int
    stored: int | None = None

    @property
    def is_sparse(self) -> bool:
        return self.stored is not None

    @property
    def n_values(self) -> int:
        """Numbers stored."""
        return self.n_samples * self.width if self.stored is None else self.stored


@dataclass(frozen=True)
class FitSize:
    """Size of a fit.

    `n_clusters` is the largest number that may be found if none is given, `n_neighbors` None for
    complete graphs. `edges` are those of each graph if graphs are given, else None.
    """

    n_samples: int
    views: tuple[ViewSize, ...]
    n_clusters: int
    n_neighbors: int | None = None
    edges: tuple[int, ...] | None = None

    @property
    def weight_bytes(self) -> int:
        """Bytes of the weight of an edge."""
        return np.dtype(weight_type(self.n_samples)).itemsize

    @property
    def graph_edges(self) -> int:
        """Edges of all graphs, one graph per view."""
        if self.edges is not None:
            return sum(self.edges)
        return sum(v.n_samples * (self.n_neighbors or v.n_samples) for v in self.views)

    @property
    def union_edges(self) -> int:
        """Edges that any graph has, if no edge is in several graphs."""
        return min(self.graph_edges, self.n_samples**2)

    @property
    def symmetrised_edges(self) -> int:
        """Edges of the symmetrised union."""
        return min(int(_SYMMETRISED * self.graph_edges), self.n_samples**2)

    def savings(self, stage: str) -> list[str]:
        """What would need less memory in a stage."""
        found = []
        if stage in ("neighbors", "rows"):
            found.append("fewer features")
        elif stage == "co-EM":
            found.append("fewer clusters")
        elif stage in _DENSE_STAGES:
            found.append("a method on graphs, such as GBS")
        elif self.edges is None:
            found.append("fewer neighbours")
        if stage == "eigenvectors":
            found.append("fewer clusters")
        return [*found, "fewer samples" + ("" if self.edges else " and predict for the rest")]


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
