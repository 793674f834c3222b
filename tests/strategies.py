"""Views of every kind that a user may have, and methods with random parameters, for hypothesis.

Hypothesis decides what a view is like, a seed fills in the numbers: so cases are quick to make, and
a case that fails becomes small.
"""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st
from scipy import sparse

from manyview import (
    CIGMVC,
    GBS,
    MCGL,
    MGL,
    MSC,
    AngularCIGMVC,
    CoregSC,
    SpectralAverage,
    SpectralConcat,
    SpectralView,
)
from manyview.result import METHODS

SEEDS = st.integers(0, 2**32 - 1)
N_SAMPLES = st.one_of(
    st.integers(3, 12),
    st.integers(3, 60),
    st.integers(12, 60),
    st.sampled_from([200, 30, 2, 100, 1]),
)
WIDTHS = st.integers(1, 12)
DECADES = st.one_of(st.integers(-3, 3), st.integers(-323, 308))
TINY, HUGE = 5e-324, np.finfo(np.float64).max

SMALL_FLOATS = ("f2", "f4", ">f4", ">f8", "g")
INTEGERS = tuple(sign + size for sign in "iu" for size in "1248")
DTYPES = st.one_of(
    st.just("f8"),
    st.sampled_from(["f8", *SMALL_FLOATS, *INTEGERS, ">i4", ">u2", "?", "O"]),
)
LAYOUTS = ("C", "F", "strided", "reversed", "read-only", "memory-mapped", "lists")
FRAMES = ("pandas", "polars")
FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")


def rarely(draw, times=20):
    """Whether this is one of so many cases; hypothesis likes the ends of a range of integers."""
    return draw(st.sampled_from([*[False] * (times - 1), True]))


# Numbers.


def _normal(rng, n, width):
    return rng.standard_normal((n, width))


def _blobs(rng, n, width):
    centres = 10 * rng.standard_normal((rng.integers(1, 6), width))
    return centres[rng.integers(len(centres), size=n)] + rng.standard_normal((n, width))


def _small_counts(rng, n, width):
    """Many ties."""
    return rng.integers(0, 3, (n, width)).astype(np.float64)


def _extremes(rng, n, width):
    return rng.choice([0.0, -0.0, 1.0, -1.0, TINY, -TINY, HUGE, -HUGE], (n, width))


def _zeros(rng, n, width):
    return rng.choice([0.0, -0.0], (n, width))


def _subnormal(rng, n, width):
    return TINY * rng.integers(-5, 6, (n, width))


NUMBERS = (_normal, _blobs, _small_counts, _extremes, _zeros, _subnormal)


def _scaled(rng, X, decade):
    return X * 10.0**decade


def _columns_scaled(rng, X, decade):
    return X * 10.0 ** np.round(decade * rng.random(X.shape[1]))


def _rows_scaled(rng, X, decade):
    return X * 10.0 ** np.round(decade * rng.random((len(X), 1)))


def _one_far_out(rng, X, decade):
    X[rng.integers(len(X))] *= 10.0**decade
    return X


def _shifted(rng, X, decade):
    return X + 10.0**decade


def _constant_columns(rng, X, decade):
    X[:, rng.random(X.shape[1]) < 0.5] = 10.0**decade
    return X


def _constant_rows(rng, X, decade):
    X[rng.random(len(X)) < 0.5] = 10.0**decade
    return X


def _collinear(rng, X, decade):
    return X[:, :1] * rng.standard_normal(X.shape[1])


