"""Nearest neighbours of samples that are spread: shares of rows, and what is found for them.

Samples are known by their samples in the layout. A share has them in ascending order, so that
among equals the same come first as on a single machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from distributed import Future
from scipy.sparse import csr_array, vstack

from manyview._typing import BoolArray, FloatArray, IntArray, Matrix
from manyview.distributed._client import DaskSession
from manyview.graphs import nearest, nearest_reference_exact
from manyview.inputs import DenseRows, SparseRows, view_rows


@dataclass(frozen=True)
class SampleRows:
    """Some samples of a view, normalised, and their samples."""

    rows: DenseRows | SparseRows
    samples: IntArray

    def __len__(self) -> int:
        return len(self.samples)

    def select(self, chosen: BoolArray | IntArray) -> SampleRows:
        return SampleRows(select_rows(self.rows, chosen), self.samples[chosen])


@dataclass(frozen=True)
class SampleNeighbors:
    """The nearest samples of some samples, nearest first; infinitely far where there were fewer."""

    samples: IntArray
    indices: IntArray
    sq_distances: FloatArray


def select_rows(
    rows: DenseRows | SparseRows, chosen: BoolArray | IntArray
) -> DenseRows | SparseRows:
    if isinstance(rows, DenseRows):
        return DenseRows(rows.data[chosen])
    return SparseRows(rows.matrix[chosen], rows.scale[chosen], rows.shift[chosen])


def concat_rows(parts: Sequence[DenseRows | SparseRows]) -> DenseRows | SparseRows:
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


def concat_samples(parts: Sequence[SampleRows]) -> SampleRows:
    samples = np.concatenate([part.samples for part in parts])
    whole = SampleRows(concat_rows([part.rows for part in parts]), samples)
    return whole.select(np.argsort(samples))


def sample_rows(
    matrix: Matrix,
    samples: IntArray,
    has: BoolArray | None,
    name: str,
    normalize: str | None,
    largest: float,
) -> SampleRows:
    """The samples of a block that the view has."""
    order = np.argsort(samples)
    if has is not None:
        order = order[has[order]]
    return SampleRows(view_rows(matrix[order], name, normalize, largest), samples[order])


def exact_search(session: DaskSession, shares: Sequence[Future], m: int) -> list[Future]:
    """The `m` nearest samples of every sample, a `SampleNeighbors` per share.

    Every worker goes through the shares one after the other, beginning with its own: of those of
    others it holds one at a time.
    """
    n_blocks = len(shares)
    found = session.map_blocks("neighbors", _within, shares, [m] * n_blocks)
    for step in range(1, n_blocks):
        others = [shares[(b + step) % n_blocks] for b in range(n_blocks)]
        found = session.map_blocks("neighbors", _further, found, shares, others)
    return found


def _within(own: SampleRows, m: int) -> SampleNeighbors:
    """The nearest in the same share."""
    n, most = len(own), min(m, max(len(own) - 1, 0))
    found = SampleNeighbors(own.samples, np.zeros((n, m), dtype=np.int64), np.full((n, m), np.inf))
    if most > 0:
        near = nearest(own.rows, most)
        found.indices[:, :most] = own.samples[near.indices]
        found.sq_distances[:, :most] = near.sq_distances
    return found


def _further(found: SampleNeighbors, own: SampleRows, other: SampleRows) -> SampleNeighbors:
    """The same with what is nearer in another share."""
    return merge_neighbors([found, nearest_in(own, other, found.indices.shape[1])])


def nearest_in(own: SampleRows, other: SampleRows, m: int) -> SampleNeighbors:
    """The nearest in another share."""
    if len(own) == 0 or len(other) == 0:
        n = len(own)
        return SampleNeighbors(
            own.samples, np.zeros((n, m), dtype=np.int64), np.full((n, m), np.inf)
        )
    both = concat_rows([other.rows, own.rows])
    columns, distances = nearest_reference_exact(both, len(other), m)
    return SampleNeighbors(own.samples, other.samples[columns], distances)


def merge_neighbors(several: Sequence[SampleNeighbors]) -> SampleNeighbors:
    """The nearest of what was found for the same samples; the first has the wanted number."""
    m = several[0].indices.shape[1]
    indices = np.concatenate([found.indices for found in several], axis=1)
    distances = np.concatenate([found.sq_distances for found in several], axis=1)
    order = np.lexsort((indices, distances), axis=1)[:, :m]
    return SampleNeighbors(
        several[0].samples,
        np.take_along_axis(indices, order, axis=1),
        np.take_along_axis(distances, order, axis=1),
    )
