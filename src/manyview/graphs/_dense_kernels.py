"""Dense similarity matrices between all pairs of samples, for the methods that need them."""

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray, Matrix
from manyview.graphs._build import check_distinct, warn_of_no_edges
from manyview.inputs import DenseRows, Rows, Views, count_distinct, powers_of_two, view_rows
from manyview.runtime import format_bytes

# Rows at a time, so that what is computed on the way stays in the cache.
_BLOCK = 64


def view_kernels(views: Views, kernel: str, n_clusters: int) -> tuple[list[FloatArray], FloatArray]:
    """The kernel of every view, and its sigma; no sigmas for precomputed kernels."""
    pairs = list(zip(views.names, views.matrices, strict=True))
    if kernel == "precomputed":
        return [_precomputed_kernel(matrix, name) for name, matrix in pairs], np.array([])
    rows = [
        view_rows(matrix, scaling)
        for matrix, scaling in zip(views.matrices, views.scalings, strict=True)
    ]
    check_distinct(count_distinct(rows), views.n_samples, n_clusters)
    kernels, sigmas = zip(*(gaussian_kernel(own) for own in rows), strict=True)
    for name, sigma in zip(views.names, sigmas, strict=True):
        if sigma == 0:
            warn_of_no_edges(name, "all samples are equal")
    return list(kernels), np.array(sigmas)


def _precomputed_kernel(matrix: Matrix, name: str) -> FloatArray:
    dense: FloatArray = matrix.toarray() if isinstance(matrix, csr_array) else matrix
    largest = dense.max()
    if largest == 0:
        warn_of_no_edges(name, "it has no similarities")
    if largest > 1:  # the scale does not matter, but column sums must not overflow
        dense = dense / powers_of_two(np.asarray(largest))
    return (dense + dense.T) / 2


def gaussian_kernel(rows: Rows) -> tuple[FloatArray, float]:
    """exp(-d^2 / (2 sigma^2)) between all samples, sigma the median of all N^2 distances.

    If more than half of the distances are 0, sigma is their mean; if all are, the kernel is 1.
    """
    sq = all_sq_distances(rows)
    distances = np.sqrt(sq)
    sigma = float(np.median(distances)) or float(distances.mean())
    if sigma > 0:
        sq /= -2 * sigma**2
    return np.exp(sq, out=sq), sigma


def all_sq_distances(rows: Rows) -> FloatArray:
    """Squared distances between all samples, symmetric; 0 between equal rows."""
    if isinstance(rows, DenseRows):  # same distances, fewer digits lost in products
        rows = DenseRows(rows.data - rows.data.mean(axis=0))
    norms, sq = rows.sq_norms(), rows.inner_products(slice(None))
    for start in range(0, len(sq), _BLOCK):
        some, rest = slice(start, start + _BLOCK), slice(start, None)
        largest = norms[some, None] + norms[rest]
        own = largest - (sq[some, rest] + sq[rest, some].T)
        own[own <= 1e-13 * largest] = 0.0  # rounding errors
        sq[some, rest], sq[rest, some] = own, own.T
    return sq


def check_dense_limit(method: str, n_samples: int, needed: int, limit: int) -> None:
    """Refuse more than `limit` samples, naming the bytes that a method's matrices would need."""
    if n_samples > limit:
        raise ValueError(
            f"{method} holds about {needed / (8 * n_samples**2):.0f} dense matrices of "
            f"{n_samples} x {n_samples}, {format_bytes(needed)}; expected at most "
            f"max_dense_samples={limit} samples, or a larger limit"
        )
