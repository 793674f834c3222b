"""Products of a sparse matrix with a block of vectors."""

from __future__ import annotations

from numba import njit, prange

from manyview._typing import FloatArray, IntArray


@njit(parallel=True, cache=True)
def chebyshev_step(
    indptr: IntArray,
    indices: IntArray,
    links: FloatArray,
    diagonal: FloatArray,
    first: int,
    block: FloatArray,
    before: FloatArray,
    factor: float,
    back: float,
    out: FloatArray,
) -> None:
    """out = factor (diag(diagonal) - links) block - back before, for rows from `first` on.

    Four links at a time: their rows of the block lie anywhere in memory and are waited for
    together.
    """
    for i in prange(len(indptr) - 1):
        for c in range(block.shape[1]):
            out[i, c] = 0.0
        stop = indptr[i + 1]
        e = indptr[i]
        while e + 4 <= stop:
            j, k, m, n = indices[e], indices[e + 1], indices[e + 2], indices[e + 3]
            to_j, to_k, to_m, to_n = links[e], links[e + 1], links[e + 2], links[e + 3]
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
            link = links[last]
            for c in range(block.shape[1]):
                out[i, c] += link * block[j, c]
        for c in range(block.shape[1]):
            out[i, c] = (
                factor * (diagonal[i] * block[first + i, c] - out[i, c]) - back * before[i, c]
            )


@njit(parallel=True, cache=True)
def subtract_projections(
    block: FloatArray, pieces: IntArray, vector: FloatArray, shares: FloatArray
) -> None:
    """block[i] -= vector[i] shares[pieces[i]], in place."""
    for i in prange(len(block)):
        for c in range(block.shape[1]):
            block[i, c] -= vector[i] * shares[pieces[i], c]
