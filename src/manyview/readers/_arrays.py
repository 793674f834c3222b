"""Arrays without column names: NPY, NPZ and MAT."""

from __future__ import annotations

import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat
from scipy.io.matlab import MatReadError
from scipy.sparse import issparse, load_npz

from manyview._typing import Matrix
from manyview.readers._source import Options, plain_ids, readable, stored_matrix
from manyview.tables import Table, few, id_text

_NPY_ERRORS = (
    ValueError,
    TypeError,
    KeyError,
    EOFError,
    OSError,
    OverflowError,
    SyntaxError,  # NumPy parses the header of an array as Python
    tokenize.TokenError,
    struct.error,
)
_ZIP_ERRORS = (
    *_NPY_ERRORS,
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,  # a way to compress that zipfile does not know
    RuntimeError,  # an encrypted archive
)
# SciPy's MAT reader takes the file at its word, and stumbles wherever the word is not true.
_MAT_ERRORS = (
    MatReadError,
    zlib.error,
    struct.error,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    EOFError,
    OSError,
    OverflowError,
    AttributeError,
    NotImplementedError,
    AssertionError,
)
_HDF5 = b"\x89HDF\r\n\x1a\n"


@dataclass(frozen=True)
class _Array:
    """One array of a file: a variable's own, or one cell of it."""

    variable: str
    name: str
    value: Any

    @property
    def is_matrix(self) -> bool:
        numeric = hasattr(self.value, "dtype") and self.value.dtype.kind in "buif"
        return numeric and self.value.ndim == 2 and min(self.value.shape) > 1


def read_npy(path: Path, key: str | None, options: Options) -> list[Table]:
    with readable(path, "NPY", *_NPY_ERRORS):
        # A map compares the header with the file's length before it takes memory.
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(mapped, np.ndarray):
        raise ValueError(f"{path} is an archive of arrays; expected one, or the extension .npz")
    matrix = stored_matrix(mapped, str(path), transpose=options.transpose)
    if np.may_share_memory(matrix, mapped):
        matrix = np.array(mapped)  # the file may change or go while we compute
    return [Table("", matrix, None, None)]


