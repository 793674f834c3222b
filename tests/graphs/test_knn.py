"""Exact neighbours: those of plain NumPy, also for rows that are almost equal."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview.graphs._knn import nearest, nearest_reference, nearest_reference_exact
from manyview.inputs._scaling import normalize_rows
from tests.helpers import oracle


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_neighbors_are_the_nearest(rng, make):
    X = rng.standard_normal((80, 7))
    near = nearest(normalize_rows(make(X), "zscore"), 9)
    D = oracle.squared_distances(oracle.zscore_rows(X))
    np.fill_diagonal(D, np.inf)
    np.testing.assert_array_equal(near.indices, np.argsort(D, axis=1)[:, :9])
    np.testing.assert_allclose(near.sq_distances, np.sort(D, axis=1)[:, :9], rtol=1e-12)


def almost_equal_rows(rng):
    """Far from the origin and closer than the rounding of inner products."""
    X = 1e3 + np.arange(60)[:, None] ** 1.5 * np.array([[1e-9, 2e-9, -1e-9]])
    return np.concatenate([X, rng.standard_normal((20, 3))])


def test_neighbors_closer_than_the_rounding_of_inner_products(rng):
    X = almost_equal_rows(rng)
    near = nearest(normalize_rows(X, None), 3)
    D = oracle.squared_distances(X)
    np.fill_diagonal(D, np.inf)
    np.testing.assert_allclose(near.sq_distances * 1024**2, np.sort(D, axis=1)[:, :3], rtol=1e-9)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("how", ["zscore", "unit", None])
def test_nearest_reference(kind, how, rng):
    X = rng.standard_normal((90, 6)) * (rng.random((90, 6)) < 0.7)
    rows = normalize_rows(csr_array(X) if kind == "sparse" else X, how)
    found, distances = nearest_reference(rows, 60, 5, "exact", 0)
    plain = normalize_rows(X, how).data
    D = ((plain[60:, None] - plain[None, :60]) ** 2).sum(axis=2)
    np.testing.assert_allclose(distances, np.sort(D, axis=1)[:, :5], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.take_along_axis(D, found, 1), distances, rtol=1e-9, atol=1e-12)


def test_nearest_reference_closer_than_the_rounding_of_inner_products(rng):
    X = almost_equal_rows(rng)[::-1]
    _, distances = nearest_reference_exact(normalize_rows(X, None), 50, 3)
    D = oracle.squared_distances(X)[50:, :50]
    np.testing.assert_allclose(distances * 1024**2, np.sort(D, axis=1)[:, :3], rtol=1e-9)
