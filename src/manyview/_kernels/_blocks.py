"""Products of a sparse matrix with a block of vectors."""

from numba import prange

from manyview._kernels._compile import row_kernel
from manyview._typing import FloatArray, IntArray


def _chebyshev_step(
    indptr: IntArray, indices: IntArray, weights: FloatArray, diagonal: FloatArray, first: int,
    block: FloatArray, before: FloatArray, factor: float, back: float, out: FloatArray,
) -> None:  # fmt: skip
    """out = factor (diag(diagonal) - weights) block - back before, for rows from `first` on.

    Four edges at a time: their rows of the block lie anywhere in memory, so they are loaded
    together.
    """
    for i in prange(len(indptr) - 1):
        for c in range(block.shape[1]):
            out[i, c] = 0.0
        stop = indptr[i + 1]
        e = indptr[i]
        while e + 4 <= stop:
            j, k, m, n = indices[e], indices[e + 1], indices[e + 2], indices[e + 3]
            to_j, to_k, to_m, to_n = weights[e], weights[e + 1], weights[e + 2], weights[e + 3]
            for c in range(block.shape[1]):
                out[i, c] += (
                    to_j * block[j, c]
                    + to_k * block[k, c]
                    + to_m * block[m, c]
                    + to_n * block[n, c]
                )
            e += 4
        for last in range(e, stop):
            j = indices[last]
            weight = weights[last]
            for c in range(block.shape[1]):
                out[i, c] += weight * block[j, c]
        for c in range(block.shape[1]):
            out[i, c] = (
                factor * (diagonal[i] * block[first + i, c] - out[i, c]) - back * before[i, c]
            )


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
