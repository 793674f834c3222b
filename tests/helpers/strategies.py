"""Whole cases for hypothesis: odd tables, methods with random parameters, labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st

import manyview
from manyview import (
    CIGMVC,
    GBS,
    MCGL,
    MGL,
    MSC,
    NEMO,
    SNF,
    WNN,
    AnchorGraph,
    AngularCIGMVC,
    ConsensusGraph,
    CoregSC,
    CoTrainSC,
    MultiViewKMeans,
    MultiViewSphericalKMeans,
    SpectralAverage,
    SpectralConcat,
    SpectralView,
)
from manyview.inputs import SCALING_NAMES
from manyview.methods import BY_SHORT_NAME
from manyview.methods._constraints import NUMBER
from tests.helpers.odd_tables import (
    HOLES,
    HUGE,
    N_SAMPLES,
    SEEDS,
    TINY,
    WIDTHS,
    as_frame,
    masks,
    no_holes,
    numbers,
    rarely,
    sprinkled,
    tables,
)

_GRAPH = {
    "n_neighbors": st.one_of(st.just("auto"), st.integers(1, 20), st.just("all")),
    "graph": st.sampled_from(["adaptive", "adaptive", "binary", "cosine", "heat"]),
    "neighbor_search": st.sampled_from(["auto", "exact", "approximate"]),
}
_LOOP = {
    "max_iter": st.sampled_from([1, 2, 5, 30]),
    "tol": st.sampled_from([1e-300, 1e-10, 1e-3, 1e3]),
}
_FUSION = {
    **_GRAPH,
    **_LOOP,
    "updates": st.sampled_from(["published", "paper", "exact"]),
    "lambda_init": st.integers(-307, 307).map(lambda decade: 10.0**decade)
    | st.sampled_from([1e-3, 0.5, 1.0, 30.0]),
}
_PRICES = st.sampled_from([0.0, TINY, 1e-300, 1e-12, 1e-5, 0.1, 1.0, 1e5, 1e300, HUGE])
_SPLIT = {**_FUSION, "beta": _PRICES, "gamma": _PRICES}
_CO_EM = {
    "n_init": st.integers(1, 3),
    "max_iter": st.sampled_from([1, 2, 30]),
    "tol": st.sampled_from([0.0, 1e-4, 10.0]),
}
_KERNEL = {"kernel": st.just("gaussian"), "max_iter": st.sampled_from([1, 2, 10])}

_FUSED = {
    "n_neighbors": st.one_of(st.just("auto"), st.integers(1, 20)),
    "neighbor_search": st.sampled_from(["auto", "exact", "approximate"]),
}
_AFFINITY = {**_FUSED, "max_dense_samples": st.sampled_from([0, 2000])}

PARAMETERS: dict[Any, dict[str, Any]] = {
    ConsensusGraph: _GRAPH,
    AngularCIGMVC: _SPLIT,
    CIGMVC: _SPLIT,
    GBS: _FUSION,
    MCGL: {**_GRAPH, **_LOOP, "max_iter": st.sampled_from([1, 2, 5])},
    MGL: {**_GRAPH, **_LOOP},
    SNF: {**_AFFINITY, "max_iter": st.sampled_from([1, 2, 20])},
    NEMO: _AFFINITY,
    WNN: _FUSED,
    SpectralAverage: _GRAPH,
    SpectralConcat: _GRAPH,
    SpectralView: {**_GRAPH, "view": st.sampled_from([0, 0, 0, 1, "view0"])},
    CoregSC: {
        **_KERNEL,
        "scheme": st.sampled_from(["pairwise", "centroid"]),
        "coupling": st.sampled_from([0.0, TINY, 1e-3, 0.5, 10.0, 1e10, 1e300]),
    },
    MSC: {
        **_KERNEL,
        "sparsity": st.just("auto") | st.sampled_from([TINY, 1e-3, 1.0, 1e300]),
        "tol": _LOOP["tol"],
    },
    CoTrainSC: _KERNEL,
    MultiViewKMeans: _CO_EM,
    MultiViewSphericalKMeans: _CO_EM,
    AnchorGraph: {
        "n_anchors": st.integers(2, 40),
        "n_neighbors": st.just("auto") | st.integers(1, 20),
    },
}
KERNEL_METHODS = tuple(method for method in PARAMETERS if "kernel" in method().get_params())
TAKE_SIMILARITIES = [
    method for method in PARAMETERS if {"kernel", "graph"} & method().get_params().keys()
]
# Those that do not refuse views that lack samples.
TAKE_ABSENT = tuple(method for method in PARAMETERS if method._takes_missing)
SCALINGS = st.sampled_from(["auto", "auto", *SCALING_NAMES])


def _numbers_of_clusters(method, n):
    """Few as a rule, up to one more than there are samples."""
    counts = [st.integers(1, min(n, 4)), st.integers(1, min(n, 4)), st.integers(1, n + 1)]
    given = NUMBER.items() <= method._constraints.items()
    return st.one_of(counts if given else [*counts, st.just("auto")])


@st.composite
def parameters(draw, method, n):
    """Some of the method's parameters, those left out stay at their defaults."""
    chosen = {
        name: draw(values)
        for name, values in PARAMETERS[method].items()
        if draw(st.booleans()) or name == "max_iter"
    }
    if chosen.get("n_neighbors") == "all" and chosen.get("graph", "adaptive") == "adaptive":
        chosen["graph"] = "heat"  # there is no adaptive one; a refusal would test little
    chosen["n_clusters"] = draw(_numbers_of_clusters(method, n))
    chosen["scaling"] = draw(SCALINGS)
    chosen["random_state"] = draw(st.integers(0, 3))
    return chosen


