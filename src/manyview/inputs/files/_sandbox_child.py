"""Reads one file that may be damaged or hostile, in a process of its own that `_sandbox` starts.

On such a file a library may crash, hang or take memory without end; then only this process ends.
Standard output gets messages: a line of JSON each, then the bytes of the arrays that it declares.
Standard error gets a line of JSON that says why reading failed.
"""

import gzip
import importlib
import json
import math
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

import numpy as np

from manyview.inputs.files._child_hdf5 import is_array as _is_array
from manyview.inputs.files._child_hdf5 import member as _member
from manyview.inputs.files._child_hdf5 import texts as _texts
from manyview.inputs.files._child_messages import RefusedError as _RefusedError
from manyview.inputs.files._child_messages import SentTable as _Table
from manyview.inputs.files._child_messages import encoded as _encoded

# Of each kind of file, the library that reads it, and our reader: a function of a module here.
_READERS = {
    "MAT": ("scipy.io", "_sandbox_child", "mat_tables"),
    "Matrix Market": ("numpy", "_sandbox_child", "market_tables"),
    "h5ad": ("h5py", "_sandbox_child", "hdf5_tables"),
    "h5mu": ("h5py", "_sandbox_child", "hdf5_tables"),
    "Arrow": ("pyarrow", "_child_arrow", "arrow_tables"),
    "Excel": ("openpyxl", "_child_sheets", "sheet_tables"),
    "Cell Ranger": ("h5py", "_child_tenx", "cell_ranger_tables"),
    "Zarr": ("zarr", "_child_zarr", "zarr_tables"),
}
_BLOCK = 2**24  # bytes of an array that are read at a time, about
_LETTERS = 2**32  # of all names of rows or columns, at most


def main(request: Mapping[str, Any]) -> int:
    """Send the tables that are asked for; exit code 1 where that failed."""
    # What libraries print must not get between the messages.
    out, errors = (os.fdopen(os.dup(number), "wb") for number in (1, 2))
    for number in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    try:
        name, module, function = _READERS[request["kind"]]
        library = importlib.import_module(name)
        reader = getattr(importlib.import_module(f"manyview.inputs.files.{module}"), function)
        _limit(request["memory"], request["seconds"])
        for table in reader(library, **request):
            _send(out, *table)
        return 0
    except Exception as error:  # libraries raise whatever Python has to offer
        errors.write(json.dumps(_reason(error)).encode())
        errors.flush()
        return 1


def _reason(error: Exception) -> dict[str, Any]:
    text = (str(error) or type(error).__name__)[:1000]
    if isinstance(error, ImportError):
        return {"missing_library": True}
    if isinstance(error, _RefusedError):
        return {"refused": text, "known": error.known}
    # HDF5 reports a lack of memory in its own words.
    if isinstance(error, MemoryError) or "H5MM" in text or "memory allocation failed" in text:
        return {"too_large": True}
    return {"damaged": text}


