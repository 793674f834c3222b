"""Tables of what parameters may be; `MultiViewClusterer` checks them before every fit."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from manyview.graphs import SEARCHES, WEIGHTINGS
from manyview.inputs import check_scaling
from manyview.runtime import check_choice, check_integer, check_real

#: Called with a parameter's name and value; raises ValueError.
Constraint: TypeAlias = Callable[[str, Any], Any]


def integer(low: int, *words: str) -> Constraint:
    """An integer of at least `low`, or one of some words."""
    return partial(_number_or_word, number=partial(check_integer, low=low), words=words)


def real(low: float, *words: str, above: bool = False) -> Constraint:
    """A finite number of at least `low`, or `above` it; or one of some words."""
    return partial(_number_or_word, number=partial(check_real, low=low, above=above), words=words)


def optional(constraint: Constraint) -> Constraint:
    """None, or what the constraint allows."""
    return partial(_none_or, constraint=constraint)


def for_each_view(constraint: Constraint) -> Constraint:
    """What the constraint allows; or one such value per view, in a list or in a dict by name."""
    return partial(_each, constraint=constraint)


def choice(*choices: str | None) -> Constraint:
    return partial(check_choice, choices=choices)


def _none_or(name: str, value: Any, *, constraint: Constraint) -> None:
    if value is not None:
        constraint(name, value)


def _each(name: str, value: Any, *, constraint: Constraint) -> None:
    several = list(value.values()) if isinstance(value, Mapping) else value
    for one in several if isinstance(several, list | tuple) else [several]:
        constraint(name, one)


def _number_or_word(name: str, value: Any, *, number: Constraint, words: tuple[str, ...]) -> None:
    if words and isinstance(value, str):
        check_choice(name, value, words)
    else:
        number(name, value)


def _n_clusters(name: str, value: Any) -> None:
    if isinstance(value, str) and value != "auto":
        raise ValueError(f"{name}={value!r}; expected a number or 'auto'")
    if not isinstance(value, str):
        check_integer(name, value, 1)


def _number_of_clusters(name: str, value: Any) -> None:
    if value == "auto":
        raise ValueError(
            f"{name}='auto', but this method can't suggest a number of clusters; expected one, as "
            "the default method suggests"
        )
    _n_clusters(name, value)


COMMON: dict[str, Constraint] = {
    "n_clusters": _n_clusters,
    "scaling": check_scaling,
}
GRAPH: dict[str, Constraint] = {
    "graph": choice(*WEIGHTINGS, "precomputed"),
    "neighbor_search": choice(*SEARCHES),
    "n_neighbors": for_each_view(integer(1, "auto", "all")),
}
#: Of methods that make one graph.
ONE_GRAPH: dict[str, Constraint] = GRAPH | {"n_neighbors": integer(1, "auto", "all")}
#: Of methods that cluster one graph fused of all views.
FUSED: dict[str, Constraint] = {
    "n_neighbors": for_each_view(integer(1, "auto")),
    "neighbor_search": choice(*SEARCHES),
    "resolution": optional(real(0, above=True)),
}
AFFINITY: dict[str, Constraint] = FUSED | {"max_dense_samples": integer(0)}
#: Of methods without graphs, which can't suggest a number of clusters.
NUMBER: dict[str, Constraint] = {"n_clusters": _number_of_clusters}
KERNEL: dict[str, Constraint] = NUMBER | {
    "kernel": choice("gaussian", "precomputed"),
    "max_dense_samples": integer(1),
}
LOOP: dict[str, Constraint] = {
    "updates": choice("published", "paper", "exact"),
    "lambda_init": real(0, above=True),
    "max_iter": integer(1),
    "tol": real(0, above=True),
}
