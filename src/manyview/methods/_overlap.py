"""How many of the views' edges are the same: looked up for a few samples.

Views that agree on most neighbours need much less memory than those that don't. Where a refusal
would hang on that, it is worth a moment's work.
"""

from __future__ import annotations

import numpy as np

from manyview._typing import FloatArray, IntArray, Matrix
from manyview.inputs import Views, view_rows

_SAMPLES = 64
_BLOCK = 4096


def different_share(views: Views, n_neighbors: int, normalize: str | None) -> float:
    """Different edges of all views together, as a share of all their edges, 1 / V to 1."""
    everywhere = np.arange(views.n_samples)
    if views.present is not None:
        everywhere = np.flatnonzero(views.present.all(axis=1))
    if len(everywhere) <= n_neighbors:
        return 1.0
    some = np.random.default_rng(0).choice(everywhere, min(_SAMPLES, len(everywhere)), False)
    found = [
        _nearest(matrix, name, some, everywhere, n_neighbors, normalize)
        for matrix, name in zip(views.matrices, views.names, strict=True)
    ]
    together = np.hstack(found)
    return float(np.mean([len(np.unique(row)) for row in together]) / together.shape[1])


def _nearest(
    matrix: Matrix, name: str, some: IntArray, among: IntArray, k: int, normalize: str | None
) -> IntArray:
    """The k nearest of some samples, block by block of the others: little is held at once."""
    found = np.empty((len(some), 0), dtype=np.intp)
    gaps: FloatArray = np.empty((len(some), 0))
    for start in range(0, len(among), _BLOCK):
        block = among[start : start + _BLOCK]
        rows = view_rows(matrix[np.concatenate([some, block])], name, normalize)
        norms = rows.sq_norms()
        gap = (norms - 2 * rows.inner_products(slice(0, len(some))))[:, len(some) :]
        # Samples taken as they are come in units of their block: here in those of their own length.
        gap /= np.where(norms > 0, norms, 1.0)[: len(some), None]
        gap[some[:, None] == block] = np.inf
        gaps = np.hstack([gaps, gap])
        found = np.hstack([found, np.broadcast_to(block, gap.shape)])
        nearest = np.argsort(gaps, axis=1)[:, :k]
        gaps = np.take_along_axis(gaps, nearest, 1)
        found = np.take_along_axis(found, nearest, 1)
    return found