def _limit(memory: int, seconds: float) -> None:
    """Limit seconds of computing, and bytes of memory beyond those in use now, where the system
    can; elsewhere `_watch` does."""
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open("/proc/self/statm") as stream:
            used = int(stream.read().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard == resource.RLIM_INFINITY or used + memory < hard:
        resource.setrlimit(resource.RLIMIT_AS, (used + memory, hard))


def _send(out: IO[bytes], about: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Send what is known of a table, then the bytes of its arrays in the order of rows."""
    declared = {part: [[*(one.shape or ())], one.dtype.str] for part, one in arrays.items()}
    out.write(json.dumps({**about, "arrays": declared}).encode() + b"\n")
    for array in arrays.values():
        out.flush()
        # Blocks of whole chunks: a chunk that is cut in two is decompressed twice.
        rows = (getattr(array, "chunks", None) or (1,))[0]
        row_bytes = array.dtype.itemsize * math.prod(array.shape[1:])
        step = rows * max(1, _BLOCK // max(1, rows * row_bytes))
        for start in range(0, array.shape[0], step):
            out.write(np.ascontiguousarray(array[start : start + step]).data)
    out.flush()


# MAT files of all versions before 7.3

_NO_NUMBERS = ("char", "struct", "object", "function", "opaque", "unknown")


def mat_tables(
    scipy_io: Any, *, path: str, key: str | None, ids: str | None, **_: Any
) -> Iterator[_Table]:
    """Matrices, also those in cell arrays; of all other variables only the kind and shape."""
    listed = [one for one in scipy_io.whosmat(path) if one[0] and not one[0].startswith("__")]
    names = [name for name, _, _ in listed]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"two variables are named {twice!r}")
    if ids is not None:
        yield _mat_ids(scipy_io, path, ids, names)
    # The key names a variable or, with a number behind it, a cell of a variable.
    chosen = [
        (name, shape, kind)
        for name, shape, kind in listed
        if name != ids and (key in (None, name) or (kind == "cell" and str(key).startswith(name)))
    ]
    if key is not None and not chosen:
        raise _RefusedError(f" has no array {key!r}", names)
    for name, shape, kind in chosen:
        yield from _variable(scipy_io, path, name, shape, kind)


def _variable(
    scipy_io: Any, path: str, name: str, shape: tuple[int, ...], kind: str
) -> Iterator[_Table]:
    if min(shape, default=0) < 0:
        raise ValueError(f"variable {name!r} has shape {shape}")
    about = {"variable": name, "name": name, "shape": shape, "kind": kind}
    try:
        value: Any = None if kind in _NO_NUMBERS else _loaded(scipy_io, path, name)
    except (ValueError, TypeError) as error:
        if kind != "cell":  # which may hold text in no known encoding
            raise
        about["kind"], value = f"cell ({error})", np.empty(0, dtype=object)
    if kind != "cell":
        yield _matrix(about, value)
        return
    cells = value.ravel(order="F")
    if len(cells) and all(getattr(one, "dtype", np.dtype("O")).kind in "buifc" for one in cells):
        for number, cell in enumerate(cells, start=1):
            yield _matrix({**about, "name": f"{name}{number}"}, cell)
    else:
        yield about, {}


def _loaded(scipy_io: Any, path: str, name: str) -> Any:
    return scipy_io.loadmat(path, variable_names=[name])[name]


def _matrix(about: dict[str, Any], value: Any) -> _Table:
    """A matrix, or only what is known of it where it is none of real numbers."""
    if value is None:
        return about, {}
    about |= {"shape": [int(n) for n in value.shape], "kind": str(value.dtype)}
    if value.dtype.kind == "c" or value.ndim != 2:
        return about, {}
    if isinstance(value, np.ndarray):
        return {**about, "form": "dense"}, {"matrix": value}
    value = value.tocsc()
    parts = {part: getattr(value, part) for part in ("data", "indices", "indptr")}
    return {**about, "form": "csc"}, parts


def _mat_ids(scipy_io: Any, path: str, name: str, names: Sequence[str]) -> _Table:
    """Numbers or texts; each text of a cell array is an array of its own."""
    if name not in names:
        raise _RefusedError(f" has no array {name!r}", names)
    try:
        value = _loaded(scipy_io, path, name)
        ids = value.ravel(order="F").tolist()
        if value.dtype == object:
            ids = [one.item() if one.size == 1 else "" for one in ids]
        # Letters that could not be decoded were replaced.
        if any(not isinstance(one, str | int | float) or "\ufffd" in str(one) for one in ids):
            raise ValueError("neither numbers nor text")
    except (ValueError, TypeError, AttributeError) as error:
        text = f": ids {name!r} cannot be read; expected numbers or text"
        raise _RefusedError(text) from error
    about = {"variable": name, "name": name, "shape": [int(n) for n in value.shape]}
    return about, {"ids": _encoded(ids)}


# Matrix Market. SciPy's reader takes "5x" and "5,3" for 5, and may crash at numbers of more than
# 21 digits (scipy issue 19949).

_FIELDS = ("real", "integer", "unsigned-integer", "double", "pattern")
_MIRRORS = {"general": 0, "symmetric": 1, "skew-symmetric": -1}  # sign above the diagonal
_WHOLE = 2**53  # below which floats hold all whole numbers


def market_tables(_: Any, *, path: str, **__: Any) -> Iterator[_Table]:
    opened: Any = gzip.open if path.lower().endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as text:
        banner = text.readline().lower().split()
        if len(banner) != 5 or banner[:2] != ["%%matrixmarket", "matrix"]:
            raise ValueError("the first line is no Matrix Market banner")
        form, field, symmetry = banner[2:]
        if field not in _FIELDS or symmetry not in _MIRRORS:
            raise ValueError(f"{field} {symmetry} matrices are not supported, real ones are")
        sizes = next((line for line in text if line.strip() and not line.startswith("%")), None)
        if sizes is None:
            raise ValueError("there is no line of sizes")
        shape, mirror = [int(size) for size in sizes.split()], _MIRRORS[symmetry]
        if (form, len(shape)) == ("coordinate", 3):
            arrays = _entries(text, shape.pop(), field == "pattern", mirror)
            yield {"name": "", "form": "coo", "shape": shape}, arrays
        elif (form, len(shape)) == ("array", 2):
            arrays = {"matrix": _full(text, shape[0], shape[1], mirror)}
            yield {"name": "", "form": "dense", "shape": shape}, arrays
        else:
            raise ValueError(f"{len(shape)} sizes for format {form}")


def _numbers(text: Any, *shape: int) -> Any:
    numbers = np.loadtxt(text, ndmin=2, comments="%")
    numbers = numbers if numbers.size else np.empty((0, shape[1]))
    if numbers.shape != shape:
        raise ValueError(f"{numbers.shape} numbers, the line of sizes says {shape}")
    return numbers


def _entries(text: Any, n_entries: int, is_pattern: bool, mirror: int) -> dict[str, Any]:
    numbers = _numbers(text, n_entries, 2 if is_pattern else 3)
    where = numbers[:, :2]
    if not (np.abs(where) < _WHOLE).all() or (where != np.floor(where)).any():
        raise ValueError("numbers of rows and columns are not whole")
    row, column = where.T.astype(np.int64) - 1
    values = np.ones(n_entries) if is_pattern else numbers[:, 2]
    if mirror:
        off = row != column
        values = np.concatenate([values, mirror * values[off]])
        row, column = np.concatenate([row, column[off]]), np.concatenate([column, row[off]])
    return {"data": values, "row": row, "column": column}


def _full(text: Any, n_rows: int, n_columns: int, mirror: int) -> Any:
    """Columns after each other; of a symmetric matrix only what is on and below the diagonal."""
    if not mirror:
        return _numbers(text, n_rows * n_columns, 1).reshape((n_rows, n_columns), order="F")
    if n_rows != n_columns:
        raise ValueError(f"a symmetric matrix of {n_rows} rows and {n_columns} columns")
    values = _numbers(text, n_rows * (n_rows + mirror) // 2, 1)[:, 0]
    columns, rows = np.triu_indices(n_columns, k=0 if mirror > 0 else 1)
    matrix = np.zeros((n_rows, n_columns))
    matrix[columns, rows] = mirror * values
    matrix[rows, columns] = values
    return matrix


# HDF5: .h5ad (AnnData) and .h5mu (MuData). Only what is asked for is read: beside X such files
# often hold gigabytes of layers, graphs and embeddings.

_SPARSE = {"csr_matrix": "csr", "csc_matrix": "csc", "csr": "csr", "csc": "csc"}
_NULLABLE = ("nullable-integer", "nullable-boolean")


def hdf5_tables(h5py: Any, *, path: str, kind: str, key: str | None, **_: Any) -> Iterator[_Table]:
    with h5py.File(path, "r") as store:
        yield from annotated_tables(store, key, has_modalities=kind == "h5mu")


def annotated_tables(store: Any, key: str | None, *, has_modalities: bool) -> Iterator[_Table]:
    """What the key chooses of AnnData, or of the modalities of MuData."""
    if not has_modalities:
        yield _annotated(store, _location(store, key), key or "")
        return
    modalities = _member(store, "mod")
    found = list(modalities)
    order = map(str, modalities.attrs.get("mod-order", found))
    names = [name for name in order if name in found]
    if not names:
        raise _RefusedError(" has no modalities; expected at least one")
    chosen, _slash, inner = (key or "").partition("/")
    if key is not None and chosen not in names:
        raise _RefusedError(f" has no modality {chosen!r}", names)
    for name in [chosen] if chosen else names:
        modality = _member(modalities, name)
        yield _annotated(modality, _location(modality, inner or None, f" in {name!r}"), name)


def _location(store: Any, key: str | None, where: str = "") -> str:
    """What the key means: X, a layer or an array of obsm."""
    if key is None or key == "X":
        return "X"
    # `name in store` would follow links.
    groups = [name for name in ("layers", "obsm") if name in list(store)]
    known = [f"{group}/{name}" for group in groups for name in _member(store, group)]
    hits = [location for location in known if key in (location, location.partition("/")[2])]
    if len(hits) == 1:
        return hits[0]
    if hits:
        raise _RefusedError(f": key {key!r}{where} is ambiguous", hits)
    raise _RefusedError(f" has no key {key!r}{where}", ["X", *known])


def _annotated(group: Any, location: str, name: str) -> _Table:
    """A matrix with the names of its rows and, if it has any, of its columns."""
    label = name or "X"
    if location == "X" and "X" not in list(group):
        raise _RefusedError(f": {label} has no matrix X; expected one, or a key: PATH:KEY")
    value = _member(group, location)
    about: dict[str, Any] = {"name": name, "form": "dense"}
    columns = None if location.startswith("obsm/") else _names(group, "var")
    encoding = "" if _is_array(value) else _encoding(value)
    if _is_array(value):
        arrays = {"matrix": value}
    elif encoding in _SPARSE:
        shape = value.attrs["shape" if "shape" in value.attrs else "h5sparse_shape"]
        about |= {"form": _SPARSE[encoding], "shape": np.ravel(shape).tolist()}
        arrays = {part: _member(value, part) for part in ("data", "indices", "indptr")}
    elif encoding == "dataframe":
        columns = [str(column) for column in value.attrs["column-order"]]
        values = [_column(_member(value, column), label) for column in columns]
        arrays = {"matrix": np.column_stack(values) if values else np.empty((0, 0))}
    else:
        raise _RefusedError(f": {label} is a {encoding!r}; expected a matrix")
    arrays["rows"] = _encoded(_names(group, "obs"))
    return about, arrays if columns is None else {**arrays, "columns": _encoded(columns)}


def _encoding(group: Any) -> str:
    return str(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "group")))


def _column(stored: Any, label: str) -> Any:
    """A column of a data frame; NaN where a mask says that there is no value."""
    if _is_array(stored):
        return stored[:]
    if _encoding(stored) not in _NULLABLE:
        what = f"frame with a column of {_encoding(stored)}"
        raise _RefusedError(f": {label} is a {what!r}; expected a matrix")
    values, mask = (_member(stored, part)[:] for part in ("values", "mask"))
    if mask.shape != values.shape or mask.dtype.kind != "b":
        raise ValueError(f"{stored.name} has no mask of its shape")
    return np.where(mask, np.nan, values)


def _names(group: Any, axis: str) -> list[str]:
    """Names of rows (obs) or columns (var); a categorical index stores each of them once."""
    frame = _member(group, axis)
    stored = _member(frame, str(frame.attrs["_index"]))
    if _is_array(stored) or "codes" not in list(stored):
        return _texts(stored if _is_array(stored) else _member(stored, "values"))
    names, codes = _texts(_member(stored, "categories")), _member(stored, "codes")[:]
    if codes.dtype.kind not in "iu" or (
        codes.size and not 0 <= codes.min() <= codes.max() < len(names)
    ):
        raise ValueError(f"names in {axis} have codes that stand for no name")
    # A long name that is stored once may be that of a million rows.
    if np.array([len(name) for name in names], dtype=np.int64)[codes].sum() > _LETTERS:
        raise MemoryError
    return [names[code] for code in codes]