def _repeated(rng, X, decade):
    return X[rng.integers(max(1, len(X) // 3), size=len(X))]


def _all_equal(rng, X, decade):
    return np.repeat(X[:1], len(X), axis=0)


def _nearly_equal(rng, X, decade):
    return X[:1] * (1 + np.finfo(np.float64).eps * rng.integers(-3, 4, X.shape))


def _thinned(rng, X, decade):
    """Mostly zeros, whole rows of them too."""
    return np.where((rng.random(X.shape) < 0.3) & (rng.random((len(X), 1)) < 0.8), X, 0.0)


CHANGES = (
    _scaled, _columns_scaled, _rows_scaled, _one_far_out, _shifted, _constant_columns,
    _constant_rows, _collinear, _repeated, _all_equal, _nearly_equal, _thinned,
)  # fmt: skip


def _no_holes(rng, X):
    return X


def _rows_missing(rng, X):
    return np.where(rng.random((len(X), 1)) < 0.2, np.nan, X)


def _sprinkled(rng, X):
    bad = rng.choice([np.nan, np.inf, -np.inf])
    return np.where(rng.random(X.shape) < 0.02, bad, X)


HOLES = st.sampled_from([*[_no_holes] * 12, *[_rows_missing] * 3, _sprinkled])


@st.composite
def numbers(draw, n, width, holes=HOLES):
    """A float64 array: numbers of some kind, changed up to three times, perhaps with holes."""
    rng = np.random.default_rng(draw(SEEDS))
    X = draw(st.sampled_from(NUMBERS))(rng, n, width)
    changes = st.tuples(st.sampled_from(CHANGES), DECADES)
    with np.errstate(all="ignore"):
        for change, decade in draw(st.lists(changes, max_size=3)):
            X = np.nan_to_num(change(rng, X, decade), posinf=HUGE, neginf=-HUGE)
    return draw(holes)(rng, X)


# Tables.


def as_type(X, dtype):
    """Numbers in another type; those too large for it become its extremes."""
    if dtype == "O":
        return X.astype(object)
    kind = np.dtype(dtype)
    with np.errstate(all="ignore"):
        if kind.kind in "iu":
            limits = np.iinfo(kind)
            whole = np.nan_to_num(np.rint(X), posinf=0, neginf=0)
            inside = np.clip(whole, limits.min, limits.max).astype(kind)
            inside[whole >= limits.max] = limits.max  # as floats, the largest are beyond the type
            return inside
        if kind.kind == "f":
            limit = np.finfo(kind).max
            return np.where(np.isinf(X), X, np.clip(X, -limit, limit)).astype(kind)
        return X.astype(kind)


def laid_out(X, layout):
    """The same numbers, differently in memory."""
    n, width = X.shape
    if layout == "F":
        return np.asfortranarray(X)
    if layout == "strided":
        wide = np.zeros((2 * n, 3 * width), dtype=X.dtype)
        wide[::2, ::3] = X
        return wide[::2, ::3]
    if layout == "reversed":
        return X[::-1, ::-1].copy()[::-1, ::-1]
    if layout == "read-only":
        X = X.copy()
        X.setflags(write=False)
        return X
    if layout == "memory-mapped" and X.dtype != object:
        with tempfile.TemporaryFile() as file:
            file.write(X.tobytes())
            file.flush()
            return np.memmap(file, X.dtype, "r", shape=X.shape)
    if layout == "lists":
        return X.tolist()
    return np.ascontiguousarray(X)


def as_frame(X, library):
    names = [f"f{column}" for column in range(X.shape[1])]
    if library == "pandas":
        return pd.DataFrame(X, columns=names)
    # Types that polars does not have are those of Python's own numbers.
    native = X.dtype.isnative and X.dtype.char not in "eg"
    return pl.DataFrame(X if native else X.astype(np.float64), schema=names, orient="row")


def as_sparse(X, kind, rng, *, array, untidy, wide):
    """A sparse table; untidy ones have explicit zeros, entries twice and columns in any order."""
    if X.dtype == object or X.dtype.char == "e" or not X.dtype.isnative:  # scipy has none of them
        X = X.astype(np.float64)
    rows, columns = np.nonzero(X)
    values = X[rows, columns]
    if untidy and len(values):
        shuffled = rng.permutation(len(values))
        rows, columns, values = rows[shuffled], columns[shuffled], values[shuffled]
        extra = rng.permutation(len(values))[:3]
        halves = values.dtype.kind == "f" and np.isfinite(values).all()
        if halves:
            values[extra] /= 2
        rows = np.concatenate([rows, rows[extra]])
        columns = np.concatenate([columns, columns[extra]])
        values = np.concatenate([values, values[extra] if halves else np.zeros_like(values[extra])])
    index = np.int64 if wide else np.int32
    coo = sparse.coo_array((values, (rows.astype(index), columns.astype(index))), shape=X.shape)
    if kind == "csr" and untidy:  # as they come from elsewhere; conversion would add entries up
        order = np.argsort(rows, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(X)))])
        parts = (values[order], columns[order].astype(index), starts.astype(index))
        made = sparse.csr_array(parts, shape=X.shape)
    else:
        with warnings.catch_warnings():  # scipy finds many diagonals inefficient
            warnings.simplefilter("ignore", sparse.SparseEfficiencyWarning)
            made = coo.asformat(kind)
    return made if array else getattr(sparse, f"{kind}_matrix")(made)


