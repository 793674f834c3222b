"""A symmetric graph in row blocks: its connected components, and products with its Laplacian."""

from __future__ import annotations

from collections.abc import Sequence
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
    """Rows of a symmetric graph, a future of a matrix for every block."""

    session: DaskSession
    bounds: IntArray
    rows: list[Future]

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.bounds[-1]), int(self.bounds[-1])

    def components(self) -> IntArray:
        return connected_components(self.session, self.rows, self.bounds)

    def laplacian(self, normalized: bool) -> tuple[DistributedLaplacian, FloatArray]:
        session = self.session
        degrees = session.gather_rows(session.map_blocks("degrees", degrees_of, self.rows))
        null, bound = null_vector(degrees, normalized)
        scaling = session.broadcast(null) if normalized else None
        n_blocks = len(self.rows)
        parts = session.map_blocks(
            "laplacian", _laplacian, self.rows, [scaling] * n_blocks, [bound] * n_blocks,
            self.bounds[:-1].tolist(),
        )  # fmt: skip
        return DistributedLaplacian(session, self.bounds, parts, bound), null


@dataclass(frozen=True)
class DistributedLaplacian:
    """A Laplacian in row blocks, as the eigen-solver sees it.

    Of a step, every worker computes its rows, and for the next one it fetches those of the others
    from them; nothing passes through here but the first block and the last.
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

    def _steps(self, steps: Any, block: NDArray[Any], name: str) -> FloatArray:
        session, n_blocks = self.session, len(self.parts)
        before = now = session.scatter_blocks(row_blocks(block, self.bounds))
        for step in steps:
            after = session.map_blocks(
                name, _step, self.parts, [now] * n_blocks, before, [step] * n_blocks
            )
            before, now = now, after
        return np.asarray(session.gather_rows(now), dtype=np.float64)


def connected_components(
    session: DaskSession, rows: Sequence[Future], bounds: IntArray
) -> IntArray:
    """Number of each sample's connected component, in the order of first samples.

    Every worker joins what its rows connect; two by two, they then tell each other.
    """
    n = int(bounds[-1])
    found = session.map_blocks(
        "components", _own_roots, rows, [n] * len(rows), bounds[:-1].tolist()
    )
    while len(found) > 1:
        pairs = [found[i : i + 2] for i in range(0, len(found), 2)]
        found = [session.submit("components", _common_roots, *pair) for pair in pairs]
    roots = session.gather(found)[0]
    return np.asarray(np.unique(roots, return_inverse=True)[1], dtype=np.int32)


def _own_roots(rows: csr_array, n: int, first: int) -> IntArray:
    roots: IntArray = np.arange(n, dtype=np.int32 if n < 2**31 else np.int64)
    _kernels.unite_edges(rows.indptr, rows.indices, first, roots)
    return roots


def _common_roots(roots: IntArray, others: IntArray | None = None) -> IntArray:
    if others is None:
        return roots
    joined = roots.copy()
    _kernels.unite_forests(joined, others)
    return joined


def _laplacian(rows: csr_array, null: FloatArray | None, bound: float, first: int) -> Operator:
    links = rows if null is None else rows.copy()
    return laplacian_rows(links, degrees_of(rows), null, bound, first)


def _step(part: Operator, now: Sequence[Any], before: Any, step: Step) -> NDArray[Any]:
    block = cache_aligned(np.concatenate(now), now[0].dtype.type)
    out: NDArray[Any] = np.empty_like(before)
    part.step(step, block, before, out)
    return out
