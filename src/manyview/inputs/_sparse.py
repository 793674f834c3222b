"""Sparse matrices from strangers: checked before compiled loops trust them."""

from __future__ import annotations

import warnings
from typing import Any


def check_sparse(matrix: Any, label: str) -> None:
    """Raise ValueError unless a matrix of compressed rows or columns is what it says it is."""
    if not hasattr(matrix, "check_format"):  # the other kinds have nothing to get wrong
        return
    starts = matrix.indptr
    try:
        # SciPy does not look at these if the last says that there are no entries.
        if starts[0] != 0 or (starts[1:] < starts[:-1]).any():
            raise ValueError("index pointers do not ascend from 0")
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"{label} is not a valid sparse matrix: {error}") from error


def load_mat(source: Any) -> dict[str, Any]:
    """What `scipy.io.loadmat` reads, without its word on the sparse matrices of versions to come:
    ours are converted, whatever they are."""
    from scipy.io import loadmat

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*spmatrix")
        found: dict[str, Any] = loadmat(source)
    return found
