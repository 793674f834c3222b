"""Per-sample normalisation: a view's matrix -> rows among which distances are measured.

Sparse views stay sparse, also where rows are shifted by their means: see `SparseRows`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray, Matrix

# A row whose range is below this part of its largest entry is constant up to rounding.
_FLAT = 16 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class DenseRows:
    data: FloatArray

    @property
    def n_samples(self) -> int:
        return len(self.data)

    def sq_norms(self) -> FloatArray:
        return _row_squares(self.data)

    def inner_products(self, some: slice | IntArray) -> FloatArray:
        """Inner products of some rows with every row."""
        return self.data[some] @ self.data.T

    def products(self, vectors: FloatArray) -> FloatArray:
        """(n_samples, n_vectors): inner products of every row with other vectors."""
        return self.data @ vectors.T

    def combinations(self, weights: csr_array) -> FloatArray:
        """(n, n_features): weighted sums of rows, for weights of shape (n, n_samples)."""
        return np.asarray(weights @ self.data)

    def take(self, some: IntArray) -> "DenseRows":
        return DenseRows(self.data[some])

    def times(self, factors: FloatArray) -> "DenseRows":
        """Each row multiplied by a factor of its own."""
        return DenseRows(self.data * factors[:, None])

    def sq_distances(self, targets: IntArray, candidates: IntArray) -> FloatArray:
        """Squared distances from row targets[t] to rows candidates[t], by differences."""
        from manyview import _kernels

        return _kernels.dense_sq_distances(self.data, targets, candidates)

    def distances_to_means(self, some: slice, shares: csr_array) -> FloatArray:
        """Distances of some rows to means of rows, by the shares of every row in them."""
        return np.asarray(np.linalg.norm(self.data[some] - shares @ self.data, axis=1))

    def row_bytes(self, i: int) -> bytes:
        """Bytes that are the same for equal rows only."""
        return bytes((self.data[i] + 0.0).tobytes())  # -0.0 is 0.0


@dataclass(frozen=True)
class SparseRows:
    """Row i is scale[i] * matrix[i] + shift[i], with the shift added to every feature."""

    matrix: csr_array
    scale: FloatArray
    shift: FloatArray

    @property
    def n_samples(self) -> int:
        return len(self.scale)

    def sq_norms(self) -> FloatArray:
        width = self.matrix.shape[1]
        squares = self.scale**2 * self.matrix.power(2).sum(axis=1)
        return np.asarray(squares + 2 * self.shift * self.sums() + width * self.shift**2)

    def inner_products(self, some: slice | IntArray) -> FloatArray:
        width, sums = self.matrix.shape[1], self.sums()
        products = (self.matrix[some] @ self.matrix.T).toarray()
        products *= self.scale[some, None] * self.scale
        products += sums[some, None] * self.shift + self.shift[some, None] * sums
        products += width * self.shift[some, None] * self.shift
        return np.asarray(products)

    def products(self, vectors: FloatArray) -> FloatArray:
        shifts = self.shift[:, None] * vectors.sum(axis=1)
        return np.asarray(self.scale[:, None] * (self.matrix @ vectors.T) + shifts)

    def combinations(self, weights: csr_array) -> FloatArray:
        scaled = csr_array(weights.multiply(self.scale))
        return np.asarray((scaled @ self.matrix).toarray() + (weights @ self.shift)[:, None])

    def take(self, some: IntArray) -> "SparseRows":
        return SparseRows(self.matrix[some], self.scale[some], self.shift[some])

    def times(self, factors: FloatArray) -> "SparseRows":
        return SparseRows(self.matrix, self.scale * factors, self.shift * factors)

    def sq_distances(self, targets: IntArray, candidates: IntArray) -> FloatArray:
        from manyview import _kernels

        csr = self.matrix
        return _kernels.sparse_sq_distances(
            csr.indptr, csr.indices, csr.data, self.scale, self.shift, csr.shape[1],
            targets, candidates,
        )  # fmt: skip

    def distances_to_means(self, some: slice, shares: csr_array) -> FloatArray:
        scaled = csr_array(self.matrix.multiply(self.scale[:, None]))
        gaps = (scaled[some] - shares @ scaled).toarray()
        gaps += (self.shift[some] - shares @ self.shift)[:, None]
        return np.asarray(np.linalg.norm(gaps, axis=1))

    def row_bytes(self, i: int) -> bytes:
        own = slice(self.matrix.indptr[i], self.matrix.indptr[i + 1])
        filled = self.matrix.data[own] != 0
        values = self.scale[i] * self.matrix.data[own][filled]
        columns = self.matrix.indices[own][filled].astype(np.int64)
        return bytes(columns.tobytes() + values.tobytes() + self.shift[i].tobytes())

    def sums(self) -> FloatArray:
        """Sum over features of scale * x."""
        return np.asarray(self.scale * self.matrix.sum(axis=1))


@dataclass(frozen=True)
class JoinedRows:
    """Rows of several views as one; squared norms and distances are sums over the views."""

    parts: tuple[DenseRows | SparseRows, ...]

    @property
    def n_samples(self) -> int:
        return self.parts[0].n_samples

    def sq_norms(self) -> FloatArray:
        return np.asarray(sum(part.sq_norms() for part in self.parts))

    def inner_products(self, some: slice | IntArray) -> FloatArray:
        return np.asarray(sum(part.inner_products(some) for part in self.parts))

    def sq_distances(self, targets: IntArray, candidates: IntArray) -> FloatArray:
        return np.asarray(sum(part.sq_distances(targets, candidates) for part in self.parts))

    def row_bytes(self, i: int) -> bytes:
        return b"".join(part.row_bytes(i) for part in self.parts)


Rows: TypeAlias = DenseRows | SparseRows | JoinedRows


def count_distinct(views: Sequence[Rows], limit: float = np.inf) -> int:
    """Number of samples that differ from each other in some view, after normalisation; no more are
    counted than `limit`."""
    found: set[tuple[bytes, ...]] = set()
    for i in range(views[0].n_samples):
        found.add(tuple(rows.row_bytes(i) for rows in views))
        if len(found) >= limit:
            break
    return len(found)


def side_by_side(parts: Sequence[DenseRows | SparseRows]) -> Rows:
    """All features of several views as one view; sparse parts stay sparse."""
    if all(isinstance(part, DenseRows) for part in parts):
        return DenseRows(np.hstack([part.data for part in parts if isinstance(part, DenseRows)]))
    return JoinedRows(tuple(parts))


def normalize_rows(
    matrix: Matrix, how: str | None, largest: float | None = None
) -> DenseRows | SparseRows:
    """Normalise each sample within its view.

    Parameters
    ----------
    matrix : array or csr_array of shape (n_samples, n_features)
    how : {"zscore", "unit", None}
        "zscore" subtracts the sample's mean over its features and divides by its standard
        deviation with n_features - 1 in the denominator; a constant row becomes zero. "unit"
        divides by the Euclidean norm; a zero row stays zero. None scales all by the same power of
        two.
    largest : largest absolute value of the view, where it is known
    """
    if how is None and largest is None:
        values = matrix.data if isinstance(matrix, csr_array) else matrix
        largest = float(np.abs(values).max(initial=0.0))
    power = float(powers_of_two(np.asarray(largest or 0.0)))
    if isinstance(matrix, csr_array):
        return _normalize_sparse(matrix, how, power)
    return DenseRows(_normalize_dense(matrix, how, power))


def powers_of_two(largest: FloatArray) -> FloatArray:
    """A power of two near each value: dividing by it is exact, and squares no longer overflow."""
    return np.asarray(np.ldexp(1.0, np.clip(np.frexp(largest)[1], -1021, 1023)))


def _row_squares(data: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", data, data))


def _normalize_dense(matrix: FloatArray, how: str | None, power: float) -> FloatArray:
    if how is None:
        return np.ascontiguousarray(matrix / power)
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    data = matrix / powers_of_two(largest)
    if how == "zscore":
        flat = data.max(axis=1) - data.min(axis=1) <= _FLAT
        data -= data.mean(axis=1, keepdims=True)
        data[flat] = 0.0
        length = np.sqrt(_row_squares(data) / max(data.shape[1] - 1, 1))
    else:
        length = np.sqrt(_row_squares(data))
    data /= np.where(length > 0, length, 1.0)[:, None]
    return np.ascontiguousarray(data)


def _normalize_sparse(matrix: csr_array, how: str | None, power: float) -> SparseRows:
    n, width = matrix.shape
    scale, shift = np.ones(n), np.zeros(n)
    if how is None:
        return SparseRows(_with_data(matrix, matrix.data / power), scale, shift)
    filled = np.diff(matrix.indptr)
    powers = powers_of_two(np.asarray(abs(matrix).max(axis=1).toarray()).ravel())
    scaled = _with_data(matrix, matrix.data / np.repeat(powers, filled))
    if how == "unit":
        length = np.sqrt(scaled.power(2).sum(axis=1))
        return SparseRows(scaled, 1 / np.where(length > 0, length, 1.0), shift)
    mean = scaled.sum(axis=1) / width
    centred = _with_data(scaled, scaled.data - np.repeat(mean, filled))
    squares = centred.power(2).sum(axis=1) + (width - filled) * mean**2
    low = scaled.min(axis=1).toarray().ravel()
    high = scaled.max(axis=1).toarray().ravel()
    flat = high - low <= _FLAT
    deviation = np.sqrt(squares / max(width - 1, 1))
    scale = np.where(flat, 0.0, 1 / np.where(flat, 1.0, deviation))
    return SparseRows(scaled, scale, -mean * scale)


def _with_data(matrix: csr_array, data: FloatArray) -> csr_array:
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
