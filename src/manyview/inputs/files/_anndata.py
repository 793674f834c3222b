"""Annotated matrices of single-cell biology: .h5ad (AnnData) and .h5mu (MuData).

Both are HDF5 with the same layout inside. Only what is asked for is read: a file of a few hundred
megabytes of X often carries gigabytes of layers, graphs and embeddings. Another process does the
reading (`_sandbox`), for the HDF5 library does not survive all damage.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from numpy.lib import format as npy
from scipy.sparse import csc_array, csr_array

from manyview.inputs import Table, few
from manyview.inputs.files._limits import (
    NAME_BYTES,
    Options,
    check_fits,
    damaged,
    readable,
    stored_matrix,
)
from manyview.runtime import available_memory

#: Seconds of computing, waiting for disks not counted, after which a file is given up if not a
#: single block came of it. The slowest block of a whole file takes less than one.
PATIENCE = 60.0
_LINE = 2**28  # bytes of a message at most: some thousand names
# The modules of this process, wherever they are: what is installed there is what is read with.
_START = """
import json, sys
request = json.loads(sys.argv[1])
sys.path[:] = request["sys_path"]
from manyview.inputs.files._sandbox import main
main(request)
"""


def read_h5ad(path: Path, key: str | None, options: Options) -> list[Table]:
    return _read(path, "h5ad", key)


def read_h5mu(path: Path, key: str | None, options: Options) -> list[Table]:
    return _read(path, "h5mu", key)


@dataclass
class _Incoming:
    """A table of which some has come."""

    name: str
    form: str
    shape: tuple[int, ...]
    named_columns: bool
    parts: dict[str, Any] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=lambda: {"rows": [], "columns": []})


class _EndedError(Exception):
    """The other process ended before it was done."""


class _Pipe:
    """What comes from the other process; of files NumPy expects that they can be rewound."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def read(self, n: int = -1, /) -> bytes:
        content = self._stream.read(n)
        if len(content) < n:
            raise _EndedError
        return content

    def message(self) -> dict[str, Any]:
        line = self._stream.readline(_LINE)
        if len(line) == _LINE:
            raise MemoryError
        if not line.endswith(b"\n"):
            raise _EndedError
        message: dict[str, Any] = json.loads(line)
        return message

    def array(self) -> Any:
        return npy.read_array(self, allow_pickle=False)


def _read(path: Path, kind: str, key: str | None) -> list[Table]:
    with _reading(path, kind, key) as (child, pipe), readable(path, kind):
        try:
            return _received(path, kind, pipe)
        except _EndedError:
            _explain_end(path, kind, child.wait())


def _received(path: Path, kind: str, pipe: _Pipe) -> list[Table]:
    tables: list[Table] = []
    table: _Incoming | None = None
    while "end" not in (message := pipe.message()):
        if "table" in message:
            tables += [] if table is None else [_table(path, table)]
            table = _announced(message)
        elif table is None:
            _refuse(path, kind, message)
        elif "part" in message:
            _make_room(path, table, message)
        elif "at" in message:
            _fill(list(table.parts.values())[-1], message["at"], pipe.array())
        elif "n_names" in message:
            what = f"{message['n_names']:,} names of {message['role']}"
            size = message["n_names"] * NAME_BYTES + message.get("letters", 0)
            check_fits(path, size, what)
        elif "names" in message:
            table.names[message["names"]] += message["texts"]
        else:
            _refuse(path, kind, message)
    return tables if table is None else [*tables, _table(path, table)]


