"""Matrix Market files.

SciPy's own reader is faster, but ends the whole process at some damaged files, and at intact ones
whose numbers have more than 21 digits (scipy issue 19949).
"""

from __future__ import annotations

import gzip
import warnings
import zlib
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from scipy.sparse import coo_array

from manyview._typing import FloatArray
from manyview.readers._source import Options, readable, stored_matrix
from manyview.tables import Table

_MTX_ERRORS = (ValueError, OverflowError, OSError, EOFError, zlib.error, IndexError, TypeError)
_FIELDS = ("real", "integer", "unsigned-integer", "double", "pattern")
_MIRRORS = {"general": 0, "symmetric": 1, "skew-symmetric": -1}  # what is above the diagonal


def read_mtx(path: Path, key: str | None, options: Options) -> list[Table]:
    opened: Any = gzip.open if path.suffix.lower() == ".gz" else open
    errors = readable(path, "Matrix Market", *_MTX_ERRORS)
    with errors, opened(path, "rt", encoding="utf-8") as text:
        value = _market(text)
    with readable(path, "Matrix Market"):
        return [Table("", stored_matrix(value, str(path), transpose=options.transpose), None, None)]


def _market(text: TextIO) -> Any:
    """The matrix in the text of a file."""
    banner = text.readline().lower().split()
    if len(banner) != 5 or banner[:2] != ["%%matrixmarket", "matrix"]:
        raise ValueError("the first line is no Matrix Market banner")
    form, field, symmetry = banner[2:]
    if field not in _FIELDS or symmetry not in _MIRRORS:
        raise ValueError(f"{field} {symmetry} matrices are not supported, real ones are")
    sizes = [int(size) for size in _size_line(text).split()]
    if form == "coordinate" and len(sizes) == 3:
        return _coordinate(text, *sizes, pattern=field == "pattern", mirror=_MIRRORS[symmetry])
    if form == "array" and len(sizes) == 2:
        return _dense_market(text, *sizes, mirror=_MIRRORS[symmetry])
    raise ValueError(f"{len(sizes)} sizes for format {form}")


def _size_line(text: TextIO) -> str:
    while line := text.readline():
        if line.strip() and not line.startswith("%"):
            return line
    raise ValueError("there is no line of sizes")


def _numbers(text: TextIO, n_lines: int, n_columns: int) -> FloatArray:
    with warnings.catch_warnings():
        # That there are none is no news if the sizes say so, and an error otherwise.
        warnings.filterwarnings("ignore", "loadtxt: input contained no data")
        numbers = np.loadtxt(text, ndmin=2, comments="%")
    numbers = numbers if numbers.size else np.empty((0, n_columns))
    if numbers.shape != (n_lines, n_columns):
        raise ValueError(f"{numbers.shape} numbers, the line of sizes says {n_lines, n_columns}")
    return numbers


def _coordinate(
    text: TextIO, n_rows: int, n_columns: int, nnz: int, *, pattern: bool, mirror: int
) -> Any:
    numbers = _numbers(text, nnz, 2 if pattern else 3)
    places = numbers[:, :2].astype(np.int64) - 1
    if (places + 1 != numbers[:, :2]).any():
        raise ValueError("places are not whole numbers")
    values = np.ones(nnz) if pattern else numbers[:, 2]
    matrix = coo_array((values, (places[:, 0], places[:, 1])), shape=(n_rows, n_columns))
    if mirror:
        off = places[:, 0] != places[:, 1]
        turned = (mirror * values[off], (places[off, 1], places[off, 0]))
        matrix = matrix + coo_array(turned, shape=(n_rows, n_columns))
    return matrix


def _dense_market(text: TextIO, n_rows: int, n_columns: int, *, mirror: int) -> FloatArray:
    """Columns after each other; of a symmetric matrix only what is on and below the diagonal."""
    if not mirror:
        return _numbers(text, n_rows * n_columns, 1).reshape((n_rows, n_columns), order="F")
    columns, rows = np.triu_indices(n_columns, k=0 if mirror > 0 else 1)
    values = _numbers(text, len(rows), 1)[:, 0]
    matrix = np.zeros((n_rows, n_columns))
    matrix[columns, rows] = mirror * values
    matrix[rows, columns] = values
    return matrix
