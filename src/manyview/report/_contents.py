"""The contents of the page about a clustering, in plain arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray
from manyview.methods import Round
from manyview.plotting import FeatureEffect, feature_effects

_STOP_REASONS = {
    "components": "one component per cluster",
    "eigenvalues": "the eigenvalues show the clusters",
    "too_many": "more components than clusters",
    "max_iter": "the limit",
    "lambda_limit": "more would change nothing",
    "objective": "the objective stopped changing",
    "residual": "the residual became small",
}


@dataclass(frozen=True)
class ViewContents:
    """One view: `n_samples` are present, `scaling` names what was done to its columns and rows,
    `weight` is its share of the view weights, `disagreement` the inconsistent share of its graph,
    and `effects` has one sequence per cluster. The last fields tell what was done to its columns,
    as in `ClusterResult.summary`."""

    name: str
    n_samples: int
    n_features: int
    scaling: str
    weight: float
    disagreement: float | None
    graph: csr_array
    effects: Sequence[Sequence[FeatureEffect]] = ()
    dropped_columns: Sequence[Mapping[str, Any]] = ()
    categorical_columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    imputed_cells: int = 0


@dataclass(frozen=True)
class ReportContents:
    """A clustering. `settings` are shown as they are, `command` repeats the run. `stability`,
    `disagreement`, of shape (n_samples, n_views), and `unified_graph` are None for methods without
    them, `cluster_number` where the number of clusters was given. `history` has the `Round` records
    from round 0 on, and may be empty."""

    title: str
    settings: Mapping[str, str]
    command: str | None
    ids: Sequence[str]
    labels: IntArray
    confidence: FloatArray
    disagreement: FloatArray | None
    unified_graph: csr_array | None
    views: Sequence[ViewContents]
    stability: FloatArray | None = None
    cluster_number: Any = None
    history: Sequence[Any] = ()
    warnings: Sequence[str] = ()


def contents_of(result: Any, title: str, command: str | None) -> ReportContents:
    """The contents of the page about a `ClusterResult`; without a title it gets one."""
    estimator, tables, summary = result.estimator, result.tables, result.summary()

    def view(v: int, facts: dict[str, Any]) -> ViewContents:
        name, present = facts["name"], tables.present[:, v]
        effects = feature_effects(
            tables.views[name], tables.features[name], result.labels, result.n_clusters, present
        )
        return ViewContents(**facts, graph=estimator.view_graphs_[v], effects=effects)

    return ReportContents(
        title=title or f"{result.n_clusters} clusters of {len(result.ids):,} samples",
        settings=_settings(result, summary),
        command=command,
        ids=result.ids,
        labels=result.labels,
        confidence=result.confidence,
        stability=result.stability,
        cluster_number=getattr(estimator, "cluster_number_", None),
        disagreement=result.disagreement,
        unified_graph=getattr(estimator, "unified_graph_", None),
        views=[view(v, facts) for v, facts in enumerate(summary["views"])],
        # The rounds of other methods have no figures.
        history=[one for one in getattr(estimator, "history_", ()) if isinstance(one, Round)],
        warnings=result.warnings,
    )


def _settings(result: Any, summary: Mapping[str, Any]) -> dict[str, str]:
    estimator, present = result.estimator, result.tables.present
    suggested = " (suggested by the graphs)" if summary["n_clusters_suggested"] else ""
    settings = {
        "method": type(estimator).__name__,
        "samples": f"{len(result.ids):,}",
        "clusters": f"{result.n_clusters}{suggested}",
        "neighbours": str(estimator.n_neighbors_),
        "seed": str(estimator.random_state),
        "fit": f"{result.seconds:.1f} s",
    }
    if not present.all():
        missing = int((~present).sum())
        settings["missing"] = f"{missing:,} of {present.size:,} pairs of sample and view"
    reason = summary["stop_reason"]
    if reason is not None:
        settings["rounds"] = f"{summary['rounds']} ({_STOP_REASONS.get(reason, reason)})"
    return settings
