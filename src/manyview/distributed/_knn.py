"""Nearest neighbours of distributed samples, by exhaustive search.

Samples are identified by their positions in canonical order. Blocks have them in ascending order,
so that ties are broken as on one machine.
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
from manyview.inputs import DenseRows, Scaler, SparseRows


@dataclass(frozen=True)
class SampleRows:
    """Normalised rows of some samples in one view, and which samples they are."""

    rows: DenseRows | SparseRows
    samples: IntArray

    def __len__(self) -> int:
        return len(self.samples)

    def select(self, chosen: BoolArray | IntArray) -> SampleRows:
        rows = self.rows
        if isinstance(rows, DenseRows):
            return SampleRows(DenseRows(rows.data[chosen]), self.samples[chosen])
        sparse = SparseRows(rows.matrix[chosen], rows.scale[chosen], rows.shift[chosen])
        return SampleRows(sparse, self.samples[chosen])


@dataclass(frozen=True)
class SampleNeighbors:
    """The nearest samples of some samples, nearest first; infinitely far if there are fewer."""

    samples: IntArray
    indices: IntArray
    sq_distances: FloatArray


def sample_rows(
    matrix: Matrix,
    samples: IntArray,
    present: BoolArray | None,
    scaler: Scaler,
) -> SampleRows:
    """The samples of a block that the view has, scaled."""
    order = np.argsort(samples)
    if present is not None:
        order = order[present[order]]
    empty = scaler.empty(matrix[order])
    if empty is not None:
        order = order[~empty]
    return SampleRows(scaler.rows(matrix[order]), samples[order])


def concat_rows(parts: Sequence[DenseRows | SparseRows]) -> DenseRows | SparseRows:
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
    """All samples in ascending order."""
    samples = np.concatenate([part.samples for part in parts])
    return SampleRows(concat_rows([part.rows for part in parts]), samples).select(
        np.argsort(samples)
    )


def exact_search(session: DaskSession, blocks: list[Future], m: int) -> list[Future]:
    """The `m` nearest samples of every sample: one `SampleNeighbors` per block.

    Every worker goes through all blocks, beginning with its own, and holds one other at a time.
    """
    found = session.map_blocks("neighbors", _nearest_within, blocks, m)
    for step in range(1, len(blocks)):
        others = blocks[step:] + blocks[:step]
        found = session.map_blocks("neighbors", _nearest_with, found, blocks, others)
    return found


def _nearest_within(own: SampleRows, m: int) -> SampleNeighbors:
    """The nearest samples in the same block."""
    found, most = no_neighbors(own.samples, m), min(m, max(len(own) - 1, 0))
    if most > 0:
        near = nearest(own.rows, most)
        found.indices[:, :most] = own.samples[near.indices]
        found.sq_distances[:, :most] = near.sq_distances
    return found


def _nearest_with(found: SampleNeighbors, own: SampleRows, other: SampleRows) -> SampleNeighbors:
    """The nearest samples found so far or in another block."""
    return merge_neighbors([found, nearest_in(own, other, found.indices.shape[1])])


def no_neighbors(samples: IntArray, m: int) -> SampleNeighbors:
    shape = (len(samples), m)
    return SampleNeighbors(samples, np.zeros(shape, dtype=np.int64), np.full(shape, np.inf))


def nearest_in(own: SampleRows, other: SampleRows, m: int) -> SampleNeighbors:
    """The `m` nearest samples in another block; fewer if it has fewer."""
    if len(own) == 0 or len(other) == 0:
        return no_neighbors(own.samples, m)
    both = concat_rows([other.rows, own.rows])
    columns, distances = nearest_reference_exact(both, len(other), m)
    return SampleNeighbors(own.samples, other.samples[columns], distances)


def merge_neighbors(several: Sequence[SampleNeighbors]) -> SampleNeighbors:
    """The nearest of several neighbours of the same samples, as many as the first has."""
    m = several[0].indices.shape[1]
    indices = np.concatenate([found.indices for found in several], axis=1)
    distances = np.concatenate([found.sq_distances for found in several], axis=1)
    order = np.lexsort((indices, distances), axis=1)[:, :m]
    return SampleNeighbors(
        several[0].samples,
        np.take_along_axis(indices, order, axis=1),
        np.take_along_axis(distances, order, axis=1),
    )
