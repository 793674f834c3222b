"""What a row holds, in one number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from manyview._typing import IntArray

_MINUS_ZERO = np.uint64(1 << 63)
_STEP = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True)
def _mix(x: Any) -> Any:
    """A 64-bit number all of whose bits depend on all bits of another: the end of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True)
def hash_numbers(numbers: Any) -> Any:
    """Each of some 64-bit numbers hashed."""
    out = np.empty_like(numbers)
    for i in range(len(numbers)):
        out[i] = _mix(numbers[i] + _STEP)
    return out


@njit(parallel=True, cache=True)
def dense_row_digests(bits: Any, with_columns: bool, out: Any) -> None:
    """One number a row of float64, given as their bits; zeros count for nothing.

    A sum over entries, so that a sparse row has the number of the dense one. Without columns it is
    the same in whatever order the entries of a row stand.
    """
    for i in prange(bits.shape[0]):
        total = np.uint64(0)
        for f in range(bits.shape[1]):
            value = bits[i, f]
            if value != np.uint64(0) and value != _MINUS_ZERO:
                salt = np.uint64(f + 1) * _STEP if with_columns else np.uint64(0)
                total += _mix(_mix(value) + salt)
        out[i] = total


@njit(parallel=True, cache=True)
def sparse_row_digests(
    indptr: IntArray, indices: IntArray, bits: Any, with_columns: bool, out: Any
) -> None:
    """As `dense_row_digests`, for rows of a CSR matrix."""
    for i in prange(len(indptr) - 1):
        total = np.uint64(0)
        for place in range(indptr[i], indptr[i + 1]):
            value = bits[place]
            if value != np.uint64(0) and value != _MINUS_ZERO:
                salt = np.uint64(indices[place] + 1) * _STEP if with_columns else np.uint64(0)
                total += _mix(_mix(value) + salt)
        out[i] = total
