"""From a learned unified graph to what an estimator offers: labels, graphs, disagreement."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from manyview._typing import FloatArray, IntArray
from manyview.graphs import (
    BlockwiseStack,
    EdgeCounts,
    EdgeWeightByView,
    GraphStack,
    OwnClusterShare,
    Stack,
)
from manyview.methods._base import view_index
from manyview.methods._fusion_steps import InconsistentWeightByView
from manyview.methods._loop_state import Fusion
from manyview.methods._predict_mixin import trust, vote_weights
from manyview.runtime import Run, warn
from manyview.spectral import kmeans_labels, relabel_by_first_sample


def fusion_results(
    stack: Stack, fusion: Fusion, n_clusters: int, run: Run, *, splits: bool = True
) -> dict[str, Any]:
    """Attributes of a fitted estimator by name; `splits` tells whether S_v was split."""
    with run.stage("labels"):
        views, share = _positions(stack), stack.share
        converged = fusion.spectrum.n_components == n_clusters
        rows = fusion.spectrum.components if converged else _kmeans(stack, fusion, n_clusters, run)
        labels = relabel_by_first_sample(rows, share, stack.order)
        found = {
            "view_weights_": fusion.alpha[views],
            "history_": [
                replace(one, view_weights=tuple(one.view_weights[v] for v in views))
                for one in fusion.history
            ],
            "n_iter_": len(fusion.history) - 1,
            "converged_": converged,
            "stop_reason_": fusion.stop_reason,
        }
        if stack.keeps_embedding:
            found["embedding_"] = stack.by_sample(fusion.F)
        of_graphs = (stack, fusion.U, labels, fusion.alpha)
        if not splits:
            return found | graph_results(*of_graphs)
        inconsistent = stack.rows(InconsistentWeightByView(), fusion.A)
        return found | graph_results(*of_graphs, inconsistent, fusion.A)


def graph_results(
    stack: Stack,
    U: Any,
    labels: IntArray,
    view_weights: FloatArray,
    inconsistent: FloatArray | None = None,
    A: Any | None = None,
) -> dict[str, Any]:
    """Labels, disagreement and graphs; on Dask the confidence, and what warnings need, instead of
    graphs.

    `labels` are those of the rows, `view_weights` in the order of the stack. `inconsistent` is the
    weight of E_v of each row in each view, if graphs are split; A is given only if it can't be made
    of S and U.
    """
    found: dict[str, Any] = {"labels_": stack.by_sample(labels)}
    share, views, disagreement = stack.share, _positions(stack), None
    if inconsistent is not None:
        total = stack.rows(EdgeWeightByView())
        disagreement = _share(inconsistent, total)
        by_view = _share(share.sum(inconsistent), share.sum(total))
        found["sample_disagreement_"] = stack.by_sample(disagreement[:, views])
        found["view_disagreement_"] = by_view[views]
    if not isinstance(stack, GraphStack | BlockwiseStack):
        trusted = trust(disagreement, len(labels), stack.n_views)
        step, counts = OwnClusterShare(labels, trusted, vote_weights(view_weights)), EdgeCounts()
        found["_confidence"] = stack.by_sample(stack.rows(step))
        counted = stack.total(counts)[views]
        return found | {"_edge_counts": (counted[:, views], counted[:, -1])}
    found["view_graphs_"] = [stack.view_matrix(v) for v in views]
    found["unified_graph_"] = stack.matrix(U)
    if A is not None:
        found["consistent_graphs_"] = [stack.matrix(A[v]) for v in views]
    return found


def _kmeans(stack: Stack, fusion: Fusion, n_clusters: int, run: Run) -> IntArray:
    """Labels by k-means on the embedding, for a loop that ended without C components."""
    warn(
        f"the loop ended after {len(fusion.history) - 1} rounds ({fusion.stop_reason}) with "
        f"{fusion.spectrum.n_components} components in the unified graph, not "
        f"n_clusters={n_clusters}; labels come from k-means on the embedding",
        ConvergenceWarning,
    )
    fusion.spectrum.warn_unless_converged()
    return kmeans_labels(fusion.F, n_clusters, run.seed, share=stack.share)


def _positions(stack: Stack) -> IntArray:
    """The position of each view in the stack."""
    return np.argsort(stack.view_order)


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.full_like(whole, np.nan), where=whole > 0)


def _fitted_graphs(self: Any) -> list[csr_array]:
    if "unified_graph_" not in vars(self):  # not fitted, or on Dask
        raise AttributeError(f"{type(self).__name__} has no graphs of the views")
    return list(self.view_graphs_)


def unsplit_graphs(self: Any) -> list[csr_array]:
    """A_v of a method that does not split graphs: S_v."""
    return _fitted_graphs(self)


def graphs_within_unified(self: Any) -> list[csr_array]:
    """A_v where it is the part of S_v up to U, made when it is asked for."""
    return [graph.minimum(self.unified_graph_) for graph in _fitted_graphs(self)]


def inconsistent_graphs(self: Any) -> list[csr_array]:
    """E_v = S_v - A_v, made when it is asked for."""
    return [S - A for S, A in zip(_fitted_graphs(self), self.consistent_graphs_, strict=True)]


def edge_disagreement(self: Any, view: int | str) -> csr_array:
    """How much of every edge of a view's graph is inconsistent, from 0 to 1.

    Parameters
    ----------
    view : int or str
        Number or name of the view.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        The share e_ij / s_ij; 0, as where there is no edge, is not stored.
    """
    check_is_fitted(self)
    number = view_index(view, self.view_names_)
    part, whole = self.inconsistent_graphs_[number], self.view_graphs_[number]
    positions = np.searchsorted(_entry_keys(whole), _entry_keys(part))
    shares = np.minimum(part.data / whole.data[positions], 1.0)
    return csr_array((shares, part.indices, part.indptr), shape=part.shape, copy=True)


def _entry_keys(graph: csr_array) -> IntArray:
    """One number per entry, increasing along rows and columns."""
    n = graph.shape[0]
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(graph.indptr))
    return np.asarray(rows * n + graph.indices)
