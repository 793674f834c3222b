"""Nearest neighbours of samples that are spread: shares of rows, and what is found for them.

Samples are known by their numbers in the layout. A share has them in ascending order, so that
among equals the same come first as on a single machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from distributed import Future
from scipy.sparse import csr_array, vstack

from manyview._typing import BoolArray, FloatArray, IntArray, Matrix
from manyview.distributed._client import Session
from manyview.graphs import nearest, nearest_elsewhere
from manyview.inputs import DenseRows, SparseRows, view_rows


@dataclass(frozen=True)
class Share:
    """Some samples of a view, normalised, and their numbers."""

    rows: DenseRows | SparseRows
    numbers: IntArray

    def __len__(self) -> int:
        return len(self.numbers)

    def some(self, chosen: BoolArray | IntArray) -> Share:
        return Share(some_rows(self.rows, chosen), self.numbers[chosen])


@dataclass(frozen=True)
class Found:
    """The nearest samples of some samples, nearest first; infinitely far where there were fewer."""

    numbers: IntArray
    indices: IntArray
    sq_distances: FloatArray


def some_rows(rows: DenseRows | SparseRows, chosen: BoolArray | IntArray) -> DenseRows | SparseRows:
    if isinstance(rows, DenseRows):
        return DenseRows(rows.data[chosen])
    return SparseRows(rows.matrix[chosen], rows.scale[chosen], rows.shift[chosen])


def joined_rows(parts: Sequence[DenseRows | SparseRows]) -> DenseRows | SparseRows:
    """One below the other."""
    if len(parts) == 1:
        return parts[0]
    dense = [part.data for part in parts if isinstance(part, DenseRows)]
    if dense:
        return DenseRows(np.concatenate(dense))
    sparse = [part for part in parts if isinstance(part, SparseRows)]
    return SparseRows(
        csr_array(vstack([part.matrix for part in sparse], format="csr")),
        np.concatenate([part.scale for part in sparse]),
        np.concatenate([part.shift for part in sparse]),
    )


def joined_shares(parts: Sequence[Share]) -> Share:
    numbers = np.concatenate([part.numbers for part in parts])
    whole = Share(joined_rows([part.rows for part in parts]), numbers)
    return whole.some(np.argsort(numbers))


def make_share(
    matrix: Matrix,
    numbers: IntArray,
    has: BoolArray | None,
    name: str,
    normalize: str | None,
    largest: float,
) -> Share:
    """The samples of a block that the view has."""
    order = np.argsort(numbers)
    if has is not None:
        order = order[has[order]]
    return Share(view_rows(matrix[order], name, normalize, largest), numbers[order])


def exact_search(session: Session, shares: Sequence[Future], m: int) -> list[Future]:
    """The `m` nearest samples of every sample, by looking at all; a `Found` for each share.

    Every worker goes through the shares one after the other, beginning with its own: of those of
    others it holds one at a time.
    """
    n_blocks = len(shares)
    found = session.each("neighbors", _within, shares, [m] * n_blocks)
    for step in range(1, n_blocks):
        others = [shares[(b + step) % n_blocks] for b in range(n_blocks)]
        found = session.each("neighbors", _further, found, shares, others)
    return found


def _within(own: Share, m: int) -> Found:
    """The nearest in the same share."""
    n, most = len(own), min(m, max(len(own) - 1, 0))
    found = Found(own.numbers, np.zeros((n, m), dtype=np.int64), np.full((n, m), np.inf))
    if most > 0:
        near = nearest(own.rows, most)
        found.indices[:, :most] = own.numbers[near.indices]
        found.sq_distances[:, :most] = near.sq_distances
    return found


def _further(found: Found, own: Share, other: Share) -> Found:
    """The same with what is nearer in another share."""
    return nearest_of([found, among(own, other, found.indices.shape[1])])


def among(own: Share, other: Share, m: int) -> Found:
    """The nearest in another share."""
    if len(own) == 0 or len(other) == 0:
        n = len(own)
        return Found(own.numbers, np.zeros((n, m), dtype=np.int64), np.full((n, m), np.inf))
    both = joined_rows([other.rows, own.rows])
    columns, distances = nearest_elsewhere(both, len(other), m)
    return Found(own.numbers, other.numbers[columns], distances)


def nearest_of(several: Sequence[Found]) -> Found:
    """The nearest of what was found for the same samples; the first has the wanted number."""
    m = several[0].indices.shape[1]
    indices = np.concatenate([found.indices for found in several], axis=1)
    distances = np.concatenate([found.sq_distances for found in several], axis=1)
    order = np.lexsort((indices, distances), axis=1)[:, :m]
    return Found(
        several[0].numbers,
        np.take_along_axis(indices, order, axis=1),
        np.take_along_axis(distances, order, axis=1),
    )