@st.composite
def tables(draw, X, kinds=("dense", "frame", "sparse")):
    """A table of some type and form with about the given numbers."""
    X = as_type(X, draw(DTYPES))
    kind = draw(st.sampled_from(["dense", *kinds]))
    if kind == "frame":
        return as_frame(X, draw(st.sampled_from(FRAMES)))
    if kind == "sparse":
        rng = np.random.default_rng(draw(SEEDS))
        flags = {name: draw(st.booleans()) for name in ("array", "untidy", "wide")}
        return as_sparse(X, draw(st.sampled_from(FORMATS)), rng, **flags)
    return laid_out(X, draw(st.sampled_from(LAYOUTS)))


@st.composite
def masks(draw, n, n_views):
    """Which samples views have; nearly always every sample is in one of them."""
    rng = np.random.default_rng(draw(SEEDS))
    present = rng.random((n, n_views)) < draw(st.sampled_from([0.95, 0.8, 0.5]))
    if not rarely(draw):
        present[np.arange(n), rng.integers(n_views, size=n)] = True
    return present


# Methods.

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
_KERNEL = {"kernel": st.just("gaussian"), "max_iter": st.sampled_from([1, 2, 10])}

PARAMETERS: dict[Any, dict[str, Any]] = {
    AngularCIGMVC: _SPLIT,
    CIGMVC: _SPLIT,
    GBS: _FUSION,
    MCGL: {**_GRAPH, **_LOOP, "max_iter": st.sampled_from([1, 2, 5])},
    MGL: {**_GRAPH, **_LOOP},
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
}
KERNEL_METHODS = (CoregSC, MSC)
# Those that do not refuse views that lack samples.
TAKE_ABSENT = (AngularCIGMVC, CIGMVC, GBS, SpectralAverage)
NORMALIZATIONS = st.sampled_from(["auto", "auto", "zscore", "unit", None])


def _numbers_of_clusters(method, n):
    """Few as a rule, up to one more than there are samples."""
    counts = [st.integers(1, min(n, 4)), st.integers(1, min(n, 4)), st.integers(1, n + 1)]
    return st.one_of(counts if method in KERNEL_METHODS else [*counts, st.just("auto")])


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
    chosen["normalize"] = draw(NORMALIZATIONS)
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
    holes = HOLES if absent else st.just(_no_holes)
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
        X = draw(numbers(n, n, st.just(_sprinkled if rarely(draw) else _no_holes)))
        X = X if rarely(draw) else np.abs(X)
        if draw(st.booleans()):
            X = X / 2 + X.T / 2
        if draw(st.booleans()):
            np.fill_diagonal(X, 0.0)
        views.append(draw(tables(X)))
    kind = "kernel" if method in KERNEL_METHODS else "graph"
    estimator = method(**draw(parameters(method, n)) | {kind: "precomputed"})
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
    name, method = draw(st.sampled_from(list(METHODS.items())))
    n = draw(N_SAMPLES)
    widths = draw(st.lists(WIDTHS, min_size=1, max_size=3))
    holes = HOLES if method in TAKE_ABSENT else st.just(_no_holes)
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
