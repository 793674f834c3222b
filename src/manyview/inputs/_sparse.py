"""Sparse matrices of users and files: checked before compiled loops trust them."""

from typing import Any


def check_sparse(matrix: Any, label: str) -> None:
    """Raise ValueError unless the indices of a csr or csc matrix are valid."""
    if not hasattr(matrix, "check_format"):  # the other formats check theirs
        return
    starts = matrix.indptr
    try:
        # SciPy does not look at these if the last says that there are no entries.
        if starts[0] != 0 or (starts[1:] < starts[:-1]).any():
            raise ValueError("index pointers do not ascend from 0")
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"{label} is not a valid sparse matrix: {error}") from error
