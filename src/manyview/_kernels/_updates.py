"""What a round of the fusion does to every edge."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from manyview._typing import FloatArray, IntArray


@njit(parallel=True, cache=True)
def row_misfits(indptr: IntArray, unified: FloatArray, consistent: FloatArray) -> FloatArray:
    """out[i, v] = sum_j (u_ij - a_v,ij)^2."""
    n_views = consistent.shape[0]
    out = np.zeros((len(indptr) - 1, n_views))
    for i in prange(len(indptr) - 1):
        for v in range(n_views):
            total = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                gap = unified[e] - consistent[v, e]
                total += gap * gap
            out[i, v] = total
    return out


@njit(parallel=True, cache=True)
def row_inconsistency_products(
    indptr: IntArray, weights: FloatArray, consistent: FloatArray
) -> FloatArray:
    """out[i, v, w] = sum_j e_v,ij e_w,ij with e = s - a, the inconsistent part."""
    n_views = weights.shape[0]
    out = np.zeros((len(indptr) - 1, n_views, n_views))
    for i in prange(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            for v in range(n_views):
                rest = weights[v, e] - consistent[v, e]
                if rest != 0.0:
                    for w in range(n_views):
                        out[i, v, w] += rest * (weights[w, e] - consistent[w, e])
    return out


@njit(parallel=True, cache=True)
def row_variations(
    indptr: IntArray, indices: IntArray, first: int, unified: FloatArray, embedding: FloatArray
) -> FloatArray:
    """out[i] = sum_j u_ij ||f_i - f_j||^2, for rows from `first` on of a larger matrix."""
    out = np.zeros(len(indptr) - 1)
    for i in prange(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            if unified[e] != 0.0:
                out[i] += unified[e] * _sq_gap(embedding, first + i, indices[e])
    return out


@njit(cache=True)
def _sq_gap(embedding: FloatArray, i: int, j: int) -> float:
    gap = 0.0
    for c in range(embedding.shape[1]):
        step = embedding[i, c] - embedding[j, c]
        gap += step * step
    return gap


@njit(cache=True)
def _project_simplex(values: FloatArray) -> None:
    """Euclidean projection on the probability simplex, in place (Michelot 1986).

    What lies below the level that the others would share is taken out until nothing does. Values
    count from the largest one: a common offset does not matter to the projection, and a large one
    would swallow the 1 that is to be shared out.
    """
    values -= values.max()
    level = -1.0
    left = len(values) + 1
    while True:
        total = 0.0
        above = 0
        for value in values:
            if value > level:
                total += value
                above += 1
        # Fewer each time, but for a value so near the level that rounding puts it back.
        if above >= left:
            break
        left = above
        level = (total - 1.0) / above
    for m in range(len(values)):
        values[m] = max(values[m] - level, 0.0)


@njit(parallel=True, cache=True)
def unify(
    indptr: IntArray,
    indices: IntArray,
    first: int,
    consistent: FloatArray,
    embedding: FloatArray,
    shares: FloatArray,
    row_factors: FloatArray,
    pulls: FloatArray,
    out: FloatArray,
) -> None:
    """Rows of U: projections of row_factor_i sum_v shares_v a_v,i - pull_i ||f_i - f_j||^2 on the
    simplex; for rows from `first` on of a larger matrix.

    Only columns in which some view is positive take part; a row without any is empty.
    """
    n_views = consistent.shape[0]
    for i in prange(len(indptr) - 1):
        start, stop = indptr[i], indptr[i + 1]
        active = np.empty(stop - start, np.int64)
        values = np.empty(stop - start)
        m = 0
        for e in range(start, stop):
            out[e] = 0.0
            centre = 0.0
            alive = False
            for v in range(n_views):
                centre += shares[v] * consistent[v, e]
                alive = alive or consistent[v, e] > 0.0
            if alive:
                active[m] = e
                values[m] = row_factors[i] * centre
                m += 1
        if m > 0:
            _pull_apart(values[:m], embedding, first + i, indices, active, pulls[i])
            _project_simplex(values[:m])
            for position in range(m):
                out[active[position]] = values[position]


@njit(cache=True)
def _pull_apart(
    values: FloatArray,
    embedding: FloatArray,
    i: int,
    indices: IntArray,
    places: IntArray,
    pull: float,
) -> None:
    """values[p] -= pull ||f_i - f_j||^2 for the j at each place.

    Four at a time: their rows lie anywhere in memory and are waited for together.
    """
    p = 0
    while p + 4 <= len(values):
        j, k = indices[places[p]], indices[places[p + 1]]
        m, n = indices[places[p + 2]], indices[places[p + 3]]
        to_j = to_k = to_m = to_n = 0.0
        for c in range(embedding.shape[1]):
            own = embedding[i, c]
            step_j, step_k = own - embedding[j, c], own - embedding[k, c]
            step_m, step_n = own - embedding[m, c], own - embedding[n, c]
            to_j += step_j * step_j
            to_k += step_k * step_k
            to_m += step_m * step_m
            to_n += step_n * step_n
        values[p] -= pull * to_j
        values[p + 1] -= pull * to_k
        values[p + 2] -= pull * to_m
        values[p + 3] -= pull * to_n
        p += 4
    for last in range(p, len(values)):
        values[last] -= pull * _sq_gap(embedding, i, indices[places[last]])


@njit(parallel=True, cache=True)
def split_linear(
    indptr: IntArray,
    mirror: IntArray,
    weights: FloatArray,
    unified: FloatArray,
    from_unified: FloatArray,
    from_weights: FloatArray,
    symmetrize: bool,
    unified_there: FloatArray,
    weights_there: FloatArray,
    out: FloatArray,
) -> None:
    """Consistent parts a_v = from_unified_v u + sum_w from_weights_vw s_w, cut to 0 <= a <= s.

    With `symmetrize` the larger of (i, j) and (j, i) is taken before the cut from above; where the
    pattern has no (j, i), that is 0. `mirror` has its place in what is `there`.
    """
    n_views = weights.shape[0]
    for i in prange(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            back = mirror[e]
            for v in range(n_views):
                if weights[v, e] <= 0.0:
                    out[v, e] = 0.0
                    continue
                value = from_unified[v] * unified[e]
                for w in range(n_views):
                    value += from_weights[v, w] * weights[w, e]
                value = max(value, 0.0)
                if symmetrize and back >= 0 and value < weights[v, e]:
                    there = from_unified[v] * unified_there[back]
                    for w in range(n_views):
                        there += from_weights[v, w] * weights_there[w, back]
                    value = max(value, there)
                out[v, e] = min(value, weights[v, e])


@njit(parallel=True, cache=True)
def split_exact(
    indptr: IntArray,
    weights: FloatArray,
    unified: FloatArray,
    view_weights: FloatArray,
    penalty: FloatArray,
    out: FloatArray,
) -> None:
    """Consistent parts that minimise alpha_v (u - a_v)^2 + (s - a)' B (s - a) in 0 <= a <= s.

    Coordinate descent from what is in `out`: each step solves one view's part exactly, so the
    value never rises, and for a positive definite diag(alpha) + B it ends at the minimiser.
    """
    n_views = weights.shape[0]
    for i in prange(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            for _ in range(200):
                moved = 0.0
                for v in range(n_views):
                    if weights[v, e] <= 0.0:
                        continue
                    goal = view_weights[v] * unified[e] + penalty[v, v] * weights[v, e]
                    for w in range(n_views):
                        if w != v:
                            goal += penalty[v, w] * (weights[w, e] - out[w, e])
                    value = goal / (view_weights[v] + penalty[v, v])
                    value = min(max(value, 0.0), weights[v, e])
                    moved = max(moved, abs(value - out[v, e]))
                    out[v, e] = value
                if moved <= 1e-15:
                    break
