"""Tables of every kind that a user may have, for hypothesis.

Hypothesis decides what a table is like, a seed fills in the numbers: so cases are quick to make,
and a case that fails becomes small.
"""

from __future__ import annotations

import tempfile
import warnings

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st
from scipy import sparse

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


def no_holes(rng, X):
    return X


def _rows_missing(rng, X):
    return np.where(rng.random((len(X), 1)) < 0.2, np.nan, X)


def sprinkled(rng, X):
    bad = rng.choice([np.nan, np.inf, -np.inf])
    return np.where(rng.random(X.shape) < 0.02, bad, X)


HOLES = st.sampled_from([*[no_holes] * 12, *[_rows_missing] * 3, sprinkled])


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
