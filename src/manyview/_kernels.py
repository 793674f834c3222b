"""Compiled loops over raw arrays, and nothing else.

Rows are independent and every row is summed by one thread in index order, so results do not
depend on the number of threads. `tests/oracle.py` has a plain twin of each kernel.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from manyview._typing import FloatArray, IntArray


@njit(parallel=True, cache=True)
def dense_sq_distances(data: FloatArray, targets: IntArray, candidates: IntArray) -> FloatArray:
    """out[t, c] = ||data[targets[t]] - data[candidates[t, c]]||^2, summed from differences."""
    out = np.empty(candidates.shape)
    for t in prange(len(targets)):
        i = targets[t]
        for c in range(candidates.shape[1]):
            j = candidates[t, c]
            total = 0.0
            for f in range(data.shape[1]):
                gap = data[i, f] - data[j, f]
                total += gap * gap
            out[t, c] = total
    return out


@njit(parallel=True, cache=True)
def sparse_sq_distances(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    scale: FloatArray,
    shift: FloatArray,
    width: int,
    targets: IntArray,
    candidates: IntArray,
) -> FloatArray:
    """As `dense_sq_distances`, for rows scale[i] * x_i + shift[i] with x_i sparse."""
    out = np.empty(candidates.shape)
    for t in prange(len(targets)):
        i = targets[t]
        for c in range(candidates.shape[1]):
            j = candidates[t, c]
            base = shift[i] - shift[j]
            a, a_end = indptr[i], indptr[i + 1]
            b, b_end = indptr[j], indptr[j + 1]
            total = 0.0
            seen = 0
            while a < a_end or b < b_end:
                left = indices[a] if a < a_end else width
                right = indices[b] if b < b_end else width
                x = 0.0
                y = 0.0
                if left <= right:
                    x = scale[i] * data[a]
                    a += 1
                if right <= left:
                    y = scale[j] * data[b]
                    b += 1
                gap = (x + shift[i]) - (y + shift[j])
                total += gap * gap
                seen += 1
            out[t, c] = total + (width - seen) * base * base
    return out


@njit(parallel=True, cache=True)
def sparse_candidates(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    column_indptr: IntArray,
    column_rows: IntArray,
    column_data: FloatArray,
    scale: FloatArray,
    shift: FloatArray,
    sums: FloatArray,
    sq_norms: FloatArray,
    width: int,
    m: int,
    start: int,
    stop: int,
) -> IntArray:
    """The m other rows nearest to each of rows start..stop-1, for rows scale[i] x_i + shift[i].

    `sums` are the row sums of scale[i] x_i; the matrix of the x_i comes by rows and by columns.
    """
    n = len(sq_norms)
    out = np.empty((stop - start, m), np.int64)
    share = 32  # rows that take turns in one array of products
    for part in prange((stop - start + share - 1) // share):
        products = np.zeros(n)
        best = np.empty(m)
        for i in range(start + part * share, min(start + (part + 1) * share, stop)):
            for e in range(indptr[i], indptr[i + 1]):
                feature = indices[e]
                for f in range(column_indptr[feature], column_indptr[feature + 1]):
                    products[column_rows[f]] += data[e] * column_data[f]
            filled = 0
            for j in range(n):
                product = scale[i] * scale[j] * products[j] + sums[i] * shift[j]
                product += shift[i] * sums[j] + width * shift[i] * shift[j]
                products[j] = 0.0
                score = sq_norms[j] - 2 * product
                if j == i or (filled == m and score >= best[m - 1]):
                    continue
                filled = min(filled + 1, m)
                place = filled - 1
                while place > 0 and best[place - 1] > score:
                    best[place] = best[place - 1]
                    out[i - start, place] = out[i - start, place - 1]
                    place -= 1
                best[place] = score
                out[i - start, place] = j
    return out


@njit(parallel=True, cache=True)
def align_weights(
    indptr: IntArray,
    indices: IntArray,
    own_indptr: IntArray,
    own_indices: IntArray,
    own_data: FloatArray,
    out: FloatArray,
) -> None:
    """Write a graph's weights to their places in a wider pattern; both have sorted columns."""
    for i in prange(len(indptr) - 1):
        place = indptr[i]
        for e in range(own_indptr[i], own_indptr[i + 1]):
            while indices[place] < own_indices[e]:
                place += 1
            out[place] = own_data[e]


@njit(parallel=True, cache=True)
def merged_row_lengths(
    indptr: IntArray, indices: IntArray, other_indptr: IntArray, other_indices: IntArray
) -> IntArray:
    """Number of different columns in each row of two patterns with sorted columns."""
    out = np.zeros(len(indptr) - 1, np.int64)
    for i in prange(len(indptr) - 1):
        a, a_end = indptr[i], indptr[i + 1]
        b, b_end = other_indptr[i], other_indptr[i + 1]
        length = a_end - a + b_end - b
        while a < a_end and b < b_end:
            left, right = indices[a], other_indices[b]
            if left == right:
                length -= 1
            if left <= right:
                a += 1
            if right <= left:
                b += 1
        out[i] = length
    return out


