"""Dense similarity matrices between all pairs of samples, for the methods that need them."""

from __future__ import annotations

import numpy as np

from manyview._typing import FloatArray
from manyview.inputs import Rows
from manyview.runtime import format_bytes


def gaussian_kernel(rows: Rows) -> tuple[FloatArray, float]:
    """exp(-d^2 / (2 sigma^2)) between all samples, sigma the median of all N^2 distances.

    Where more than half of the distances are 0 their mean is taken; where all are, the kernel is
    1 everywhere, and sigma 0.
    """
    norms = rows.sq_norms()
    sq = norms[:, None] + norms - 2 * rows.inner_products(slice(None))
    sq = np.maximum((sq + sq.T) / 2, 0.0)
    # What rounding leaves of the distance between equal rows.
    sq[sq <= 1e-13 * (norms[:, None] + norms)] = 0.0
    distances = np.sqrt(sq)
    sigma = float(np.median(distances)) or float(distances.mean())
    if sigma > 0:
        sq /= -2 * sigma**2
    return np.exp(sq, out=sq), sigma


def check_dense_limit(method: str, n_samples: int, needed: int, limit: int) -> None:
    """Refuse more than `limit` samples, and say how many bytes a method's matrices would need."""
    if n_samples > limit:
        raise ValueError(
            f"{method} holds about {needed / (8 * n_samples**2):.0f} dense matrices of "
            f"{n_samples} x {n_samples}, {format_bytes(needed)}; expected at most "
            f"max_dense_samples={limit} samples, raise it to go on"
        )