# Cases.


class Shown:
    def __repr__(self):
        with np.errstate(all="ignore"):  # pandas compares all numbers with 1e6, half floats too
            parts = ", ".join(f"{name}={part!r}" for name, part in vars(self).items())
        return f"{type(self).__name__}({parts})"


@dataclass(frozen=True, repr=False)
class FitCase(Shown):
    """Samples for a method, and others to be predicted."""

    estimator: Any
    X: Any
    n: int
    present: Any = None
    new: Any = None
    n_new: int = 0
    new_present: Any = None


def _collected(draw, views):
    """Views in one of the containers that `fit` takes; the names are those of a list."""
    container = draw(st.sampled_from(["list", "tuple", "dict"]))
    if container == "dict":
        return {f"view{v}": view for v, view in enumerate(views)}
    return list(views) if container == "list" else tuple(views)


@st.composite
def fit_cases(draw, method):
    """Features in any form, and new samples of other kinds and scales in the same views."""
    n, n_new = draw(N_SAMPLES), draw(st.integers(1, 6))
    widths = draw(st.lists(WIDTHS, min_size=1, max_size=4))
    absent = method in TAKE_ABSENT or rarely(draw)
    holes = HOLES if absent else st.just(no_holes)
    known = [draw(numbers(n, width, holes)) for width in widths]
    new = [draw(_new_samples(X, n_new)) for X in known]
    if rarely(draw) and widths[0] > 1:
        new[0] = new[0][:, 1:]  # not the views that were fitted
    one = rarely(draw, 5)
    if one:
        X = draw(tables(np.hstack(known)))
        new = draw(tables(np.hstack(new)))
    else:
        X = _collected(draw, [draw(tables(view)) for view in known])
        new = _collected(draw, [draw(tables(view)) for view in new])
        if isinstance(new, dict) and rarely(draw, 3):
            new.pop("view0")  # predict takes what there is; of nothing it says so
    estimator = method(**draw(parameters(method, n)), views=widths if one else None)
    present = draw(st.none() | masks(n, len(widths))) if method in TAKE_ABSENT else None
    new_present = draw(st.none() | masks(n_new, len(widths)))
    if not one and len(new) != len(widths):
        new_present = None
    return FitCase(estimator, X, n, present, new, n_new, new_present)


@st.composite
def _new_samples(draw, known, n_new):
    """Some of the known samples, or others that may be quite unlike them."""
    width = known.shape[1]
    if draw(st.booleans()):
        rng = np.random.default_rng(draw(SEEDS))
        return known[rng.integers(len(known), size=n_new)]
    return draw(numbers(n_new, width))


