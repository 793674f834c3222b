"""Updates of the edges in one round of the fusion."""

import numpy as np
from numba import njit, prange

from manyview._kernels._compile import row_kernel
from manyview._kernels._lanes import AHEAD, LANES, prefetch, prefetch_row, squared_gaps
from manyview._typing import FloatArray, IntArray

_gaps = squared_gaps(LANES)
# Rows that share one temporary array.
_AT_ONCE = 64


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
    n_rows, n_views = len(indptr) - 1, weights.shape[0]
    out = np.zeros((n_rows, n_views, n_views))
    for part in prange((n_rows + _AT_ONCE - 1) // _AT_ONCE):
        rest = np.empty(n_views)
        for i in range(part * _AT_ONCE, min((part + 1) * _AT_ONCE, n_rows)):
            own = out[i]
            for e in range(indptr[i], indptr[i + 1]):
                for v in range(n_views):
                    rest[v] = weights[v, e] - consistent[v, e]
                    for w in range(v + 1):
                        own[v, w] += rest[v] * rest[w]
            for v in range(n_views):
                for w in range(v):
                    own[w, v] = own[v, w]
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
    width = embedding.shape[1]
    whole = width - width % LANES
    gap = 0.0
    if whole > 0:
        gap += _gaps(embedding, i, j, whole)
    for c in range(whole, width):
        step = embedding[i, c] - embedding[j, c]
        gap += step * step
    return gap


@njit(cache=True, fastmath={"reassoc"})
def _sum_above(values: FloatArray, threshold: float) -> tuple[float, int]:
    """Sum and number of the values above a threshold."""
    total, above = 0.0, 0
    for value in values:
        is_above = value > threshold
        total += value if is_above else 0.0
        above += is_above
    return total, above


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
        total, above = _sum_above(values, threshold)
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
    n_rows, longest = len(indptr) - 1, 0
    for i in range(n_rows):
        longest = max(longest, indptr[i + 1] - indptr[i])
    for part in prange((n_rows + _AT_ONCE - 1) // _AT_ONCE):
        edges, room = np.empty(longest, np.int64), np.empty(longest)
        for i in range(part * _AT_ONCE, min((part + 1) * _AT_ONCE, n_rows)):
            m = _weighted_mean(
                indptr[i], indptr[i + 1], indices, consistent, shares, row_factors[i], embedding,
                edges, room, out,
            )  # fmt: skip
            values = room[:m]
            for p in range(m):
                values[p] -= pulls[i] * _sq_gap(embedding, first + i, indices[edges[p]])
            if m > 0:
                _project_simplex(values)
            for p in range(m):
                out[edges[p]] = values[p]


@njit(cache=True)
def _weighted_mean(
    start: int, stop: int, indices: IntArray, consistent: FloatArray, shares: FloatArray,
    factor: float, embedding: FloatArray, edges: IntArray, values: FloatArray, out: FloatArray,
) -> int:  # fmt: skip
    """Number of edges with a positive part in some view; writes which, and their weighted means.

    All are 0 in `out` then, and the rows of the embedding that the found ones lead to are asked
    for.
    """
    m = 0
    for e in range(start, stop):
        out[e] = 0.0
        centre, is_positive = 0.0, False
        for v in range(len(shares)):
            part = consistent[v, e]
            centre += shares[v] * part
            is_positive |= part > 0.0
        if is_positive:
            prefetch_row(embedding, indices[e])
            edges[m], values[m] = e, factor * centre
            m += 1
    return m


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