@contextmanager
def _reading(
    path: Path, kind: str, key: str | None
) -> Iterator[tuple[subprocess.Popen[bytes], _Pipe]]:
    request = {
        "path": str(path),
        "kind": kind,
        "key": key,
        "memory": available_memory(),
        "patience": PATIENCE,
        "sys_path": [str(place) for place in sys.path],
    }
    child = subprocess.Popen(
        # Without -P modules would be looked for in the folder of the data first.
        [sys.executable, "-P", "-c", _START, json.dumps(request)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert child.stdout is not None
    try:
        with child.stdout as stream:
            yield child, _Pipe(stream)
    finally:
        child.kill()  # does nothing if it has ended
        child.wait()


def _announced(message: dict[str, Any]) -> _Incoming:
    shape = tuple(map(int, message["shape"]))
    return _Incoming(message["table"], message["form"], shape, message["named_columns"])


def _make_room(path: Path, table: _Incoming, message: dict[str, Any]) -> None:
    shape, part = tuple(map(int, message["shape"])), message["part"]
    label = f"{path}: {table.name or 'X'}"
    dtype = np.dtype(message["type"])
    if dtype.kind not in "buif":
        raise ValueError(f"{label} holds values of type {dtype}; expected real numbers")
    if len(shape) != (2 if part == "matrix" else 1):
        raise ValueError(f"{label} is stored as {part} of shape {shape}; expected a matrix")
    is_index = part in ("indices", "indptr")
    kept = np.dtype(dtype.newbyteorder("=") if is_index else np.float64)
    what = f"{part} of shape {shape}" if part == "matrix" else f"{part!r} of shape {shape}"
    check_fits(label, math.prod(shape) * kept.itemsize, what)
    table.parts[part] = np.empty(shape, kept)


def _fill(array: Any, corner: list[int], block: Any) -> None:
    places = tuple(slice(i, i + n) for i, n in zip(corner, block.shape, strict=True))
    with np.errstate(over="ignore"):  # longer floats may become infinite, which is found later
        array[places] = block


def _table(path: Path, table: _Incoming) -> Table:
    label = f"{path}: {table.name or 'X'}"
    matrix = stored_matrix(_assembled(path, table), label)
    ids = tuple(table.names["rows"])
    features = tuple(table.names["columns"]) if table.named_columns else None
    if matrix.shape[0] != len(ids) or (features is not None and matrix.shape[1] != len(features)):
        raise ValueError(
            f"{label} has shape {tuple(matrix.shape)}, but names for {len(ids)} rows and "
            f"{len(features or ())} columns; expected the same numbers"
        )
    return Table(table.name, matrix, ids, features)


def _assembled(path: Path, table: _Incoming) -> Any:
    if table.form == "dense":
        return table.parts["matrix"]
    if table.form == "frame":
        with readable(path, "h5ad", ValueError):
            return np.column_stack(list(table.parts.values()))
    with readable(path, "h5ad", ValueError):
        parts = tuple(table.parts[part] for part in ("data", "indices", "indptr"))
        return (csr_array if table.form == "csr" else csc_array)(parts, shape=table.shape)


def _refuse(path: Path, kind: str, message: dict[str, Any]) -> NoReturn:
    """What hinders, in words."""
    if "missing_library" in message:
        raise ImportError(
            f"reading {path} needs {message['missing_library']}: pip install 'manyview[bio]'"
        )
    if "too_large" in message:
        raise MemoryError
    if "damaged" in message:
        damaged(path, kind, ValueError(message["damaged"]))
    if "elsewhere" in message:
        raise ValueError(
            f"{path}: {message['elsewhere']!r} is a link, or its numbers are in another file; "
            "expected them in this one"
        )
    if "no_modality" in message:
        if not message["known"]:
            raise ValueError(f"{path} has no modalities; expected at least one")
        asked, known = message["no_modality"], few(message["known"])
        raise ValueError(f"{path} has no modality {asked!r}; expected one of {known}")
    if "no_key" in message:
        asked, hits = message["no_key"], message["hits"]
        if hits:
            raise ValueError(f"{path}: key {asked!r} is ambiguous; expected one of {few(hits)}")
        known = few(message["known"], 10)
        raise ValueError(f"{path} has no key {asked!r}; expected one of {known}")
    label = f"{path}: {message['no_matrix'] or 'X'}"
    if "instead" in message:
        raise ValueError(f"{label} is a {message['instead']!r}; expected a matrix")
    raise ValueError(f"{label} has no matrix X; expected one, or a key: {path}:KEY")


def _explain_end(path: Path, kind: str, code: int) -> NoReturn:
    """What it means that the other process ended before it was done."""
    what = f"{path}: not a readable {kind} file, damaged: the HDF5 library"
    if code < 0 and -code == getattr(signal, "SIGPROF", None):
        raise ValueError(f"{what} got nowhere in {PATIENCE:.0f} seconds of computing on it")
    if code < 0:
        raise ValueError(f"{what} crashed on it (signal {-code})")
    raise ValueError(f"{path}: the process that reads {kind} files ended with code {code}")
