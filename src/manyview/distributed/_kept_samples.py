"""A few samples of distributed views, which the client keeps to report on and to predict from."""

import numpy as np
from scipy.sparse import csr_array, vstack

from manyview._typing import IntArray, Matrix
from manyview.distributed._client import DaskSession, row_blocks
from manyview.distributed._views import DistributedViews
from manyview.inputs import Views

#: At most so many samples are kept, and so many bytes of their features.
KEPT_SAMPLES, KEPT_BYTES = 20_000, 2**28


def kept_samples(
    views: DistributedViews, session: DaskSession, seed: int
) -> tuple[Views, IntArray | None]:
    """Samples drawn at random, and which they are; None if these are all."""
    n = views.n_samples
    row_bytes = 8 * sum(size.n_values for size in views.sizes()) / n
    count = min(n, KEPT_SAMPLES, max(int(KEPT_BYTES / max(row_bytes, 1)), 2))
    chosen = np.zeros(n, dtype=bool)
    chosen[np.random.default_rng(seed).choice(n, count, replace=False)] = True
    masks = row_blocks(chosen, views.bounds)
    matrices = [
        _joined(session.gather(session.map_blocks("keep", _take, blocks, masks)))
        for blocks in views.blocks
    ]
    present = None if views.present is None else views.present[chosen]
    kept = Views(views.names, tuple(matrices), present, scalings=views.scalings)
    return kept, None if count == n else np.flatnonzero(chosen)


def _take(matrix: Matrix, mask: IntArray) -> Matrix:
    return matrix[mask]


def _joined(parts: list[Matrix]) -> Matrix:
    if any(isinstance(part, csr_array) for part in parts):
        return csr_array(vstack(parts, format="csr"))
    return np.concatenate(parts)
