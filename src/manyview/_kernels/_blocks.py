"""Products of a sparse matrix with a vector and with blocks of vectors, and its scaling."""

import numpy as np
from numba import prange

from manyview._kernels._compile import row_kernel
from manyview._kernels._lanes import row_adder
from manyview._typing import FloatArray, IntArray

_add_32, _add_16, _add_8 = row_adder(32), row_adder(16), row_adder(8)
_add_4, _add_1 = row_adder(4), row_adder(1)


def _chebyshev_step(
    indptr: IntArray, indices: IntArray, weights: FloatArray, diagonal: FloatArray, first: int,
    block: FloatArray, before: FloatArray, factor: float, back: float, out: FloatArray, column: int,
) -> None:  # fmt: skip
    """out = factor (diag(diagonal) - weights) block - back before, for rows from `first` on; it is
    written from `column` on."""
    width = block.shape[1]
    for i in prange(len(indptr) - 1):
        start, stop, c = np.int64(indptr[i]), np.int64(indptr[i + 1]), 0
        own = out[i, column : column + width]
        while c + 32 <= width:
            _add_32(indices, weights, start, stop, block, c, own[c:])
            c += 32
        if c + 16 <= width:
            _add_16(indices, weights, start, stop, block, c, own[c:])
            c += 16
        if c + 8 <= width:
            _add_8(indices, weights, start, stop, block, c, own[c:])
            c += 8
        if c + 4 <= width:
            _add_4(indices, weights, start, stop, block, c, own[c:])
            c += 4
        while c < width:
            _add_1(indices, weights, start, stop, block, c, own[c:])
            c += 1
        for k in range(width):
            rest = diagonal[i] * block[first + i, k] - own[k]
            own[k] = factor * rest - back * before[i, k]


chebyshev_step = row_kernel(_chebyshev_step)
#: `chebyshev_step` for filters, which take so many steps that threads pay from 500 rows on.
filter_step = row_kernel(_chebyshev_step, per_row=0.1)


@row_kernel
def subtract_projections(
    block: FloatArray, components: IntArray, vector: FloatArray, coefficients: FloatArray
) -> None:
    """block[i] -= vector[i] coefficients[components[i]], in place."""
    for i in prange(len(block)):
        for c in range(block.shape[1]):
            block[i, c] -= vector[i] * coefficients[components[i], c]


@row_kernel
def row_products(
    indptr: IntArray, indices: IntArray, weights: FloatArray, vector: FloatArray
) -> FloatArray:
    """weights @ vector, summed in double precision."""
    out = np.empty(len(indptr) - 1)
    for i in prange(len(indptr) - 1):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            total += weights[e] * vector[indices[e]]
        out[i] = total
    return out


@row_kernel
def divide_edges(
    indptr: IntArray, indices: IntArray, first: int, vector: FloatArray, weights: FloatArray
) -> None:
    """weights_ij /= vector_i vector_j, in place, for rows from `first` on."""
    for i in prange(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            weights[e] /= vector[first + i] * vector[indices[e]]