@njit(parallel=True, cache=True)
def merge_columns(
    indptr: IntArray,
    indices: IntArray,
    other_indptr: IntArray,
    other_indices: IntArray,
    out_indptr: IntArray,
    out: IntArray,
) -> None:
    """Write the sorted columns of two patterns' union, row by row."""
    for i in prange(len(indptr) - 1):
        a, a_end = indptr[i], indptr[i + 1]
        b, b_end = other_indptr[i], other_indptr[i + 1]
        place = out_indptr[i]
        while a < a_end or b < b_end:
            if b == b_end or (a < a_end and indices[a] <= other_indices[b]):
                column = indices[a]
                if b < b_end and other_indices[b] == column:
                    b += 1
                a += 1
            else:
                column = other_indices[b]
                b += 1
            out[place] = column
            place += 1


@njit(parallel=True, cache=True)
def permute(
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    order: IntArray,
    number: IntArray,
    out_indptr: IntArray,
    out_indices: IntArray,
    out: FloatArray,
) -> None:
    """Rows order[0], order[1], ... of a matrix, its columns renumbered and sorted, zeros left out.

    `number` is the inverse of `order`; `out_indptr` has the row starts.
    """
    for r in prange(len(order)):
        place, stop = out_indptr[r], out_indptr[r + 1]
        columns = np.empty(stop - place, indices.dtype)
        found = np.empty(stop - place, values.dtype)
        m = 0
        for e in range(indptr[order[r]], indptr[order[r] + 1]):
            if values[e] != 0.0:
                columns[m] = number[indices[e]]
                found[m] = values[e]
                m += 1
        for c in np.argsort(columns):
            out_indices[place] = columns[c]
            out[place] = found[c]
            place += 1


