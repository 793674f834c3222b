"""Squared distances between rows, and candidates for the nearest rows."""

from functools import partial

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from manyview._kernels._compile import row_kernel
from manyview._kernels._lanes import LANES, insert, lowest_bit, prefetch_row, smaller_differences
from manyview._typing import FloatArray, IntArray

Single = NDArray[np.float32]
Numbers = NDArray[np.int32]


@row_kernel
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


@partial(row_kernel, per_row=0.02)
def sparse_sq_distances(
    indptr: IntArray, indices: IntArray, data: FloatArray, scale: FloatArray, shift: FloatArray,
    width: int, targets: IntArray, candidates: IntArray,
) -> FloatArray:  # fmt: skip
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


@partial(row_kernel, per_row=0.02)  # every row looks at all others: threads pay from few rows on
def sparse_candidates(
    indptr: IntArray, indices: IntArray, data: FloatArray,
    column_indptr: IntArray, column_rows: IntArray, column_data: FloatArray,
    scale: FloatArray, shift: FloatArray, sums: FloatArray, sq_norms: FloatArray,
    width: int, m: int, start: int, stop: int, n: int,
) -> IntArray:  # fmt: skip
    """The m nearest of the first n rows, for each of rows start..stop-1, itself excluded.

    Row i is scale[i] x_i + shift[i]; `sums` are the row sums of scale[i] x_i. The matrix of the
    x_i is given as CSR, its first n rows also as CSC.
    """
    out = np.empty((stop - start, m), np.int64)
    batch = 32  # rows per array of products
    for b in prange((stop - start + batch - 1) // batch):
        products = np.zeros(n)
        best = np.empty(m)
        for i in range(start + b * batch, min(start + (b + 1) * batch, stop)):
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
                position = filled - 1
                while position > 0 and best[position - 1] > score:
                    best[position] = best[position - 1]
                    out[i - start, position] = out[i - start, position - 1]
                    position -= 1
                best[position] = score
                out[i - start, position] = j
    return out


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def differences(
    rows: Single, asking: IntArray, centre: Single, away: Single, halves: Single
) -> None:
    """away[r] = rows[asking[r]] - centre, and half of its squared norm."""
    for r in range(len(asking)):
        row, total = rows[asking[r]], np.float32(0)
        for f in range(len(centre)):
            gap = row[f] - centre[f]
            away[r, f] = gap
            total += gap * gap
        halves[r] = total / 2


@njit(nogil=True, cache=True)
def keep_nearest(
    products: Single, row_halves: Single, halves: Single, first: int,
    asking: IntArray, m: int, distances: Single, found: Numbers,
) -> None:  # fmt: skip
    """Keep in `found` the nearest `m` of what a row has and of first, first + 1, ..., sorted.

    Row r of `products` is that of row asking[r]. `distances` are half the squared ones, from
    products and halves of squared norms. Both are made by `none_found`.
    """
    count = products.shape[1]
    for r in range(len(asking)):
        best, numbers, own = distances[asking[r]], found[asking[r]], products[r]
        half, start = row_halves[r], 0
        limit = best[m - 1] - half
        while start < count:
            # If less than a vector is left, some are looked at twice, and their bits are dropped.
            begin = max(min(start, count - LANES), 0)
            bits = (1 << count) - 1
            if count >= LANES:
                bits = smaller_differences(halves, own, begin, limit) & (-1 << (start - begin))
            while bits:
                j = begin + lowest_bit(bits)
                bits &= bits - 1
                score = halves[j] - own[j]
                if score < limit:
                    _insert_sorted(best, numbers, score + half, first + j)
                    limit = best[m - 1] - half
            start = begin + LANES


@njit(nogil=True, cache=True)
def _insert_sorted(values: Single, numbers: Numbers, value: np.float32, number: int) -> None:
    value_before, number_before = np.float32(-np.inf), np.int32(-1)
    for start in range(0, len(values), LANES):
        last = values[start + LANES - 1], numbers[start + LANES - 1]
        insert(values, numbers, start, value, number, value_before, number_before)
        value_before, number_before = last


@njit(nogil=True, cache=True)
def nearest_one(products: Single, halves: Single, out: IntArray) -> None:
    """out[r] = the first column c with the lowest halves[c] - products[r, c]."""
    n, count = products.shape
    whole = count - count % LANES
    for r in range(n):
        own, found, limit = products[r], 0, np.float32(np.inf)
        for start in range(0, whole, LANES):
            bits = smaller_differences(halves, own, start, limit)
            while bits:
                c = start + lowest_bit(bits)
                bits &= bits - 1
                if halves[c] - own[c] < limit:
                    found, limit = c, halves[c] - own[c]
        for c in range(whole, count):
            if halves[c] - own[c] < limit:
                found, limit = c, halves[c] - own[c]
        out[r] = found


@njit(nogil=True, cache=True)
def none_found(n: int, m: int) -> tuple[Single, Numbers]:
    """Distances and numbers of the `m` nearest of n rows: infinite and -1. Behind them are columns
    up to a multiple of `LANES` that stay as they are."""
    width = -LANES * (-m // LANES)
    distances, found = np.full((n, width), np.float32(-np.inf)), np.full((n, width), np.int32(-1))
    distances[:, :m] = np.inf
    return distances, found


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def rank_dense(
    data: FloatArray, norms: FloatArray, zero: float, targets: IntArray, candidates: IntArray,
    indices: IntArray, distances: FloatArray,
) -> None:  # fmt: skip
    """Write the nearest of each target's candidates, nearest first, and their squared distances.

    Negative candidates and the target itself stand for none; where there are too few, index 0 is
    at an infinite distance. Of equally near ones the first by number is first. Distances of at most
    `zero` times the squared norms are 0.
    """
    m, width, last = indices.shape[1], data.shape[1], len(targets) - 1
    for t in range(len(targets)):
        i, best, numbers = targets[t], distances[t], indices[t]
        for j in candidates[min(t + 1, last)]:
            prefetch_row(data, max(j, 0))
        best[:] = np.inf
        numbers[:] = 0
        for c in range(candidates.shape[1]):
            j = candidates[t, c]
            if j < 0 or j == i:
                continue
            total = 0.0
            for f in range(width):
                gap = data[i, f] - data[j, f]
                total += gap * gap
            if total <= zero * (norms[i] + norms[j]):
                total = 0.0
            position = m
            while position > 0 and (
                total < best[position - 1]
                or (total == best[position - 1] and j < numbers[position - 1])
            ):
                if position < m:
                    best[position] = best[position - 1]
                    numbers[position] = numbers[position - 1]
                position -= 1
            if position < m:
                best[position] = total
                numbers[position] = j
