"""Products with blocks of vectors equal those of NumPy."""

import numpy as np
from scipy.sparse import csr_array

from manyview import _kernels


def test_chebyshev_step(rng):
    G = np.where(rng.random((40, 40)) < 0.3, rng.integers(1, 9, (40, 40)) / 8, 0)
    G = csr_array(G + G.T)  # eighths are exact in single precision
    diagonal, block, before = rng.random(40), rng.random((40, 8)), rng.random((40, 8))
    expected = 0.7 * (diagonal[:, None] * block - G.toarray() @ block) - 0.2 * before
    for first, stop in ((0, 40), (10, 25)):
        rows, out = G[first:stop], np.full((stop - first, 8), np.nan)
        _kernels.chebyshev_step(
            rows.indptr, rows.indices, rows.data.astype(np.float32), diagonal[first:stop], first,
            block, before[first:stop], 0.7, 0.2, out,
        )  # fmt: skip
        np.testing.assert_allclose(out, expected[first:stop], atol=1e-13)


def test_subtract_projections(rng):
    block, vector, coefficients = rng.random((50, 8)), rng.random(50), rng.random((3, 8))
    components = rng.integers(0, 3, 50)
    expected = block - vector[:, None] * coefficients[components]
    _kernels.subtract_projections(block, components, vector, coefficients)
    np.testing.assert_allclose(block, expected, atol=1e-15)