@njit(parallel=True, cache=True)
def find_mirrors(indptr: IntArray, indices: IntArray) -> IntArray:
    """The place of (j, i) for every entry (i, j) of a pattern with sorted columns, or -1."""
    out = np.empty_like(indices)
    for i in prange(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            low, high = indptr[indices[e]], indptr[indices[e] + 1]
            end = high
            while low < high:
                middle = (low + high) // 2
                if indices[middle] < i:
                    low = middle + 1
                else:
                    high = middle
            out[e] = low if low < end and indices[low] == i else -1
    return out


@njit(parallel=True, cache=True)
def gather(values: FloatArray, places: IntArray) -> FloatArray:
    """values[places]."""
    out = np.empty(len(places), values.dtype)
    for e in prange(len(places)):
        out[e] = values[places[e]]
    return out


@njit(parallel=True, cache=True)
def symmetric_row_lengths(
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    into_indptr: IntArray,
    into_rows: IntArray,
    incoming: FloatArray,
) -> IntArray:
    """Entries in each row of U + U', zeros left out; U comes by rows and by columns."""
    out = np.zeros(len(indptr) - 1, np.int64)
    for i in prange(len(indptr) - 1):
        a, a_end = indptr[i], indptr[i + 1]
        b, b_end = into_indptr[i], into_indptr[i + 1]
        length = 0
        while True:
            while a < a_end and values[a] == 0.0:
                a += 1
            while b < b_end and incoming[b] == 0.0:
                b += 1
            if a == a_end and b == b_end:
                break
            if b == b_end or (a < a_end and indices[a] <= into_rows[b]):
                if b < b_end and into_rows[b] == indices[a]:
                    b += 1
                a += 1
            else:
                b += 1
            length += 1
        out[i] = length
    return out


@njit(parallel=True, cache=True)
def fill_symmetric(
    indptr: IntArray,
    indices: IntArray,
    values: FloatArray,
    into_indptr: IntArray,
    into_rows: IntArray,
    incoming: FloatArray,
    out_indptr: IntArray,
    out_indices: IntArray,
    out: FloatArray,
) -> None:
    """Write the entries of (U + U') / 2 that `symmetric_row_lengths` counted."""
    for i in prange(len(indptr) - 1):
        a, a_end = indptr[i], indptr[i + 1]
        b, b_end = into_indptr[i], into_indptr[i + 1]
        place = out_indptr[i]
        while True:
            while a < a_end and values[a] == 0.0:
                a += 1
            while b < b_end and incoming[b] == 0.0:
                b += 1
            if a == a_end and b == b_end:
                break
            if b == b_end or (a < a_end and indices[a] <= into_rows[b]):
                column = indices[a]
                value = values[a]
                if b < b_end and into_rows[b] == column:
                    value += incoming[b]
                    b += 1
                a += 1
            else:
                column = into_rows[b]
                value = incoming[b]
                b += 1
            out_indices[place] = column
            out[place] = value / 2
            place += 1


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
    indptr: IntArray, indices: IntArray, unified: FloatArray, embedding: FloatArray
) -> FloatArray:
    """out[i] = sum_j u_ij ||f_i - f_j||^2."""
    out = np.zeros(len(indptr) - 1)
    for i in prange(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            if unified[e] != 0.0:
                out[i] += unified[e] * _sq_gap(embedding, i, indices[e])
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
    left = -1
    while True:
        total = 0.0
        above = 0
        for value in values:
            if value > level:
                total += value
                above += 1
        if above == left:
            break
        left = above
        level = (total - 1.0) / above
    for m in range(len(values)):
        values[m] = max(values[m] - level, 0.0)


@njit(parallel=True, cache=True)
def unify(
    indptr: IntArray,
    indices: IntArray,
    consistent: FloatArray,
    embedding: FloatArray,
    shares: FloatArray,
    pull: float,
) -> FloatArray:
    """Rows of U: projections of sum_v shares_v a_v,i - pull ||f_i - f_j||^2 on the simplex.

    Only columns in which some view is positive take part; a row without any stays empty.
    """
    n_views = consistent.shape[0]
    out = np.zeros(consistent.shape[1])
    for i in prange(len(indptr) - 1):
        start, stop = indptr[i], indptr[i + 1]
        active = np.empty(stop - start, np.int64)
        values = np.empty(stop - start)
        m = 0
        for e in range(start, stop):
            centre = 0.0
            alive = False
            for v in range(n_views):
                centre += shares[v] * consistent[v, e]
                alive = alive or consistent[v, e] > 0.0
            if alive:
                active[m] = e
                values[m] = centre - pull * _sq_gap(embedding, i, indices[e])
                m += 1
        if m > 0:
            _project_simplex(values[:m])
            for position in range(m):
                out[active[position]] = values[position]
    return out


@njit(parallel=True, cache=True)
def split_linear(
    indptr: IntArray,
    mirror: IntArray,
    weights: FloatArray,
    unified: FloatArray,
    from_unified: FloatArray,
    from_weights: FloatArray,
    symmetrize: bool,
    out: FloatArray,
) -> None:
    """Consistent parts a_v = from_unified_v u + sum_w from_weights_vw s_w, cut to 0 <= a <= s.

    With `symmetrize` the larger of (i, j) and (j, i) is taken before the cut from above; where the
    pattern has no (j, i), that is 0.
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
                    there = from_unified[v] * unified[back]
                    for w in range(n_views):
                        there += from_weights[v, w] * weights[w, back]
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


@njit(cache=True)
def components(indptr: IntArray, indices: IntArray) -> IntArray:
    """Each sample's connected component in a symmetric pattern, in the order of first samples."""
    n = len(indptr) - 1
    out = np.full(n, -1, np.int32)
    queue = np.empty(n, np.int32)
    count = 0
    for first in range(n):
        if out[first] >= 0:
            continue
        out[first] = count
        queue[0] = first
        read = 0
        filled = 1
        while read < filled:
            i = queue[read]
            read += 1
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if out[j] < 0:
                    out[j] = count
                    queue[filled] = j
                    filled += 1
        count += 1
    return out


@njit(parallel=True, cache=True)
def count_nonzero(indptr: IntArray, values: FloatArray) -> IntArray:
    """Entries of each row that are not 0."""
    out = np.zeros(len(indptr) - 1, np.int64)
    for i in prange(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            if values[e] != 0.0:
                out[i] += 1
    return out


@njit(cache=True)
def steps_from_first(indptr: IntArray, indices: IntArray) -> int:
    """Steps from sample 0 to the farthest sample it is connected with, breadth first."""
    steps = np.full(len(indptr) - 1, -1)
    queue = np.empty(len(steps), np.int64)
    steps[0] = 0
    queue[0] = 0
    filled = 1
    read = 0
    while read < filled:
        i = queue[read]
        read += 1
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if steps[j] < 0:
                steps[j] = steps[i] + 1
                queue[filled] = j
                filled += 1
    return int(steps.max())


@njit(parallel=True, cache=True)
def filter_step(
    indptr: IntArray,
    indices: IntArray,
    links: FloatArray,
    diagonal: FloatArray,
    block: FloatArray,
    before: FloatArray,
    factor: float,
    back: float,
    out: FloatArray,
) -> None:
    """out = factor (diag(diagonal) - links) block - back before."""
    for i in prange(len(indptr) - 1):
        for c in range(block.shape[1]):
            out[i, c] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            link = links[e]
            for c in range(block.shape[1]):
                out[i, c] += link * block[j, c]
        for c in range(block.shape[1]):
            out[i, c] = factor * (diagonal[i] * block[i, c] - out[i, c]) - back * before[i, c]


@njit(parallel=True, cache=True)
def subtract_shares(
    block: FloatArray, pieces: IntArray, vector: FloatArray, shares: FloatArray
) -> None:
    """block[i] -= vector[i] shares[pieces[i]], in place."""
    for i in prange(len(block)):
        for c in range(block.shape[1]):
            block[i, c] -= vector[i] * shares[pieces[i], c]
