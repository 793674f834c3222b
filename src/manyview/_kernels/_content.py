"""64-bit hashes of numbers and of rows."""

from typing import Any

import numpy as np
from numba import njit, prange

from manyview._kernels._compile import row_kernel
from manyview._typing import IntArray

_MINUS_ZERO = np.uint64(1 << 63)
_STEP = np.uint64(0x9E3779B97F4A7C15)


def _mix(x: Any) -> Any:
    """The finaliser of splitmix64: every bit of the result depends on all bits of x."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


_mix_one = njit(cache=True)(_mix)


def hash_numbers(numbers: Any) -> Any:
    """A hash of each 64-bit number of an array."""
    return _mix(numbers + _STEP)


@njit(cache=True)
def _hash_entry(bits: Any, column: int, with_columns: bool) -> Any:
    """0 for the number 0, so that stored zeros do not matter."""
    if bits == np.uint64(0) or bits == _MINUS_ZERO:
        return np.uint64(0)
    salt = np.uint64(column + 1) * _STEP if with_columns else np.uint64(0)
    return _mix_one(_mix_one(bits) + salt)


@row_kernel
def dense_row_digests(bits: Any, with_columns: bool, out: Any) -> None:
    """One hash per row of float64 numbers, given as their bits.

    It is a sum over entries, so a sparse row has the hash of the dense one. Without columns it
    does not depend on the order of the entries in a row.
    """
    for i in prange(bits.shape[0]):
        total = np.uint64(0)
        for f in range(bits.shape[1]):
            total += _hash_entry(bits[i, f], f, with_columns)
        out[i] = total


@row_kernel
def sparse_row_digests(
    indptr: IntArray, indices: IntArray, bits: Any, with_columns: bool, out: Any
) -> None:
    """As `dense_row_digests`, for rows of a CSR matrix."""
    for i in prange(len(indptr) - 1):
        total = np.uint64(0)
        for e in range(indptr[i], indptr[i + 1]):
            total += _hash_entry(bits[e], indices[e], with_columns)
        out[i] = total
