"""The contents of the page about a clustering, in plain arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray
from manyview.inputs import Preparation
from manyview.methods import Round
from manyview.plotting import FeatureEffect, all_effects
from manyview.report._metadata import Metadata, metadata_columns

_FACTS = ("name", "n_samples", "n_features", "scaling", "weight", "disagreement")
# Columns that were left out are named up to this many.
_MAX_LISTED = 20
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
    `weight` is its share of the view weights, `disagreement` the inconsistent share of its graph.
    `effects` has one sequence per cluster, `telling` the names and effects of some features in all
    clusters, (n_features, n_clusters). `notes` say what was done to its columns before."""

    name: str
    n_samples: int
    n_features: int
    scaling: str
    weight: float
    disagreement: float | None
    graph: csr_array
    effects: Sequence[Sequence[FeatureEffect]] = ()
    telling: tuple[Sequence[str], FloatArray] | None = None
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class ReportContents:
    """A clustering. `settings` are shown as they are, `command` repeats the run. `stability`,
    `disagreement`, of shape (n_samples, n_views), and `unified_graph` are None for methods without
    them, `cluster_number` where the number of clusters was given. `history` has the `Round` records
    from round 0 on, and may be empty. `metadata` is what is known of the samples beside the
    views."""

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
    metadata: Sequence[Metadata] = ()


def contents_of(
    result: Any, title: str, command: str | None, metadata: Any = None
) -> ReportContents:
    """The contents of the page about a `ClusterResult`; without a title it gets one."""
    estimator, tables, summary = result.estimator, result.tables, result.summary()

    def view(v: int, facts: dict[str, Any]) -> ViewContents:
        name, present = facts["name"], tables.present[:, v]
        found = all_effects(
            tables.views[name], tables.features[name], result.labels, result.n_clusters, present
        )
        effects = [found.strongest(c) for c in range(result.n_clusters)]
        graph, telling = estimator.view_graphs_[v], found.most_telling()
        own, notes = {key: facts[key] for key in _FACTS}, _notes(tables.preparation(name))
        return ViewContents(**own, graph=graph, effects=effects, telling=telling, notes=notes)

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
        metadata=_metadata(tables, metadata),
    )


def _metadata(tables: Any, given: Any) -> list[Metadata]:
    """What the user gave, and the columns of text that were left out of the views, without names
    and free text."""
    columns = [] if given is None else metadata_columns(given, tables.ids, tables.has_ids)
    names = {column.name for column in columns}
    texts = metadata_columns(tables.texts, tables.ids, tables.has_ids)
    return columns + [one for one in texts if one.is_shared and one.name not in names]


def _notes(done: Preparation) -> list[str]:
    """What was done to the columns of a view before it was a matrix."""
    notes = []
    if n := len(done.dropped):
        listed = [f"{one.name} ({one.reason})" for one in done.dropped]
        notes.append(f"{_counted(n, 'column')} left out: {_few(listed)}")
    if done.categories:
        notes.append(f"one column per category: {_few(list(done.categories))}")
    if n := done.imputed_cells:
        notes.append(f"{_counted(n, 'empty cell')} filled with the median of the column")
    return notes


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' if n > 1 else ''}"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_MAX_LISTED]) + (", …" if len(names) > _MAX_LISTED else "")


def _settings(result: Any, summary: Mapping[str, Any]) -> dict[str, str]:
    estimator, present = result.estimator, result.tables.present
    suggested = " (suggested by the graphs)" if summary["n_clusters_suggested"] else ""
    settings = {
        "method": type(estimator).__name__,
        "samples": f"{len(result.ids):,}",
        "clusters": f"{result.n_clusters}{suggested}",
        "neighbours": str(estimator.n_neighbors_).strip("()"),
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
