"""What figures show of a fitted model: a result of `manyview.cluster`, or an estimator."""

from collections.abc import Mapping, Sequence
from typing import Any

from scipy.sparse import csr_array

from manyview.plotting._effects import FeatureEffect, feature_effects


def fitted(model: Any) -> Any:
    """The estimator of a result; anything else as it is."""
    return getattr(model, "estimator", model)


def is_model(given: Any) -> bool:
    """Whether it is a result or a fitted estimator."""
    return hasattr(fitted(given), "labels_")


def by_name(models: Any) -> dict[str, Any]:
    """Estimators by name; one model has the name of its class."""
    named = models if isinstance(models, Mapping) else {type(fitted(models)).__name__: models}
    return {name: fitted(model) for name, model in named.items()}


def learned(model: Any, attribute: str) -> Any:
    """An attribute that not every method has."""
    estimator = fitted(model)
    if not hasattr(estimator, attribute):
        raise ValueError(
            f"{type(estimator).__name__} has no {attribute}; expected a model that has"
        )
    return getattr(estimator, attribute)


def graph_of(model: Any, view: str | None) -> csr_array:
    """The graph of a view; without one, the unified graph, or the mean of all views' graphs."""
    estimator = fitted(model)
    if view is not None:
        return learned(model, "view_graphs_")[_position(view, estimator.view_names_)]
    if hasattr(estimator, "unified_graph_"):
        return estimator.unified_graph_
    graphs = learned(model, "view_graphs_")
    return csr_array(sum(graphs) / len(graphs))


def effects_of(model: Any, cluster: int, view: str | None, top: int) -> list[FeatureEffect]:
    """The strongest effects of a view's features, by default the first view's, in a cluster."""
    known = model.model() if hasattr(model, "model") else model.to_model()
    if not 0 <= cluster < known.n_clusters:
        raise ValueError(f"cluster={cluster}; expected a number from 0 to {known.n_clusters - 1}")
    own = known.views[0 if view is None else _position(view, known.names)]
    labels = known.labels if own.samples is None else known.labels[own.samples]
    names = own.features or tuple(map(str, range(own.width)))
    return feature_effects(own.matrix, names, labels, known.n_clusters, top=top)[cluster]


def _position(view: str, names: Sequence[str]) -> int:
    if view not in names:
        raise ValueError(f"view={view!r}; expected one of {', '.join(names)}")
    return list(names).index(view)
