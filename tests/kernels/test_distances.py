"""Distances and candidates equal those of NumPy."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview import _kernels
from manyview.inputs._scaling import normalize_rows
from tests.helpers import oracle


@pytest.fixture
def table(rng):
    X = np.where(rng.random((30, 12)) < 0.3, rng.standard_normal((30, 12)), 0.0)
    X[3] = 0
    X[4] = 2 * X[5]
    return X


def normalised(X, how):
    if how == "zscore":
        return oracle.zscore_rows(X)
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)


@pytest.mark.parametrize("how", ["zscore", "unit"])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_distances_norms_and_products(table, how, make):
    plain, everyone = normalised(table, how), np.arange(30)
    rows = normalize_rows(make(table), how)
    found = rows.sq_distances(everyone, np.tile(everyone, (30, 1)))
    np.testing.assert_allclose(found, oracle.squared_distances(plain), atol=1e-13)
    np.testing.assert_allclose(rows.sq_norms(), (plain**2).sum(axis=1), atol=1e-13)
    products = rows.inner_products(slice(4, 9))
    np.testing.assert_allclose(products, plain[4:9] @ plain.T, atol=1e-13)


@pytest.mark.parametrize("how", ["zscore", "unit"])
def test_sparse_candidates_are_the_nearest(table, how):
    rows = normalize_rows(csr_array(table), how)
    csr, csc = rows.matrix, rows.matrix[:20].tocsc()
    found = _kernels.sparse_candidates(
        csr.indptr, csr.indices, csr.data, csc.indptr, csc.indices, csc.data,
        rows.scale, rows.shift, rows.sums(), rows.sq_norms(), 12, 5, 10, 30, 20,
    )  # fmt: skip
    D = oracle.squared_distances(normalised(table, how))
    np.fill_diagonal(D, np.inf)
    nearest = np.take_along_axis(D[10:], found, 1)
    np.testing.assert_allclose(nearest, np.sort(D[10:, :20], axis=1)[:, :5], atol=1e-12)
