"""Distances and candidates equal those of NumPy."""

import numpy as np
import pytest
from numba.core.errors import TypingError
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


@pytest.mark.parametrize("m", [1, 4, 16, 37])
def test_nearest_are_kept_from_blocks_of_others(rng, m):
    """Block after block, of more and of fewer rows than a vector compares, the nearest so far are
    those of all so far."""
    rows = rng.standard_normal((9, 3)).astype(np.float32)
    others = rng.standard_normal((90, 3)).astype(np.float32)
    asking = np.array([7, 0, 3])
    distances, found = _kernels.none_found(9, m)
    padding = distances[:, m:].copy()
    exact = ((rows[asking].astype(float)[:, None] - others) ** 2).sum(axis=2) / 2
    away, halves = np.empty((3, 3), np.float32), np.empty(3, np.float32)
    for start, stop in [(0, 3), (3, 20), (20, 20), (20, 36), (36, 90)]:
        block, centre = others[start:stop], rng.standard_normal(3).astype(np.float32)
        _kernels.differences(rows, asking, centre, away, halves)
        np.testing.assert_array_equal(away, rows[asking] - centre)
        np.testing.assert_allclose(halves, (away**2).sum(axis=1) / 2, rtol=1e-6)
        inside = block - centre
        half_norms = (inside**2).sum(axis=1) / 2
        given = away @ inside.T, halves, half_norms, start
        _kernels.keep_nearest(*given, asking, m, distances, found)
        expected = np.argsort(exact[:, :stop], axis=1)[:, :m]
        np.testing.assert_array_equal(found[asking][:, : expected.shape[1]], expected)
        assert (found[asking][:, expected.shape[1] :] == -1).all()
        own = np.take_along_axis(exact, expected, axis=1)
        np.testing.assert_allclose(distances[asking][:, : own.shape[1]], own, atol=1e-5)
    assert (found[[1, 2, 4, 5, 6, 8]] == -1).all()
    np.testing.assert_array_equal(distances[:, m:], padding)


@pytest.mark.parametrize("count", [1, 5, 16, 50])
def test_nearest_one_is_the_first_of_the_lowest(rng, count):
    products = rng.integers(0, 4, (30, count)).astype(np.float32)
    halves = rng.integers(0, 3, count).astype(np.float32)
    found = np.empty(30, np.intp)
    _kernels.nearest_one(products, halves, found)
    np.testing.assert_array_equal(found, (halves - products).argmin(axis=1))


def test_products_that_are_not_contiguous_are_refused(rng):
    products = np.asfortranarray(rng.random((30, 20), dtype=np.float32))
    with pytest.raises(TypingError, match="contiguous"):
        _kernels.nearest_one(products, np.zeros(20, np.float32), np.empty(30, np.intp))


def test_ranked_candidates_are_those_of_a_sort(rng):
    """Equals by their numbers; the target itself and missing candidates stand for none."""
    data = rng.integers(0, 3, (30, 2)).astype(float)
    data[20:] += 1e-20  # rounding of zero
    targets = np.array([4, 0, 25])
    candidates = np.array([rng.permutation(30)[:12] for _ in targets])
    candidates[:, 3] = targets
    candidates[1, 5:] = -1
    indices, distances = np.empty((3, 8), np.intp), np.empty((3, 8))
    norms = (data**2).sum(axis=1)
    _kernels.rank_dense(data, norms, 1e-28, targets, candidates, indices, distances)
    for t, i in enumerate(targets):
        own = np.unique(candidates[t][(candidates[t] >= 0) & (candidates[t] != i)])
        squares = ((data[own] - data[i]) ** 2).sum(axis=1)
        squares[squares <= 1e-28 * (norms[own] + norms[i])] = 0
        order = np.argsort(squares, kind="stable")[:8]
        np.testing.assert_array_equal(indices[t][: len(order)], own[order])
        np.testing.assert_allclose(distances[t][: len(order)], squares[order])
        assert np.isinf(distances[t][len(order) :]).all()
        assert (indices[t][len(order) :] == 0).all()
