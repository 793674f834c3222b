"""Sparsity patterns: union, symmetrisation, reordering, connected components."""

from functools import partial

import numpy as np
from numba import njit, prange

from manyview._kernels._compile import row_kernel
from manyview._kernels._lanes import AHEAD, prefetch
from manyview._typing import BoolArray, FloatArray, IntArray

# Instead of a position to write to. (Numbers are np.int64 so that functions that two kernels call
# are compiled once: a literal has a type of its own.)
_COUNT = np.int64(-1)


@row_kernel
def align_weights(
    indptr: IntArray, indices: IntArray,
    own_indptr: IntArray, own_indices: IntArray, own_data: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Write a graph's weights to their positions in a wider pattern; both have sorted columns."""
    for i in prange(len(indptr) - 1):
        position = indptr[i]
        for e in range(own_indptr[i], own_indptr[i + 1]):
            while indices[position] < own_indices[e]:
                position += 1
            out[position] = own_data[e]


@njit(cache=True)
def _merge_row(
    left: IntArray, right: IntArray, a: int, a_end: int, b: int, b_end: int,
    out: IntArray, start: np.int64,
) -> int:  # fmt: skip
    """Number of distinct columns in two sorted rows; from out[start] on they are written."""
    length = 0
    while a < a_end or b < b_end:
        if b == b_end or (a < a_end and left[a] <= right[b]):
            column = left[a]
            if b < b_end and right[b] == column:
                b += 1
            a += 1
        else:
            column = right[b]
            b += 1
        if start >= 0:
            out[start + length] = column
        length += 1
    return length


@row_kernel
def merged_row_lengths(
    indptr: IntArray, indices: IntArray, other_indptr: IntArray, other_indices: IntArray
) -> IntArray:
    """Row lengths of the union of two patterns with sorted columns."""
    out = np.zeros(len(indptr) - 1, np.int64)
    for i in prange(len(indptr) - 1):
        out[i] = _merge_row(
            indices, other_indices, indptr[i], indptr[i + 1], other_indptr[i], other_indptr[i + 1],
            indices, _COUNT,
        )  # fmt: skip
    return out


@row_kernel
def merge_columns(
    indptr: IntArray, indices: IntArray, other_indptr: IntArray, other_indices: IntArray,
    out_indptr: IntArray, out: IntArray,
) -> None:  # fmt: skip
    """Write the sorted columns of the union of two patterns."""
    for i in prange(len(indptr) - 1):
        _merge_row(
            indices, other_indices, indptr[i], indptr[i + 1], other_indptr[i], other_indptr[i + 1],
            out, np.int64(out_indptr[i]),
        )  # fmt: skip


@row_kernel
def permute(
    indptr: IntArray, indices: IntArray, values: FloatArray, order: IntArray, number: IntArray,
    out_indptr: IntArray, out_indices: IntArray, out: FloatArray,
) -> None:  # fmt: skip
    """Rows order[0], order[1], ... of a matrix, columns renumbered and sorted, zeros dropped.

    `number` is the inverse of `order`. Entries of some rows at a time, about as many as there are
    columns, are counted and sorted by column and then put in their rows.
    """
    n = len(order)
    step = max(1, n * n // max(len(out), 1))
    for part in prange((n + step - 1) // step):
        start, stop = part * step, min((part + 1) * step, n)
        first, m = out_indptr[start], out_indptr[stop] - out_indptr[start]
        position = np.zeros(n + 1, np.int64)  # of the next entry of a column
        for r in range(start, stop):
            for e in range(indptr[order[r]], indptr[order[r] + 1]):
                if values[e] != 0.0:
                    position[number[indices[e]] + 1] += 1
        for c in range(n):
            position[c + 1] += position[c]
        rows, columns = np.empty(m, np.int64), np.empty(m, indices.dtype)
        found = np.empty(m, values.dtype)
        for r in range(start, stop):
            for e in range(indptr[order[r]], indptr[order[r] + 1]):
                if values[e] != 0.0:
                    c = number[indices[e]]
                    rows[position[c]], columns[position[c]] = r - start, c
                    found[position[c]] = values[e]
                    position[c] += 1
        filled = out_indptr[start:stop] - first
        for e in range(m):
            place = first + filled[rows[e]]
            filled[rows[e]] += 1
            out_indices[place], out[place] = columns[e], found[e]


@row_kernel
def find_mirrors(
    indptr: IntArray, indices: IntArray,
    into_indptr: IntArray, into_rows: IntArray, into_order: IntArray, out: IntArray,
) -> None:  # fmt: skip
    """The position of (j, i) for every entry (i, j) of a pattern, or -1.

    The pattern is given by rows (CSR) and by columns, with the positions of their entries.
    """
    for i in prange(len(indptr) - 1):
        b, b_end = into_indptr[i], into_indptr[i + 1]
        for e in range(indptr[i], indptr[i + 1]):
            while b < b_end and into_rows[b] < indices[e]:
                b += 1
            out[e] = into_order[b] if b < b_end and into_rows[b] == indices[e] else -1


@partial(row_kernel, per_row=50)
def gather(values: FloatArray, positions: IntArray, out: FloatArray) -> None:
    """out = values[positions], 0 where the position is negative."""
    last = len(positions) - 1
    for e in prange(len(positions)):
        prefetch(values, max(positions[min(e + AHEAD, last)], 0))
        out[e] = values[positions[e]] if positions[e] >= 0 else 0.0


@njit(cache=True)
def _symmetric_row(
    columns: IntArray, values: FloatArray, a: int, a_end: int,
    rows: IntArray, incoming: FloatArray, b: int, b_end: int,
    out_indices: IntArray, out: FloatArray, start: int | np.int64, stop: int | np.int64,
) -> int | np.int64:  # fmt: skip
    """Number of nonzeros in one row of (U + U') / 2, which are written from out[start] on.

    The row has so many that it ends at `stop`; nothing is written if that is `_COUNT`. What comes
    next can't be predicted, so there are no branches for it.
    """
    place = start
    while a < a_end and b < b_end and place != stop:
        left, right = columns[a], rows[b]
        is_out, is_in = int(left <= right), int(right <= left)
        value = is_out * values[a] + is_in * incoming[b]
        if stop != _COUNT:
            out_indices[place], out[place] = min(left, right), value / 2
        place += int(value != 0.0)
        a, b = a + is_out, b + is_in
    for e in range(a, a_end):
        if values[e] != 0.0 and place != stop:
            if stop != _COUNT:
                out_indices[place], out[place] = columns[e], values[e] / 2
            place += 1
    for e in range(b, b_end):
        if incoming[e] != 0.0 and place != stop:
            if stop != _COUNT:
                out_indices[place], out[place] = rows[e], incoming[e] / 2
            place += 1
    return place - start


@row_kernel
def symmetric_row_lengths(
    indptr: IntArray, indices: IntArray, values: FloatArray,
    into_indptr: IntArray, into_rows: IntArray, incoming: FloatArray,
) -> IntArray:  # fmt: skip
    """Nonzeros in each row of U + U'; U is given by rows (CSR) and by columns (`into_*`)."""
    out = np.zeros(len(indptr) - 1, np.int64)
    for i in prange(len(indptr) - 1):
        out[i] = _symmetric_row(
            indices, values, indptr[i], indptr[i + 1],
            into_rows, incoming, into_indptr[i], into_indptr[i + 1],
            indices, values, np.int64(0), _COUNT,
        )  # fmt: skip
    return out


@row_kernel
def fill_symmetric(
    indptr: IntArray, indices: IntArray, values: FloatArray,
    into_indptr: IntArray, into_rows: IntArray, incoming: FloatArray,
    out_indptr: IntArray, out_indices: IntArray, out: FloatArray,
) -> None:  # fmt: skip
    """Write the nonzeros of (U + U') / 2, counted by `symmetric_row_lengths`."""
    for i in prange(len(indptr) - 1):
        _symmetric_row(
            indices, values, indptr[i], indptr[i + 1],
            into_rows, incoming, into_indptr[i], into_indptr[i + 1],
            out_indices, out, np.int64(out_indptr[i]), np.int64(out_indptr[i + 1]),
        )  # fmt: skip


@row_kernel
def count_nonzero(indptr: IntArray, values: FloatArray) -> IntArray:
    """Nonzeros of each row."""
    out = np.zeros(len(indptr) - 1, np.int64)
    for i in prange(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            if values[e] != 0.0:
                out[i] += 1
    return out


@njit(cache=True)
def breadth_first(indptr: IntArray, indices: IntArray, seen: IntArray, queue: IntArray) -> int:
    """Steps from the first sample to the farthest one that is connected to it; `seen` is False."""
    seen[0] = True
    queue[0] = 0
    read, filled, depth = 0, 1, -1
    while read < filled:
        depth += 1
        for position in range(read, filled):
            i = queue[position]
            read += 1
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if not seen[j]:
                    seen[j] = True
                    queue[filled] = j
                    filled += 1
    return depth


@njit(cache=True)
def _root(parents: IntArray, i: int) -> int:
    while parents[i] != i:
        parents[i] = parents[parents[i]]
        i = parents[i]
    return i


@njit(cache=True)
def _unite(parents: IntArray, i: int, j: int) -> None:
    """Merge the sets of two samples (union-find); the root of a set is its lowest sample."""
    a, b = _root(parents, i), _root(parents, j)
    if a < b:
        parents[b] = a
    else:
        parents[a] = b


@njit(cache=True)
def unite_edges(
    indptr: IntArray, indices: IntArray, first: int, rows: IntArray, most: int, parents: IntArray
) -> None:
    """Merge the sets at both ends of edges of some rows, counted from `first` on: of about `most`
    edges of each row, or of all."""
    for i in rows:
        start, stop = indptr[i], indptr[i + 1]
        for e in range(start, stop, max((stop - start) // most, 1)):
            _unite(parents, first + i, indices[e])
    _flatten(parents)


@row_kernel
def lead_elsewhere(indptr: IntArray, indices: IntArray, first: int, parents: IntArray) -> BoolArray:
    """Whether each row, from `first` on, has an edge to another set, known by its parent."""
    out = np.zeros(len(indptr) - 1, np.bool_)
    for i in prange(len(indptr) - 1):
        own, differs = parents[first + i], False
        for e in range(indptr[i], indptr[i + 1]):
            differs |= parents[indices[e]] != own
        out[i] = differs
    return out


@njit(cache=True)
def _flatten(parents: IntArray) -> None:
    for i in range(len(parents)):
        parents[i] = parents[parents[i]]  # roots are lower than their samples: already final
