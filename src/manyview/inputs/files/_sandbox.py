"""MAT, Matrix Market, Arrow, h5ad, h5mu and Zarr files: read by another process.

On a damaged file the libraries that read these formats may crash, hang or fill the memory. So
`_sandbox_child` runs as a process with limits of memory and computing time (its own, or those of
`_watch`), and sends back plain arrays. What it declares is checked before it is believed.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array

from manyview.inputs import Table, first_few
from manyview.inputs.files._limits import (
    NAME_BYTES,
    ReadOptions,
    check_fits,
    damaged,
    readable,
    stored_matrix,
)
from manyview.inputs.files._parquet_parts import read_parquet
from manyview.inputs.files._variables import Unread, Variable, checked_ids, tables_of
from manyview.inputs.files._watch import watched
from manyview.runtime import available_memory

#: Seconds of computing that any file gets, waiting for a disk not counted, and more per byte of it.
PATIENCE = 60.0
_SECONDS_PER_BYTE = 1e-5
#: Bytes of memory likewise: what is compressed grows by up to 1032, and some copies are made.
_MEMORY = 2**28
_MEMORY_PER_BYTE = 5000
_BLOCK = 2**24  # bytes of an array at a time
_LINE = 2**20  # bytes of a message at most
_PROGRAM = Path(__file__).with_name("_child.py")
#: The library and the extra of formats that need others than h5py.
_NEEDS = {"Arrow": ("pyarrow", "files"), "Excel": ("openpyxl", "files"), "Zarr": ("zarr", "bio")}
_WINDOWS_CRASH = 2**31  # exit codes from here on, such as 0xC0000005 for a wrong address
_HDF5 = b"\x89HDF\r\n\x1a\n"


def read_mat(path: Path, key: str | None, options: ReadOptions) -> list[Table]:
    with path.open("rb") as stream:
        head = stream.read(520)
    if head.startswith(b"MATLAB 7.3") or _HDF5 in (head[:8], head[512:]):
        raise ValueError(
            f"{path} is a MATLAB 7.3 (HDF5) file; expected one saved with save(..., '-v7')"
        )
    ids, variables = None, []
    for item in read_in_child(path, "MAT", key, options.id_column):
        variable, shape = item.about["variable"], tuple(item.about["shape"])
        if "ids" in item.arrays:
            ids = checked_ids(path, variable, shape, item.names("ids"))
        else:
            value = item.matrix() if item.arrays else Unread(shape, item.about["kind"])
            variables.append(Variable(variable, item.name, value))
    return tables_of(path, variables, ids, key, options)


def read_mtx(path: Path, key: str | None, options: ReadOptions) -> list[Table]:
    (item,) = read_in_child(path, "Matrix Market", key)
    matrix = stored_matrix(item.matrix(), str(path), transpose=options.transpose)
    return [Table("", matrix, None, None)]


def read_arrow(path: Path, key: str | None, options: ReadOptions) -> list[Table]:
    (item,) = read_in_child(path, "Arrow", key)
    return read_parquet(path, key, options, stored=item.arrays["parquet"])


def read_annotated(path: Path, key: str | None, options: ReadOptions) -> list[Table]:
    """AnnData and MuData, in HDF5 files or Zarr folders."""
    kind = {".h5ad": "h5ad", ".h5mu": "h5mu"}.get(path.suffix.lower(), "Zarr")
    return [_annotated(path, item) for item in read_in_child(path, kind, key)]


def _annotated(path: Path, item: Item) -> Table:
    label = f"{path}: {item.name or 'X'}"
    matrix = stored_matrix(item.matrix(), label)
    ids = item.names("rows")
    features = item.names("columns") if "columns" in item.arrays else None
    if matrix.shape[0] != len(ids) or (features is not None and matrix.shape[1] != len(features)):
        raise ValueError(
            f"{label} has shape {tuple(matrix.shape)}, but names for {len(ids)} rows and "
            f"{len(features or ())} columns; expected the same numbers"
        )
    return Table(item.name, matrix, ids, features)


@dataclass(frozen=True)
class Item:
    """A table as it was received: what is known of it, and its arrays by name."""

    path: Path
    kind: str
    about: dict[str, Any]
    arrays: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.about["name"])

    def matrix(self) -> Any:
        """The dense or sparse matrix, whose indices are still to be checked."""
        form, arrays, shape = self.about["form"], self.arrays, tuple(self.about.get("shape", ()))
        if form == "dense":
            return arrays["matrix"]
        with readable(self.path, self.kind, ValueError, TypeError):
            if form == "coo":
                return coo_array((arrays["data"], (arrays["row"], arrays["column"])), shape=shape)
            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            return (csr_array if form == "csr" else csc_array)(parts, shape=shape)

    def names(self, part: str) -> tuple[Any, ...]:
        """Texts, or numbers, from an array that holds them as JSON."""
        content = self.arrays[part].tobytes()
        n = 1 + content.count(b",")
        check_fits(self.path, len(content) + n * NAME_BYTES, f"{n:,} names")
        return tuple(json.loads(content))


def read_in_child(path: Path, kind: str, key: str | None, ids: str | None = None) -> list[Item]:
    """The tables of a file that the key chooses. All damage is one error that names the path."""
    n_bytes, available = _size(path), available_memory()
    memory = _MEMORY + _MEMORY_PER_BYTE * n_bytes
    memory = memory if available is None else min(memory, available)
    limits = {"memory": memory, "seconds": PATIENCE + _SECONDS_PER_BYTE * n_bytes}
    request = {"path": str(path), "kind": kind, "key": key, "ids": ids, **limits}
    # The modules of this process, wherever they are, but none that lie beside the data.
    modules = os.pathsep.join(name for name in sys.path if os.path.isabs(name))
    own = {"PYTHONPATH": modules, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    own |= {"MALLOC_ARENA_MAX": "1"}  # else each thread reserves 64 MB of address space
    own |= {"OPENPYXL_LXML": "False"}  # lxml would follow links to other files
    with subprocess.Popen(
        [sys.executable, "-P", str(_PROGRAM), json.dumps(request)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **own},
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        try:
            with (
                watched(child, **limits) as watch,
                readable(path, kind, json.JSONDecodeError, KeyError, TypeError),
            ):
                try:
                    items = list(_received(path, kind, child.stdout))
                    if child.wait() == 0:
                        return items
                except EOFError:
                    child.wait()
                reason = child.stderr.read(_LINE)
                _explain(path, kind, child.returncode, limits, reason, watch.exceeded)
        finally:
            child.kill()  # does nothing if it has ended


def _size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    files = (own for own in path.rglob("*") if own.is_file()) if path.is_dir() else [path]
    return sum(own.stat().st_size for own in files)


def _received(path: Path, kind: str, stream: IO[bytes]) -> Iterator[Item]:
    while line := stream.readline(_LINE):
        if not line.endswith(b"\n"):
            raise EOFError
        about = json.loads(line)
        label = f"{path}: {about['name'] or 'X'}"
        arrays = {
            part: _array(label, part, tuple(shape), np.dtype(dtype), stream)
            for part, (shape, dtype) in about.pop("arrays").items()
        }
        yield Item(path, kind, about, arrays)


def _array(
    label: str, part: str, shape: tuple[int, ...], dtype: np.dtype[Any], stream: IO[bytes]
) -> Any:
    """An array of the declared shape and type; values become float64."""
    if dtype.kind not in "buif":
        raise ValueError(f"{label} holds values of type {dtype}; expected real numbers")
    if len(shape) != (2 if part == "matrix" else 1) or min(shape) < 0:
        raise ValueError(f"{label} is stored as {part} of shape {shape}; expected a matrix")
    kept = np.dtype(np.float64 if part in ("matrix", "data") else dtype.newbyteorder("="))
    size, step = math.prod(shape), _BLOCK // dtype.itemsize
    check_fits(label, size * kept.itemsize, f"{part} of shape {shape}")
    array = np.empty(size, kept)
    for start in range(0, size, step):
        target = array[start : start + step]
        content = stream.read(len(target) * dtype.itemsize)
        if len(content) < len(target) * dtype.itemsize:
            raise EOFError
        with np.errstate(over="ignore"):  # longer floats may become infinite, which is found later
            target[:] = np.frombuffer(content, dtype)
    return array.reshape(shape)


def _explain(
    path: Path, kind: str, code: int, limits: dict[str, float], reason: bytes, exceeded: str
) -> NoReturn:
    """Why the other process did not finish: by its own words, its exit code or who ended it."""
    told = json.loads(reason) if reason.startswith(b"{") else {}
    if "missing_library" in told:
        library, extra = _NEEDS.get(kind, ("h5py", "bio"))
        raise ImportError(f"reading {path} needs {library}: pip install 'manyview[{extra}]'")
    if "too_large" in told or exceeded == "memory":
        most = f"{limits['memory'] / 1e6:,.0f} MB of memory"
        raise ValueError(
            f"{path}: the {kind} file takes more than {most} to read; expected at most that, by "
            "its size and the memory available"
        )
    if "refused" in told:
        known = f"; expected one of {first_few(told['known'], 10)}" if told["known"] else ""
        raise ValueError(f"{path}{told['refused']}{known}")
    if "damaged" in told:
        damaged(path, kind, ValueError(told["damaged"]))
    what = f"{path}: not a readable {kind} file, damaged: the process that reads it"
    if -code == getattr(signal, "SIGPROF", None) or exceeded == "seconds":
        raise ValueError(f"{what} did not finish in {limits['seconds']:.0f} seconds of computing")
    if code < 0:
        raise ValueError(f"{what} crashed (signal {-code})")
    if code >= _WINDOWS_CRASH:
        raise ValueError(f"{what} crashed (code {code:#x})")
    raise ValueError(f"{path}: the process that reads {kind} files ended with code {code}")
