"""Diffusion of a sparse graph through another one."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview import _kernels
from tests.helpers import oracle


@pytest.mark.parametrize("n", [1, 9, 150])
def test_diffuse(n, rng):
    dense = rng.random((n, n)) * (rng.random((n, n)) < 0.2)
    S = csr_array(rng.random((n, n)) * (rng.random((n, n)) < 0.3))
    M = csr_array(dense)
    out = np.full(M.nnz, np.nan)
    _kernels.diffuse(M.indptr, M.indices, M.data, S.indptr, S.indices, S.data, out)
    found = csr_array((out, M.indices, M.indptr), shape=(n, n)).toarray()
    np.testing.assert_allclose(found, oracle.diffuse(S.toarray(), dense, dense > 0), atol=1e-14)
