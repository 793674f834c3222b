"""An order of samples and views that depends only on what they hold.

All computing goes through samples and views in this order. So the same samples or views in another
order give the same result, bit by bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from manyview._typing import BoolArray, IntArray, Matrix
from manyview.inputs._blocks import row_blocks
from manyview.inputs._views import Views

_MISSING = 0x6D616E7976696577  # digest of a missing row; that of a row of zeros is 0


@dataclass(frozen=True)
class CanonicalOrder:
    """The canonical order of samples and views."""

    # (n_samples,): the sample of each row. Samples that are equal in every view stay in the given
    # order.
    samples: IntArray
    views: IntArray  # (n_views,): the view at each position
    digest: int  # one number for what all samples hold in all views, whatever their order

    @property
    def n_samples(self) -> int:
        return len(self.samples)

    def by_sample(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Entries in canonical order -> entries in the order of the given samples."""
        out = np.empty_like(rows)
        out[self.samples] = rows
        return out


def canonical_order(views: Views, *, between_samples: bool = False) -> CanonicalOrder:
    """The order of views; those `between_samples` have one column per sample, not per feature."""
    digests = [row_digests(matrix, not between_samples) for matrix in views.matrices]
    return order_from_digests(digests, views.present)


def order_from_digests(
    digests: Sequence[NDArray[np.uint64]], present: BoolArray | None
) -> CanonicalOrder:
    """The order of views from their `row_digests`, in which those of missing rows are replaced."""
    from manyview import _kernels

    if present is not None:
        for rows, has in zip(digests, present.T, strict=True):
            rows[~has] = _MISSING
    totals = [int(_kernels.hash_numbers(rows).sum(dtype=np.uint64)) for rows in digests]
    views = np.array(sorted(range(len(totals)), key=totals.__getitem__))
    keys = np.zeros(len(digests[0]), dtype=np.uint64)
    for v in views:
        keys = _kernels.hash_numbers(keys + digests[v])
    digest = int(_kernels.hash_numbers(keys).sum(dtype=np.uint64))
    return CanonicalOrder(np.argsort(keys, kind="stable"), views, digest)


def content_digest(views: Views, *, between_samples: bool = False) -> str:
    """A digest that tells data from other data, the same for any order of samples and views.

    Not so for views `between_samples`: there the order of samples is part of the digest.
    """
    from manyview import _kernels

    if not between_samples:
        return f"{canonical_order(views).digest:016x}"
    total = np.zeros(1, dtype=np.uint64)
    positions = _kernels.hash_numbers(np.arange(views.n_samples, dtype=np.uint64))
    for matrix in views.matrices:
        rows = row_digests(matrix) ^ positions
        total = _kernels.hash_numbers(total + _kernels.hash_numbers(rows).sum(dtype=np.uint64))
    return f"{int(total[0]):016x}"


def row_digests(matrix: Matrix, with_columns: bool = True) -> NDArray[np.uint64]:
    """One number per row for what it holds: equal for equal rows, sparse or dense."""
    from manyview import _kernels

    out = np.empty(matrix.shape[0], dtype=np.uint64)
    if isinstance(matrix, csr_array):
        bits = np.ascontiguousarray(matrix.data, dtype=np.float64).view(np.uint64)
        _kernels.sparse_row_digests(matrix.indptr, matrix.indices, bits, with_columns, out)
        return out
    whole = [slice(None)] if matrix.dtype == np.float64 else row_blocks(matrix.shape)
    for rows in whole:
        bits = np.ascontiguousarray(matrix[rows], dtype=np.float64).view(np.uint64)
        _kernels.dense_row_digests(bits, with_columns, out[rows])
    return out
