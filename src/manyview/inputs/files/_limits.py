"""What the readers share: options, checks of memory, and errors that name the file."""

import codecs
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy.sparse import csr_array, issparse

from manyview._typing import Matrix
from manyview.inputs import check_sparse
from manyview.runtime import available_memory, check_choice

#: Bytes that the name of a row or column takes in memory, about.
NAME_BYTES = 64
_SMALL = 2**20  # bytes that are always available
_WHOLE = re.compile(r"[+-]?\d+(\.0*)?")


@dataclass(frozen=True)
class ReadOptions:
    """What the user asked for, for all files; see `read_views`."""

    id_column: str | None = None
    drop_non_numeric: bool = False
    transpose: bool = False
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    na_values: tuple[str, ...] = ()
    decimal: str = "."
    encoding: str = "utf-8"
    comment: str | None = None

    def __post_init__(self) -> None:
        for name in ("drop", "categorical", "na_values"):
            given = getattr(self, name)
            if isinstance(given, str):
                raise ValueError(f"{name}={given!r}; expected a list of texts")
            object.__setattr__(self, name, tuple(str(one).strip() for one in given))
        check_choice("decimal", self.decimal, (".", ","))
        try:
            "".encode(self.encoding)  # refuses codecs that are not of text, too
        except (LookupError, TypeError) as error:
            raise ValueError(
                f"encoding={self.encoding!r}; expected one that Python knows, such as 'utf-8', "
                "'latin-1' or 'utf-16'"
            ) from error
        if self.comment is not None and not self.comment.strip():
            raise ValueError(f"comment={self.comment!r}; expected the start of lines to skip")
        both = [name for name in self.drop if name in (*self.categorical, self.id_column)]
        if both:
            raise ValueError(f"column {both[0]!r} is to be dropped and used; expected one of them")

    @property
    def is_utf8(self) -> bool:
        return codecs.lookup(self.encoding).name == "utf-8"


def check_readable(path: Path) -> None:
    try:
        with path.open("rb") as stream:
            empty = not stream.read(1)
    except OSError as error:
        raise OSError(f"{path}: cannot be read ({error.strerror})") from error
    if empty:
        raise ValueError(f"{path} is an empty file; expected a table")


@contextmanager
def readable(path: Path, kind: str, *errors: type[Exception]) -> Iterator[None]:
    """Turn the errors of a library on a damaged file into one line that names the file."""
    try:
        yield
    except MemoryError as error:
        # A damaged header may ask for any amount, so this can be either.
        raise ValueError(f"{path}: {kind} file needs more memory than is available") from error
    except errors as error:
        damaged(path, kind, error)


def check_fits(label: object, n_bytes: int, what: str) -> None:
    """Refuse what needs more memory than is available, before it is taken.

    A file of a few bytes may declare any amount, or decompress into it.
    """
    left = available_memory() if n_bytes > _SMALL else None
    if left is not None and n_bytes > left:
        raise ValueError(
            f"{label}: {what} would take {_megabytes(n_bytes)} MB of memory; expected at most the "
            f"{_megabytes(left)} MB available"
        )


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.0f}" if n_bytes < 1e15 else f"{n_bytes / 1e6:.0e}"


def damaged(path: Path, kind: str, error: Exception) -> NoReturn:
    lines = str(error).splitlines() or [type(error).__name__]
    message = f"{path}: not a readable {kind} file, damaged or cut short ({lines[0]})"
    raise ValueError(message) from error


def stored_matrix(value: Any, label: str, *, transpose: bool = False) -> Matrix:
    """A 2-D array of a file, of any numeric type, as float64 with contiguous rows, or as csr."""
    dtype = value.dtype
    if dtype.kind not in "buif":
        raise ValueError(f"{label} holds values of type {dtype}; expected real numbers")
    if value.ndim != 2 or 0 in value.shape:
        raise ValueError(f"{label} has shape {tuple(value.shape)}; expected rows and columns")
    # Rows and columns get names, whether anything is in them or not.
    check_fits(label, sum(value.shape) * NAME_BYTES, f"shape {tuple(map(int, value.shape))}")
    if issparse(value):
        return _as_csr(value, label, transpose)
    if dtype != np.float64:
        check_fits(label, 8 * value.size, f"shape {tuple(value.shape)}")
    with np.errstate(over="ignore"):  # longer floats may become infinite, which is found later
        return np.ascontiguousarray(value.T if transpose else value, dtype=np.float64)


def _as_csr(value: Any, label: str, transpose: bool) -> csr_array:
    check_sparse(value, label)
    matrix = csr_array(value.T if transpose else value, dtype=np.float64)
    matrix.sum_duplicates()
    return matrix


def plain_ids(ids: Sequence[str]) -> tuple[str, ...]:
    """Ids without spaces around; a column of whole numbers may have been written 1.0, 2.0, ..."""
    ids = [sample.strip() for sample in ids]
    if any("." in sample for sample in ids) and all(_WHOLE.fullmatch(sample) for sample in ids):
        return tuple(sample.partition(".")[0] for sample in ids)
    return tuple(ids)