def read_npz(path: Path, key: str | None, options: Options) -> list[Table]:
    with path.open("rb") as stream:  # NumPy leaves open what it opened and could not read
        with readable(path, "NPZ", *_ZIP_ERRORS):
            archive = np.load(stream, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise ValueError(f"{path} is a single array; expected an archive, or name it .npy")
        with archive:
            if {"format", "shape", "data"} <= set(archive.files) and key is None:
                return [_sparse_table(path, options)]
            arrays = _members(path, archive, key, options.id_column)
    return _tables(path, arrays, key, options)


def _sparse_table(path: Path, options: Options) -> Table:
    """What scipy.sparse.save_npz wrote."""
    with path.open("rb") as stream, readable(path, "NPZ", *_ZIP_ERRORS):
        matrix = load_npz(stream)
    return Table("", stored_matrix(matrix, str(path), transpose=options.transpose), None, None)


def _members(path: Path, archive: Any, key: str | None, id_column: str | None) -> list[_Array]:
    """The arrays that are asked for, and no others: they may be large."""
    asked = [name for name in (key, id_column) if name is not None]
    _known_keys(path, asked, archive.files)
    wanted = archive.files if key is None else [name for name in archive.files if name in asked]
    return [_Array(name, name, _member(path, archive, name)) for name in wanted]


def _member(path: Path, archive: Any, name: str) -> Any:
    with readable(path, "NPZ", *_ZIP_ERRORS):
        try:
            return archive[name]
        except ValueError as error:
            if "pickle" not in str(error):
                raise
            objects = error  # NumPy's advice is to allow what we never do
    message = f"{path}: array '{name}' holds Python objects; expected numbers"
    raise ValueError(message) from objects


def read_mat(path: Path, key: str | None, options: Options) -> list[Table]:
    with path.open("rb") as stream:
        head = stream.read(520)
    if head.startswith(b"MATLAB 7.3") or _HDF5 in (head[:8], head[512:]):
        raise ValueError(
            f"{path} is a MATLAB 7.3 (HDF5) file; expected one saved with save(..., '-v7')"
        )
    with readable(path, "MAT", *_MAT_ERRORS):
        variables = loadmat(path, appendmat=False)
    arrays = [array for array in _unpacked(variables) if not array.variable.startswith("__")]
    return _tables(path, arrays, key, options)


def _unpacked(variables: Mapping[str, Any]) -> Iterable[_Array]:
    """The variables, with cell arrays of numeric arrays taken apart."""
    for name, value in variables.items():
        cells = _cells(value)
        if cells:
            yield from (_Array(name, f"{name}{i}", cell) for i, cell in enumerate(cells, start=1))
        else:
            yield _Array(name, name, value)


def _cells(value: Any) -> list[Any]:
    if not (isinstance(value, np.ndarray) and value.dtype == object):
        return []
    cells = list(value.ravel(order="F"))
    numeric = all(hasattr(cell, "dtype") and cell.dtype.kind in "buif" for cell in cells)
    return cells if numeric else []


def _tables(path: Path, arrays: Sequence[_Array], key: str | None, options: Options) -> list[Table]:
    """The chosen arrays, or all of them if all look like tables."""
    ids = None
    if options.id_column is not None:
        ids = _ids(path, arrays, options.id_column)
        arrays = [array for array in arrays if array.variable != options.id_column]
    if key is not None:
        _known_keys(path, [key], [name for a in arrays for name in (a.variable, a.name)])
        arrays = [array for array in arrays if key in (array.variable, array.name)]
    else:
        _refuse_vectors(path, arrays)
    return [_table(path, array, ids, options) for array in arrays]


def _table(path: Path, array: _Array, ids: tuple[str, ...] | None, options: Options) -> Table:
    label = f"{path}: array '{array.name}'"
    value = array.value
    if not hasattr(value, "dtype"):
        raise ValueError(f"{label} is a {type(value).__name__}; expected numbers")
    if value.ndim == 1:
        matrix: Matrix = stored_matrix(value[:, None], label)
    else:
        matrix = stored_matrix(value, label, transpose=options.transpose)
    if ids is not None and len(ids) != matrix.shape[0]:
        raise ValueError(
            f"{label} has {matrix.shape[0]} rows, but '{options.id_column}' has {len(ids)} ids; "
            "expected the same number"
        )
    return Table(array.name, matrix, ids, None)


def _known_keys(path: Path, keys: Sequence[str], known: Sequence[str]) -> None:
    for key in keys:
        if key not in known:
            there = few(list(dict.fromkeys(known))) or "none"
            raise ValueError(f"{path} has no array {key!r}; expected one of {there}")


def _refuse_vectors(path: Path, arrays: Sequence[_Array]) -> None:
    """Whatever is no matrix is more often labels or notes than a view: let the user choose."""
    if not arrays:
        raise ValueError(f"{path} has no arrays; expected at least one")
    odd = list(dict.fromkeys(array.variable for array in arrays if not array.is_matrix))
    if not odd:
        return
    first = next(array for array in arrays if array.variable == odd[0])
    good = list(dict.fromkeys(array.variable for array in arrays if array.variable not in odd))
    example = " ".join(f"{path}:{name}" for name in (good or odd)[:3])
    raise ValueError(
        f"{path}: {few(odd)} cannot be told from labels or notes ({_looks(first.value)}); "
        f"expected matrices, or choose arrays with PATH:KEY, such as {example}"
    )


def _looks(value: Any) -> str:
    if not hasattr(value, "dtype"):
        return f"a {type(value).__name__}"
    kind = "sparse" if issparse(value) else str(value.dtype)
    return f"{kind} of shape {tuple(value.shape)}"


def _ids(path: Path, arrays: Sequence[_Array], name: str) -> tuple[str, ...]:
    _known_keys(path, [name], [array.variable for array in arrays])
    parts = [array.value for array in arrays if array.variable == name]
    values = [_text_of(item) for item in np.asarray(parts[0]).ravel()] if len(parts) == 1 else []
    if len(parts) > 1:  # a cell array of numbers, taken apart
        values = [_text_of(part) for part in parts]
    shape = parts[0].shape
    if len(parts) == 1 and (issparse(parts[0]) or sum(length > 1 for length in shape) > 1):
        raise ValueError(f"{path}: ids '{name}' have shape {tuple(shape)}; expected one dimension")
    for row, value in enumerate(values, start=1):
        if value in ("", "nan"):
            raise ValueError(f"{path}: '{name}' has no id in row {row}; expected one a row")
    return plain_ids(values)


def _text_of(item: Any) -> str:
    """The text of one id; MATLAB wraps each text of a cell array in an array."""
    if isinstance(item, np.ndarray):
        item = item.ravel()[0] if item.size == 1 else ""
    if isinstance(item, np.generic):
        item = item.item()
    return id_text(item).strip()
