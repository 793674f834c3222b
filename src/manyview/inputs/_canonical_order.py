"""An order of samples and views that depends on what they hold, not on where they stand.

Work goes through samples and views in this order. So the same samples in another order, or the same
views in another order, are the same work bit by bit, and what comes of it is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from manyview._typing import BoolArray, IntArray, Matrix
from manyview.inputs._views import Views

# Stands for a row that a view lacks: no row of zeros, which is 0.
_ABSENT = 0x6D616E7976696577


@dataclass(frozen=True)
class CanonicalOrder:
    """Where samples and views are put.

    Attributes
    ----------
    samples : array of shape (n_samples,)
        The sample in each row. Samples that are equal in every view stay in the order they came in.
    views : array of shape (n_views,)
        The view in each place.
    digest : int
        One number for all samples and what each holds in every view, whatever their order.
    """

    samples: IntArray
    views: IntArray
    digest: int

    @property
    def n_samples(self) -> int:
        return len(self.samples)

    def by_sample(self, rows: NDArray[Any]) -> NDArray[Any]:
        """One entry a row -> one entry a sample."""
        out = np.empty_like(rows)
        out[self.samples] = rows
        return out

    def by_view(self, places: NDArray[Any]) -> NDArray[Any]:
        """One entry a place -> one entry a view."""
        out = np.empty_like(places)
        out[self.views] = places
        return out


def canonical_order(views: Views, *, between_samples: bool = False) -> CanonicalOrder:
    """The layout of views; those `between_samples` have a column a sample, not a feature."""
    digests = [row_digests(matrix, not between_samples) for matrix in views.matrices]
    return order_from_digests(digests, views.present)


def order_from_digests(
    digests: Sequence[NDArray[np.uint64]], present: BoolArray | None
) -> CanonicalOrder:
    """The layout of views whose rows are told by `row_digests`; absent rows are written over."""
    from manyview import _kernels

    if present is not None:
        for rows, has in zip(digests, present.T, strict=True):
            rows[~has] = _ABSENT
    wholes = [int(_kernels.hash_numbers(rows).sum(dtype=np.uint64)) for rows in digests]
    places = np.array(sorted(range(len(wholes)), key=wholes.__getitem__))
    keys = np.zeros(len(digests[0]), dtype=np.uint64)
    for v in places:
        keys = _kernels.hash_numbers(keys + digests[v])
    digest = int(_kernels.hash_numbers(keys).sum(dtype=np.uint64))
    return CanonicalOrder(np.argsort(keys, kind="stable"), places, digest)


def content_digest(views: Views, *, between_samples: bool = False) -> str:
    """What tells data from other data: the same whatever the order of samples and views.

    Of views `between_samples` it is not: which of their numbers belong together is told by where
    they stand, and so it is the order that is compared as well.
    """
    from manyview import _kernels

    if not between_samples:
        return f"{canonical_order(views).digest:016x}"
    total = np.zeros(1, dtype=np.uint64)
    places = _kernels.hash_numbers(np.arange(views.n_samples, dtype=np.uint64))
    for matrix in views.matrices:
        rows = row_digests(matrix) ^ places
        total = _kernels.hash_numbers(total + _kernels.hash_numbers(rows).sum(dtype=np.uint64))
    return f"{int(total[0]):016x}"


def row_digests(matrix: Matrix, with_columns: bool = True) -> NDArray[np.uint64]:
    """One number a row for what it holds: equal for equal rows, sparse or dense."""
    from manyview import _kernels

    out = np.empty(matrix.shape[0], dtype=np.uint64)
    if isinstance(matrix, csr_array):
        bits = np.ascontiguousarray(matrix.data, dtype=np.float64).view(np.uint64)
        _kernels.sparse_row_digests(matrix.indptr, matrix.indices, bits, with_columns, out)
    else:
        bits = np.ascontiguousarray(matrix, dtype=np.float64).view(np.uint64)
        _kernels.dense_row_digests(bits, with_columns, out)
    return out
