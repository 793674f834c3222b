"""A clustering -> what a report about it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from manyview._typing import FloatArray, IntArray
from manyview.methods import Round
from manyview.plotting import feature_effects
from manyview.report._contents import ReportContents, ViewContents

_STOPS = {
    "components": "the unified graph fell into the clusters",
    "eigenvalues": "the clusters show in the eigenvalues; faint links are left",
    "too_many": "the graph fell into more pieces than clusters were asked for",
    "max_iter": "as many as allowed",
    "lambda_limit": "nothing would have changed any more",
    "objective": "the objective changed no more",
    "residual": "the parts agreed",
}


class Clustering(Protocol):
    """A `manyview.ClusterResult`, which stands above this package."""

    @property
    def tables(self) -> Any: ...

    @property
    def estimator(self) -> Any: ...

    @property
    def seconds(self) -> float: ...

    @property
    def warnings(self) -> tuple[str, ...]: ...

    @property
    def labels(self) -> IntArray: ...

    @property
    def ids(self) -> tuple[str, ...]: ...

    @property
    def n_clusters(self) -> int: ...

    @property
    def view_names(self) -> tuple[str, ...]: ...

    @property
    def confidence(self) -> FloatArray: ...

    @property
    def disagreement(self) -> FloatArray | None: ...

    @property
    def view_weights(self) -> FloatArray: ...


def contents_of(result: Clustering, title: str, command: str | None) -> ReportContents:
    """Everything the page needs; without a title it gets one."""
    estimator = result.estimator
    return ReportContents(
        title=title or f"{result.n_clusters} clusters of {len(result.ids):,} samples",
        settings=_settings(result),
        command=command,
        ids=result.ids,
        labels=result.labels,
        confidence=result.confidence,
        unified_graph=getattr(estimator, "unified_graph_", None),
        views=[_view(result, v) for v in range(len(result.view_names))],
        # Other methods have other rounds, which the page has no figure for.
        history=[one for one in getattr(estimator, "history_", ()) if isinstance(one, Round)],
        warnings=result.warnings,
    )


def _view(result: Clustering, v: int) -> ViewContents:
    name, has = result.view_names[v], result.tables.present[:, v]
    matrix, names = result.tables.views[name], result.tables.features[name]
    disagreement, mean = result.disagreement, None
    if disagreement is not None and np.isfinite(result.estimator.view_disagreement_[v]):
        mean = float(result.estimator.view_disagreement_[v])
    return ViewContents(
        name=name,
        n_present=int(has.sum()),
        n_features=int(matrix.shape[1]),
        weight=float(result.view_weights[v]),
        graph=result.estimator.view_graphs_[v],
        disagreement=None if disagreement is None else disagreement[:, v],
        mean_disagreement=mean,
        effects=feature_effects(matrix, names, result.labels, result.n_clusters, has),
    )


def _settings(result: Clustering) -> Mapping[str, str]:
    estimator, present = result.estimator, result.tables.present
    suggested = " (suggested by the graphs)" if hasattr(estimator, "cluster_number_") else ""
    settings = {
        "method": type(estimator).__name__,
        "samples": f"{len(result.ids):,}",
        "clusters": f"{result.n_clusters}{suggested}",
        "neighbours": str(estimator._n_voters()),
        "seed": str(estimator.random_state),
        "fit": f"{result.seconds:.1f} s",
    }
    if not present.all():
        missing = int((~present).sum())
        settings["missing"] = f"{missing:,} of {present.size:,} pairs of sample and view"
    if hasattr(estimator, "stop_reason_"):
        reason = estimator.stop_reason_
        settings["rounds"] = f"{estimator.n_iter_} ({_STOPS.get(reason, reason)})"
    return settings
