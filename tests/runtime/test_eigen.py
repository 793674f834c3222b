import numpy as np
import pytest
from scipy.linalg import eigh

from manyview.runtime import some_eigenpairs


def check(matrix, first, last):
    values, vectors = some_eigenpairs(matrix, first, last)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix)[first : last + 1], atol=1e-12)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(last - first + 1), atol=1e-12)


@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 8), (19, 27), (12, 27), (5, 27)])
def test_samples_that_are_all_equally_similar(first, last):
    check((np.ones((28, 28)) - np.eye(28)) / 27, first, last)


@pytest.mark.parametrize(("first", "last"), [(0, 5), (30, 39), (0, 39)])
def test_other_matrices(first, last, rng):
    A = rng.standard_normal((40, 40))
    check(A + A.T, first, last)


def test_where_lapack_gives_up(rng, monkeypatch):
    def gives_up(matrix, driver=None, **options):
        if driver is None:
            raise np.linalg.LinAlgError("Internal Error.")
        return eigh(matrix, driver=driver, **options)

    monkeypatch.setattr("manyview.runtime._eigen.eigh", gives_up)
    A = rng.standard_normal((40, 40))
    check(A + A.T, 3, 9)
