"""Diffusion of a sparse graph through another one."""

import numpy as np
from numba import prange

from manyview._kernels._compile import row_kernel
from manyview._typing import FloatArray, IntArray


@row_kernel
def diffuse(
    indptr: IntArray, indices: IntArray, M: FloatArray,
    S_indptr: IntArray, S_indices: IntArray, S: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """out = S M S' on the pattern of M; what lies outside of it is dropped."""
    n = len(indptr) - 1
    batch = 64  # rows per array of products
    for b in prange((n + batch - 1) // batch):
        row = np.zeros(n)  # of S M
        for i in range(b * batch, min((b + 1) * batch, n)):
            for e in range(S_indptr[i], S_indptr[i + 1]):
                for f in range(indptr[S_indices[e]], indptr[S_indices[e] + 1]):
                    row[indices[f]] += S[e] * M[f]
            for g in range(indptr[i], indptr[i + 1]):
                total = 0.0
                for e in range(S_indptr[indices[g]], S_indptr[indices[g] + 1]):
                    total += row[S_indices[e]] * S[e]
                out[g] = total
            for e in range(S_indptr[i], S_indptr[i + 1]):
                for f in range(indptr[S_indices[e]], indptr[S_indices[e] + 1]):
                    row[indices[f]] = 0.0
