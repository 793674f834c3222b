"""Updates of the edges in one round of the fusion."""

import numpy as np
from numba import njit, prange

from manyview._kernels._compile import row_kernel
from manyview._kernels._lanes import AHEAD, prefetch
from manyview._typing import FloatArray, IntArray


@row_kernel
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


@row_kernel
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


@row_kernel
def row_variations(
    indptr: IntArray, indices: IntArray, first: int, unified: FloatArray, embedding: FloatArray
) -> FloatArray:
    """out[i] = sum_j u_ij ||f_i - f_j||^2, for rows from `first` on."""
    out = np.zeros(len(indptr) - 1)
    for i in prange(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            if unified[e] != 0.0:
                out[i] += unified[e] * _sq_gap(embedding, first + i, indices[e])
    return out


@row_kernel
def cluster_weights(
    indptr: IntArray, indices: IntArray, first: int, weights: FloatArray, labels: IntArray,
    length: int, inside: FloatArray, touching: FloatArray,
) -> None:  # fmt: skip
    """Add (segments, C, V): of the edges of `length` rows each, the weight inside each cluster and
    that which touches it, half of it from either end."""
    n_rows, n_views = len(indptr) - 1, weights.shape[0]
    for s in prange(len(inside)):
        for i in range(s * length, min((s + 1) * length, n_rows)):
            here = labels[first + i]
            for e in range(indptr[i], indptr[i + 1]):
                there = labels[indices[e]]
                for v in range(n_views):
                    weight = weights[v, e]
                    touching[s, here, v] += weight / 2
                    touching[s, there, v] += weight / 2
                    if here == there:
                        inside[s, here, v] += weight


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

    Values below the current threshold are dropped until none is. The largest value is subtracted
    first: a common offset does not change the projection, but a large one would lose the sum of 1
    to rounding.
    """
    largest = values[0]
    for value in values:
        largest = max(largest, value)
    for m in range(len(values)):
        values[m] -= largest
    threshold = -1.0
    kept = len(values) + 1
    while True:
        total = 0.0
        above = 0
        for value in values:
            if value > threshold:
                total += value
                above += 1
        # Fewer in each pass, unless rounding puts a value back that is close to the threshold.
        if above >= kept:
            break
        kept = above
        threshold = (total - 1.0) / above
    for m in range(len(values)):
        values[m] = max(values[m] - threshold, 0.0)


@row_kernel
def unify(
    indptr: IntArray, indices: IntArray, first: int, consistent: FloatArray, embedding: FloatArray,
    shares: FloatArray, row_factors: FloatArray, pulls: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Rows of U, from `first` on: the projections on the simplex of
    row_factors_i sum_v shares_v a_v,ij - pulls_i ||f_i - f_j||^2.

    Only columns with a positive part in some view take part; a row without any is empty.
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
                prefetch(embedding, indices[e])
                active[m] = e
                values[m] = row_factors[i] * centre
                m += 1
        if m > 0:
            _subtract_gaps(values[:m], embedding, first + i, indices, active, pulls[i])
            _project_simplex(values[:m])
            for position in range(m):
                out[active[position]] = values[position]


@njit(cache=True)
def _subtract_gaps(
    values: FloatArray, embedding: FloatArray, i: int, indices: IntArray, edges: IntArray,
    pull: float,
) -> None:  # fmt: skip
    """values[p] -= pull ||f_i - f_j||^2 with j = indices[edges[p]].

    Four at a time: their rows lie anywhere in memory, so they are loaded together.
    """
    p = 0
    while p + 4 <= len(values):
        j, k = indices[edges[p]], indices[edges[p + 1]]
        m, n = indices[edges[p + 2]], indices[edges[p + 3]]
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
        values[last] -= pull * _sq_gap(embedding, i, indices[edges[last]])


@row_kernel
def split_linear(
    indptr: IntArray, mirror: IntArray, weights: FloatArray, unified: FloatArray,
    from_unified: FloatArray, from_weights: FloatArray, symmetrize: bool,
    incoming_unified: FloatArray, incoming_weights: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Consistent parts a_v = from_unified_v u + sum_w from_weights_vw s_w, clipped to 0 <= a <= s.

    With `symmetrize` the larger of (i, j) and (j, i) is taken before clipping from above. `mirror`
    has the position of (j, i) among the incoming edges, -1 if it is not in the pattern.
    """
    n_views, last = weights.shape[0], len(mirror) - 1
    by_edge = incoming_weights.T
    for i in prange(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            if symmetrize:
                ahead = max(mirror[min(e + AHEAD, last)], 0)
                prefetch(incoming_unified, ahead)
                prefetch(by_edge, ahead)
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
                    other = from_unified[v] * incoming_unified[back]
                    for w in range(n_views):
                        other += from_weights[v, w] * incoming_weights[w, back]
                    value = max(value, other)
                out[v, e] = min(value, weights[v, e])


@row_kernel
def split_exact(
    indptr: IntArray, weights: FloatArray, unified: FloatArray, view_weights: FloatArray,
    penalty: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Consistent parts that minimise sum_v alpha_v (u - a_v)^2 + (s - a)' B (s - a), 0 <= a <= s.

    Coordinate descent starting from `out`: each step solves for one view exactly, so the objective
    never rises; it converges to the minimiser if diag(alpha) + B is positive definite.
    """
    n_views = weights.shape[0]
    for i in prange(len(indptr) - 1):
        parts = np.empty(n_views)  # in double precision; in single the last bits would never settle
        for e in range(indptr[i], indptr[i + 1]):
            for v in range(n_views):
                parts[v] = out[v, e]
            for _ in range(200):
                moved = 0.0
                for v in range(n_views):
                    if weights[v, e] <= 0.0:
                        continue
                    goal = view_weights[v] * unified[e] + penalty[v, v] * weights[v, e]
                    for w in range(n_views):
                        if w != v:
                            goal += penalty[v, w] * (weights[w, e] - parts[w])
                    value = goal / (view_weights[v] + penalty[v, v])
                    value = min(max(value, 0.0), weights[v, e])
                    moved = max(moved, abs(value - parts[v]))
                    parts[v] = value
                if moved <= 1e-15:
                    break
            for v in range(n_views):
                out[v, e] = parts[v]
