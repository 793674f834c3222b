"""Normalisation of samples."""

import numpy as np

from manyview.inputs._scaling import normalize_rows
from tests.helpers import oracle


def test_constant_rows_become_zero_and_nothing_overflows(rng):
    X = rng.standard_normal((6, 5))
    X[0] = 0.1
    for scale in (1.0, 1e-300, 1e300):
        rows = normalize_rows(X * scale, "zscore").data
        np.testing.assert_allclose(rows, oracle.zscore_rows(X), atol=1e-14)
        assert not rows[0].any()
