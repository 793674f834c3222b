"""What every method shares: reading views in any form and turning them into graphs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from manyview._checks import check_choice, check_integer
from manyview._log import logger
from manyview._typing import IntArray, Matrix
from manyview.bridging import add_bridges, closest_bridges, union_pieces
from manyview.graphs import WEIGHTINGS, complete_graph, given_graph, neighbor_graph
from manyview.neighbors import nearest
from manyview.scaling import Rows, normalize_rows
from manyview.views import Views, is_collection, views_from_matrix, views_from_tables

#: The paper's number of neighbours k.
NEIGHBORS = 15
#: Complete graphs store N^2 weights a view; beyond this many samples they are refused.
COMPLETE_LIMIT = 10_000


@dataclass(frozen=True)
class ViewGraphs:
    """One graph a view, and the pairs of samples that had to be joined (usually none)."""

    graphs: tuple[csr_array, ...]
    bridges: IntArray


class MultiViewClusterer(ClusterMixin, BaseEstimator):
    """Base of all methods: input, view graphs, scikit-learn's conventions."""

    # Set by the subclasses' __init__.
    n_clusters: Any
    n_neighbors: Any
    graph: Any
    normalize: Any
    views: Any
    random_state: Any
    verbose: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.graph == "precomputed"
        return tags

    def _check_graph_parameters(self) -> None:
        check_integer("n_clusters", self.n_clusters, 1)
        check_choice("graph", self.graph, (*WEIGHTINGS, "precomputed"))
        check_choice("normalize", self.normalize, ("auto", "zscore", "unit", None))
        if isinstance(self.n_neighbors, str):
            check_choice("n_neighbors", self.n_neighbors, ("auto", "all"))
            if self.n_neighbors == "all" and self.graph == "adaptive":
                raise ValueError(
                    "n_neighbors='all' with graph='adaptive'; expected a number of neighbours, "
                    "or a graph of 'binary', 'cosine' or 'heat' weights"
                )
        else:
            check_integer("n_neighbors", self.n_neighbors, 1)

    def _read_views(self, X: Any) -> Views:
        """Check the input, whatever its form, and remember its layout."""
        if is_collection(X):
            if self.views is not None:
                raise ValueError(
                    f"views={self.views!r} cuts one matrix into views, but X is already "
                    f"{len(X)} tables; expected one 2-D X, or views=None"
                )
            views = views_from_tables(X)
            self.n_features_in_ = sum(views.widths)
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        else:
            matrix = validate_data(
                self, X, accept_sparse="csr", dtype=np.float64, order="C", ensure_all_finite=False
            )
            views = views_from_matrix(csr_array(matrix) if issparse(matrix) else matrix, self.views)
        if views.n_samples < 2:
            raise ValueError(f"n_samples={views.n_samples}; expected at least 2 samples to cluster")
        if self.n_clusters > views.n_samples:
            raise ValueError(
                f"n_clusters={self.n_clusters}, but there are {views.n_samples} samples; "
                f"expected 1 to {views.n_samples}"
            )
        self.view_names_ = views.names
        return views

    def _view_graphs(self, views: Views) -> ViewGraphs:
        """The similarity graph of every view, joined where they leave too many pieces."""
        rows: list[Rows] = []
        graphs: list[csr_array] = []
        for name, matrix in zip(views.names, views.matrices, strict=True):
            if self.graph == "precomputed":
                graphs.append(given_graph(_checked_graph(matrix, name)))
            else:
                rows.append(self._rows(matrix, name))
                graphs.append(self._graph(rows[-1], name))
            if graphs[-1].nnz == 0:
                warnings.warn(
                    f"view '{name}' says nothing about any sample: every sample is equally far "
                    "from all its neighbours",
                    stacklevel=3,
                )
            logger.info("view '%s': a graph of %d edges", name, graphs[-1].nnz)
        return self._join(graphs, rows)

    def _rows(self, matrix: Matrix, name: str) -> Rows:
        width = matrix.shape[1]
        if self.normalize == "zscore" and width == 1:
            raise ValueError(
                f"view '{name}' has n_features=1, and z-scoring each sample over its features "
                "leaves nothing of it; expected at least 2 columns, or normalize=None"
            )
        if self.normalize == "auto":
            return normalize_rows(matrix, "zscore" if width > 2 else None)
        return normalize_rows(matrix, self.normalize)

    def _graph(self, rows: Rows, name: str) -> csr_array:
        n = rows.n_samples
        if self.n_neighbors == "all":
            if n > COMPLETE_LIMIT:
                raise ValueError(
                    f"n_neighbors='all', but view '{name}' has {n} samples and a complete graph "
                    f"stores {n} x {n} weights; expected at most {COMPLETE_LIMIT} samples"
                )
            return complete_graph(rows, self.graph)
        k = min(NEIGHBORS, max(n - 2, 1)) if self.n_neighbors == "auto" else self.n_neighbors
        if k > n - 2:
            expected = f"expected 1 to {n - 2}" if n > 2 else "expected at least 3 samples"
            raise ValueError(f"n_neighbors={k}, but view '{name}' has n_samples={n}; {expected}")
        return neighbor_graph(nearest(rows, k + 1), self.graph, rows.sq_norms())

    def _join(self, graphs: list[csr_array], rows: list[Rows]) -> ViewGraphs:
        """Bridge the union of the graphs if it has more components than clusters are wanted."""
        n_pieces, pieces = union_pieces(graphs)
        if n_pieces <= self.n_clusters:
            return ViewGraphs(tuple(graphs), np.empty((0, 2), dtype=np.intp))
        if not rows:
            raise ValueError(
                f"n_clusters={self.n_clusters}, but the precomputed graphs together have "
                f"{n_pieces} connected components; expected at most {self.n_clusters}"
            )
        warnings.warn(
            f"the graphs of the views together have {n_pieces} connected components, more than "
            f"n_clusters={self.n_clusters}; joined them by their closest pairs of samples "
            "(see bridges_)",
            stacklevel=4,
        )
        bridges = closest_bridges(pieces, rows)
        return ViewGraphs(tuple(add_bridges(graph, bridges) for graph in graphs), bridges.pairs)


def _checked_graph(matrix: Matrix, name: str) -> Matrix:
    rows, columns = matrix.shape
    if rows != columns:
        raise ValueError(
            f"view '{name}' has shape ({rows}, {columns}); "
            "expected a square matrix of similarities for graph='precomputed'"
        )
    values = matrix.data if isinstance(matrix, csr_array) else matrix
    lowest = np.asarray(values).min(initial=0.0)
    if lowest < 0:
        raise ValueError(
            f"view '{name}' has a negative similarity ({lowest:g}); "
            "expected none below 0 for graph='precomputed'"
        )
    return matrix
