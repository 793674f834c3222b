"""Connected components and Laplacian of a distributed symmetric graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Future
from numpy.typing import NDArray
from scipy.sparse import csr_array

from manyview import _kernels
from manyview._typing import FloatArray, IntArray
from manyview.distributed._client import DaskSession, row_blocks
from manyview.spectral import (
    PRODUCT,
    Operator,
    Step,
    cache_aligned,
    chebyshev_steps,
    degrees_of,
    laplacian_rows,
    null_vector,
)


@dataclass(frozen=True)
class DistributedGraph:
    """A symmetric graph in row blocks: one future of rows per block."""

    session: DaskSession
    bounds: IntArray
    rows: list[Future]

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.bounds[-1]), int(self.bounds[-1])

    def components(self) -> IntArray:
        return connected_components(self.session, self.rows, self.bounds)

    def laplacian(self, normalized: bool) -> tuple[DistributedLaplacian, FloatArray]:
        session, firsts = self.session, self.bounds[:-1].tolist()
        degrees = session.gather_rows(session.map_blocks("degrees", degrees_of, self.rows))
        null, bound = null_vector(degrees, normalized)
        scaling = session.broadcast(null) if normalized else None
        parts = session.map_blocks("laplacian", _laplacian, self.rows, scaling, bound, firsts)
        return DistributedLaplacian(session, self.bounds, parts, bound), null


@dataclass(frozen=True)
class DistributedLaplacian:
    """A Laplacian in row blocks, as a `SymmetricOperator`.

    In each step a worker computes its rows and fetches those of the others from them. Only the
    first and the last block of vectors pass through the client.
    """

    session: DaskSession
    bounds: IntArray
    parts: list[Future]
    bound: float

    @property
    def n_samples(self) -> int:
        return int(self.bounds[-1])

    def times(self, block: FloatArray) -> FloatArray:
        return self._steps([PRODUCT], np.asarray(block, dtype=np.float64), "product")

    def filter(self, block: FloatArray, degree: int, edge: float, precision: type) -> FloatArray:
        steps = chebyshev_steps(degree, edge, self.bound)
        return self._steps(steps, np.asarray(block, dtype=precision), "filter")

    def _steps(self, steps: Iterable[Step], block: NDArray[Any], name: str) -> FloatArray:
        session = self.session
        before = now = session.scatter_blocks(row_blocks(block, self.bounds))
        for step in steps:
            everything = [now] * len(now)  # every worker needs all rows
            after = session.map_blocks(name, _step, self.parts, everything, before, step)
            before, now = now, after
        return np.asarray(session.gather_rows(now), dtype=np.float64)


def connected_components(session: DaskSession, rows: list[Future], bounds: IntArray) -> IntArray:
    """Each sample's connected component, numbered by first samples.

    Every worker finds the components of its rows; these are then merged two by two.
    """
    firsts = bounds[:-1].tolist()
    found = session.map_blocks("components", _roots, rows, int(bounds[-1]), firsts)
    while len(found) > 1:
        pairs = [found[i : i + 2] for i in range(0, len(found), 2)]
        found = [session.submit("components", _merged_roots, *pair) for pair in pairs]
    roots = session.gather(found)[0]
    return np.asarray(np.unique(roots, return_inverse=True)[1], dtype=np.int32)


def _roots(rows: csr_array, n: int, first: int) -> IntArray:
    roots: IntArray = np.arange(n, dtype=np.int32 if n < 2**31 else np.int64)
    _kernels.unite_edges(rows.indptr, rows.indices, first, roots)
    return roots


def _merged_roots(roots: IntArray, others: IntArray | None = None) -> IntArray:
    if others is None:
        return roots
    merged = roots.copy()
    _kernels.unite_forests(merged, others)
    return merged


def _laplacian(rows: csr_array, null: FloatArray | None, bound: float, first: int) -> Operator:
    weights = rows if null is None else rows.copy()
    return laplacian_rows(weights, degrees_of(rows), null, bound, first)


def _step(part: Operator, now: Sequence[Any], before: Any, step: Step) -> NDArray[Any]:
    block = cache_aligned(np.concatenate(now), now[0].dtype.type)
    out: NDArray[Any] = np.empty_like(before)
    part.step(step, block, before, out)
    return out
