"""Eigenpairs of dense symmetric matrices."""

import numpy as np
from scipy.linalg import eigh

from manyview._typing import FloatArray


def some_eigenpairs(matrix: FloatArray, first: int, last: int) -> tuple[FloatArray, FloatArray]:
    """Eigenpairs number `first` to `last`, counted from 0 and the smallest eigenvalue.

    For some matrices with many equal eigenvalues LAPACK's "evr" ends with an internal error, as for
    28 samples that are all equally similar. "evd" takes more memory, but finds them.
    """
    try:
        values, vectors = eigh(matrix, subset_by_index=(first, last), check_finite=False)
    except np.linalg.LinAlgError:
        values, vectors = eigh(matrix, driver="evd", check_finite=False)
        values, vectors = values[first : last + 1], vectors[:, first : last + 1]
    return values, vectors
