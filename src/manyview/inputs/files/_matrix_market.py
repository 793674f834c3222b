"""Matrix Market files.

SciPy's own reader is faster, but ends the whole process at some damaged files, and at intact ones
whose numbers have more than 21 digits (scipy issue 19949).
"""

from __future__ import annotations

import gzip
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from scipy.sparse import coo_array

from manyview._typing import FloatArray
from manyview.inputs import Table
from manyview.inputs.files._limits import UNFOLDING, Options, check_fits, readable, stored_matrix

_MTX_ERRORS = (ValueError, OverflowError, OSError, EOFError, zlib.error, IndexError, TypeError)
_FIELDS = ("real", "integer", "unsigned-integer", "double", "pattern")
_LINE = 2**16  # characters at most
_WHOLE = 2**53  # below which all whole numbers are floats
_MIRRORS = {"general": 0, "symmetric": 1, "skew-symmetric": -1}  # what is above the diagonal


@dataclass
class _Market:
    """The text of a file."""

    path: Path
    text: TextIO
    n_bytes: int  # of the text at most, were all of the file as compressed as can be

    def line(self) -> str:
        """The next line. Compressed files may have any length, and all of it in one line."""
        line = self.text.readline(_LINE)
        if len(line) == _LINE:
            raise ValueError(f"a line is longer than {_LINE:,} characters")
        return line

    def lines(self) -> Iterator[str]:
        while line := self.line():
            yield line

    def numbers(self, n_lines: int, n_columns: int) -> FloatArray:
        """All that follows, so many numbers in each of so many lines."""
        if 2 * n_columns * n_lines > self.n_bytes + 1:  # every number has a digit and an end
            raise ValueError(f"it is too short for {n_lines} lines, as many as it declares")
        check_fits(self.path, 8 * n_lines * n_columns, f"{n_lines} lines")
        with warnings.catch_warnings():
            # That there are none is no news if the sizes say so, and an error otherwise; and blank
            # lines are as good as none.
            warnings.filterwarnings("ignore", "loadtxt: input contained no data")
            warnings.filterwarnings("ignore", "Input line .* contained no data")
            # One line too many tells as much as all of them.
            numbers = np.loadtxt(self.lines(), ndmin=2, comments="%", max_rows=n_lines + 1)
        numbers = numbers if numbers.size else np.empty((0, n_columns))
        if numbers.shape != (n_lines, n_columns):
            raise ValueError(
                f"{numbers.shape} numbers, the line of sizes says {n_lines, n_columns}"
            )
        return numbers


def read_mtx(path: Path, key: str | None, options: Options) -> list[Table]:
    zipped = path.suffix.lower() == ".gz"
    n_bytes = path.stat().st_size * (UNFOLDING if zipped else 1)
    opened: Any = gzip.open if zipped else open
    errors = readable(path, "Matrix Market", *_MTX_ERRORS)
    with errors, opened(path, "rt", encoding="utf-8") as text:
        value = _matrix(_Market(path, text, n_bytes))
    with readable(path, "Matrix Market"):
        return [Table("", stored_matrix(value, str(path), transpose=options.transpose), None, None)]


def _matrix(text: _Market) -> Any:
    banner = text.line().lower().split()
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


def _size_line(text: _Market) -> str:
    for line in text.lines():
        if line.strip() and not line.startswith("%"):
            return line
    raise ValueError("there is no line of sizes")


def _coordinate(
    text: _Market, n_rows: int, n_columns: int, nnz: int, *, pattern: bool, mirror: int
) -> Any:
    numbers = text.numbers(nnz, 2 if pattern else 3)
    if not (np.abs(numbers[:, :2]) < _WHOLE).all():
        raise ValueError("places are not whole numbers")
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


def _dense_market(text: _Market, n_rows: int, n_columns: int, *, mirror: int) -> FloatArray:
    """Columns after each other; of a symmetric matrix only what is on and below the diagonal."""
    if not mirror:
        return text.numbers(n_rows * n_columns, 1).reshape((n_rows, n_columns), order="F")
    if n_rows != n_columns:
        raise ValueError(f"a symmetric matrix of {n_rows} rows and {n_columns} columns")
    values = text.numbers(n_rows * (n_rows + mirror) // 2, 1)[:, 0]
    columns, rows = np.triu_indices(n_columns, k=0 if mirror > 0 else 1)
    matrix = np.zeros((n_rows, n_columns))
    matrix[columns, rows] = mirror * values
    matrix[rows, columns] = values
    return matrix
