"""From a learned unified graph to what an estimator offers: labels, graphs, disagreement."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from manyview._typing import FloatArray, IntArray
from manyview.graphs import EdgeWeightByView, GraphStack, OwnClusterShare, Stack
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
        views = _positions(stack)
        converged = fusion.spectrum.n_components == n_clusters
        rows = fusion.spectrum.components if converged else _kmeans(fusion, n_clusters, run.seed)
        found = {
            "labels_": relabel_by_first_sample(stack.by_sample(rows)),
            "embedding_": stack.by_sample(fusion.F),
            "view_weights_": fusion.alpha[views],
            "history_": [
                replace(one, view_weights=tuple(one.view_weights[v] for v in views))
                for one in fusion.history
            ],
            "n_iter_": len(fusion.history) - 1,
            "converged_": converged,
            "stop_reason_": fusion.stop_reason,
        }
        if not splits:
            return found | graph_results(stack, fusion.U, found)
        found |= disagreement(stack, stack.rows(InconsistentWeightByView(), fusion.A))
        return found | graph_results(stack, fusion.U, found, fusion.A)


def graph_results(
    stack: Stack, U: Any, found: dict[str, Any], A: Any | None = None
) -> dict[str, Any]:
    """Attributes that come from the graphs: these here, confidence on Dask. A only if it can't be
    made of the others."""
    if not isinstance(stack, GraphStack):
        return {"_confidence": _confidence(stack, found)}
    views = _positions(stack)
    graphs = {
        "view_graphs_": [stack.matrix(stack.weights[v]) for v in views],
        "unified_graph_": stack.matrix(U),
    }
    if A is not None:
        graphs["consistent_graphs_"] = [stack.matrix(A[v]) for v in views]
    return graphs


def _kmeans(fusion: Fusion, n_clusters: int, seed: int) -> IntArray:
    """Labels by k-means on the embedding, for a loop that ended without C components."""
    warn(
        f"the loop ended after {len(fusion.history) - 1} rounds ({fusion.stop_reason}) with "
        f"{fusion.spectrum.n_components} components in the unified graph, not "
        f"n_clusters={n_clusters}; labels come from k-means on the embedding",
        ConvergenceWarning,
    )
    fusion.spectrum.warn_unless_converged()
    return kmeans_labels(fusion.F, n_clusters, seed)


def _positions(stack: Stack) -> IntArray:
    """The position of each view in the stack."""
    return np.argsort(stack.view_order)


def disagreement(stack: Stack, inconsistent: FloatArray) -> dict[str, FloatArray]:
    """The share of E_v in S_v, per sample and per view; NaN where S_v has no edge.

    `inconsistent` is the weight of E_v of each row in each view.
    """
    views = _positions(stack)
    total = stack.by_sample(stack.rows(EdgeWeightByView()))[:, views]
    inconsistent = stack.by_sample(inconsistent)[:, views]
    return {
        "sample_disagreement_": _share(inconsistent, total),
        "view_disagreement_": _share(inconsistent.sum(axis=0), total.sum(axis=0)),
    }


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.full_like(whole, np.nan), where=whole > 0)


def _confidence(stack: Stack, found: dict[str, Any]) -> FloatArray:
    """As `confidence_`, computed where the graphs are, before they are discarded."""
    n, views = stack.n_samples, stack.view_order
    trusted = trust(found.get("sample_disagreement_"), n, stack.n_views)
    step = OwnClusterShare(
        labels=found["labels_"][stack.order],
        trust=trusted[stack.order][:, views],
        view_weights=vote_weights(found["view_weights_"])[views],
    )
    return np.asarray(stack.by_sample(stack.rows(step)))


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