@st.composite
def similarity_cases(draw, method):
    """Square matrices of similarities, nearly always none below 0."""
    n = draw(N_SAMPLES)
    n_views = draw(st.integers(1, 3))
    views = []
    for _ in range(n_views):
        X = draw(numbers(n, n, st.just(sprinkled if rarely(draw) else no_holes)))
        X = X if rarely(draw) else np.abs(X)
        if draw(st.booleans()):
            X = X / 2 + X.T / 2
        if draw(st.booleans()):
            np.fill_diagonal(X, 0.0)
        views.append(draw(tables(X)))
    kind = "kernel" if method in KERNEL_METHODS else "graph"
    given = draw(parameters(method, n)) | {kind: "precomputed"}
    if not rarely(draw):
        given.pop("scaling", None)  # similarities are not scaled
    estimator = method(**given)
    return FitCase(estimator, _collected(draw, views), n)


@dataclass(frozen=True, repr=False)
class ClusterCase(Shown):
    """Data and arguments for `manyview.cluster`."""

    data: Any
    arguments: dict[str, Any]
    present: Any = None


@st.composite
def cluster_cases(draw):
    """Views as `manyview.cluster` takes them: also data frames to be joined by their index."""
    name = draw(st.sampled_from(list(BY_SHORT_NAME)))
    method = getattr(manyview, BY_SHORT_NAME[name].estimator)
    n = draw(N_SAMPLES)
    widths = draw(st.lists(WIDTHS, min_size=1, max_size=3))
    holes = HOLES if method in TAKE_ABSENT else st.just(no_holes)
    views = [draw(numbers(n, width, holes)) for width in widths]
    arguments = draw(parameters(method, n)) | {"method": name}
    if rarely(draw, 3):
        frames = [draw(_indexed(as_frame(X, "pandas"))) for X in views]
        return ClusterCase(_collected(draw, frames), arguments)
    data = _collected(draw, [draw(tables(X)) for X in views])
    masked = method in TAKE_ABSENT and rarely(draw, 3)
    return ClusterCase(data, arguments, draw(masks(n, len(widths))) if masked else None)


@st.composite
def _indexed(draw, frame):
    """Rows with names, in any order, perhaps not all of them."""
    rng = np.random.default_rng(draw(SEEDS))
    frame.index = [f"sample {row}" for row in range(len(frame))]
    kept = 1 if draw(st.booleans()) else 0.8
    return frame.iloc[rng.permutation(len(frame))[: max(1, round(kept * len(frame)))]]


@st.composite
def suggest_cases(draw):
    """Views and arguments for `manyview.suggest_n_clusters`."""
    n = draw(N_SAMPLES)
    views = [draw(numbers(n, width)) for width in draw(st.lists(WIDTHS, min_size=1, max_size=3))]
    chosen = draw(parameters(SpectralAverage, n))
    del chosen["n_clusters"]
    if draw(st.booleans()):
        chosen["max_clusters"] = draw(st.integers(2, 70))
    return ClusterCase(_collected(draw, [draw(tables(X)) for X in views]), chosen)


@dataclass(frozen=True)
class LabelCase:
    true: Any
    pred: Any


_LABEL_VALUES = st.one_of(
    st.integers(0, 3),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 2**64 - 1),
    st.booleans(),
    st.text(max_size=3),
    st.floats(),
    st.none(),
)
_LABEL_FORMS = (
    list, tuple, np.array, pd.Series, pl.Series, lambda values: np.array(values, dtype=object),
    lambda values: np.array(values)[:, None], lambda values: np.array(values)[::-1],
)  # fmt: skip


@st.composite
def labels(draw, n):
    kinds = draw(st.lists(_LABEL_VALUES, min_size=1, max_size=5))
    if draw(st.integers(0, 3)):  # of one type
        kinds = [kind for kind in kinds if type(kind) is type(kinds[0])]
    values = [draw(st.sampled_from(kinds)) for _ in range(n)]
    try:
        return draw(st.sampled_from(_LABEL_FORMS))(values)
    except (TypeError, ValueError, OverflowError):  # not every library mixes types
        return values


@st.composite
def label_cases(draw):
    n = draw(st.one_of(st.integers(0, 8), st.integers(0, 50)))
    m = draw(st.integers(0, 12)) if rarely(draw) else n
    return LabelCase(draw(labels(n)), draw(labels(m)))
