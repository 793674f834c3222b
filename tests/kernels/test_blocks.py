"""Products with blocks of vectors equal those of NumPy."""

import numpy as np
import pytest
from numba.core.errors import TypingError
from scipy.sparse import csr_array

from manyview import _kernels


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 8, 61])  # 61 = 32 + 16 + 8 + 4 + 1 columns
def test_chebyshev_step(rng, width, kind):
    G = np.where(rng.random((40, 40)) < 0.3, rng.integers(1, 9, (40, 40)) / 8, 0)
    G = csr_array(G + G.T)  # eighths are exact in single precision
    G.indptr = G.indptr.astype(np.int64)
    diagonal = rng.random(40).astype(kind)
    block, before = rng.random((2, 40, width)).astype(kind)
    expected = 0.7 * (diagonal[:, None] * block - G.toarray() @ block) - 0.2 * before
    for first, stop in ((0, 40), (10, 25)):
        rows, out = G[first:stop], np.full((stop - first, width + 2), np.nan, kind)
        _kernels.chebyshev_step(
            rows.indptr, rows.indices, rows.data.astype(np.float32), diagonal[first:stop], first,
            block, before[first:stop], kind(0.7), kind(0.2), out, 1,
        )  # fmt: skip
        found, tolerance = out[:, 1:-1], 100 * np.finfo(kind).eps
        np.testing.assert_allclose(found, expected[first:stop], tolerance, tolerance)
        assert np.isnan(out[:, [0, -1]]).all()


def test_rows_that_are_not_contiguous_are_refused(rng):
    block = np.asfortranarray(rng.random((3, 8)))
    graph = csr_array(np.eye(3))
    given = graph.indptr, graph.indices, graph.data, np.zeros(3), 0
    with pytest.raises(TypingError, match="contiguous"):
        _kernels.chebyshev_step(*given, block, block, 1.0, 0.0, np.empty((3, 8)), 0)


def test_subtract_projections(rng):
    block, vector, coefficients = rng.random((50, 8)), rng.random(50), rng.random((3, 8))
    components = rng.integers(0, 3, 50)
    expected = block - vector[:, None] * coefficients[components]
    _kernels.subtract_projections(block, components, vector, coefficients)
    np.testing.assert_allclose(block, expected, atol=1e-15)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_row_products_and_divided_edges(rng, kind):
    G = csr_array(np.where(rng.random((40, 40)) < 0.3, rng.random((40, 40)), 0).astype(kind))
    vector, exact = rng.random(40) + 1, G.toarray().astype(np.float64)
    found = _kernels.row_products(G.indptr, G.indices, G.data, vector)
    np.testing.assert_allclose(found, exact @ vector, rtol=1e-14)
    rows = G[10:25]
    _kernels.divide_edges(rows.indptr, rows.indices, 10, vector, rows.data)
    expected = (exact / vector / vector[:, None])[10:25]
    np.testing.assert_allclose(rows.toarray(), expected, rtol=2 * np.finfo(kind).eps)
