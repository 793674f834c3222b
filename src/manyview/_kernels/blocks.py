"""Products of a sparse matrix with a block of vectors."""

from __future__ import annotations

from numba import njit, prange

from manyview._typing import FloatArray, IntArray


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
