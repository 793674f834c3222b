"""Eigenvalues of samples without clusters, which those of narrow views are compared with."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview.graphs import SINGLE_ABOVE, GraphOptions
from manyview.inputs import Views
from manyview.spectral import structureless_eigenvalues

OPTIONS = GraphOptions(n_neighbors=10, auto_neighbors=10, weighting="adaptive", search="auto")


def eigenvalues(views):
    return structureless_eigenvalues(views, OPTIONS, 0, 12)


def two_views(rng, *scalings, n=90):
    return Views(("a", "b"), (rng.random((n, 2)), rng.random((n, 3))), scalings=scalings)


def test_of_wide_views_and_of_many_samples_there_are_none(rng):
    wide = Views(("a",), (rng.random((30, 4)),), scalings=("standard",))
    many = Views(("a",), (np.zeros((SINGLE_ABOVE + 1, 2)),), scalings=("standard",))
    assert eigenvalues(wide) is None
    assert eigenvalues(many) is None


@pytest.mark.filterwarnings("ignore:view '.' has no information")  # z-scores of two columns
@pytest.mark.parametrize(
    "scaling", ["none", "standard", "logratio", "center", "sqrt", "unit", "zscore", "tfidf"]
)
def test_any_scaling(scaling, rng):
    values = eigenvalues(two_views(rng, scaling, scaling))
    assert len(values) >= 12
    assert values[0] == pytest.approx(0, abs=1e-9)
    assert (np.diff(values) > -1e-9).all()
    assert values[-1] <= 2


def test_units_and_clusters_do_not_matter(rng):
    views = two_views(rng, "standard", "standard")
    expected = eigenvalues(views)
    other = replace(views, matrices=(views.matrices[0] * [1, 1e6] + [5, 0], views.matrices[1]))
    np.testing.assert_allclose(eigenvalues(other), expected, rtol=1e-4)
    clusters = np.repeat([[0.0, 0.0], [9.0, 9.0], [0.0, 9.0]], 30, axis=0) + views.matrices[0]
    assert eigenvalues(replace(views, matrices=(clusters, views.matrices[1])))[2] > 0.05


def test_order_of_views_and_sparse_views(rng):
    views = two_views(rng, "center", "none")
    expected = eigenvalues(views)
    matrices = (views.matrices[1], csr_array(views.matrices[0]))
    turned = Views(("b", "a"), matrices, scalings=("none", "center"))
    np.testing.assert_allclose(eigenvalues(turned), expected)


@pytest.mark.filterwarnings("ignore:view '.' has no information")
@pytest.mark.parametrize("value", [0.0, 1.0, 1e308, 1e-308])
def test_constant_and_extreme_columns(value, rng):
    views = two_views(rng, "none", "center")
    views.matrices[0][:] = value
    views.matrices[1][:] *= value
    assert np.isfinite(eigenvalues(views)).all()
