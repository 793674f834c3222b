"""NPY files, and NPZ files: zip archives of arrays, read by name and never unpacked."""

import io
import math
import struct
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from manyview.inputs import Table
from manyview.inputs.files._limits import (
    NAME_BYTES,
    ReadOptions,
    check_fits,
    readable,
    stored_matrix,
)
from manyview.inputs.files._variables import Unread, Variable, check_keys, checked_ids, tables_of
from manyview.runtime import ARCHIVE_ERRORS

_ERRORS = (*ARCHIVE_ERRORS, OSError, OverflowError, struct.error, zlib.error)
_HEADER = 2**16  # bytes; NumPy reads no longer ones either


def read_npy(path: Path, key: str | None, options: ReadOptions) -> list[Table]:
    with path.open("rb") as stream:
        is_archive = stream.read(4) == b"PK\x03\x04"
    if is_archive:
        raise ValueError(f"{path} is an archive of arrays; expected one, or the extension .npz")
    with readable(path, "NPY", *_ERRORS), _old_headers():
        # A map compares the header with the file's length before it takes memory.
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    matrix = stored_matrix(mapped, str(path), transpose=options.transpose)
    if np.may_share_memory(matrix, mapped):
        check_fits(path, mapped.nbytes, f"shape {mapped.shape}")
        matrix = np.array(mapped)  # the file may change or go while we compute
    return [Table("", matrix, None, None)]


def read_npz(path: Path, key: str | None, options: ReadOptions) -> list[Table]:
    with path.open("rb") as stream, readable(path, "NPZ", *_ERRORS):
        if stream.read(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX:
            archive = None
        else:
            archive = zipfile.ZipFile(path)
    if archive is None:
        raise ValueError(f"{path} is a single array; expected an archive, or name it .npy")
    with archive:
        members = _members(path, archive)
        if {"format", "shape", "data"} <= members.keys() and key is None:
            _check_sizes(path, archive, members, list(members), list(members))
            with readable(path, "NPZ", *_ERRORS), _old_headers():
                found = sparse.load_npz(path)
            matrix = stored_matrix(found, str(path), transpose=options.transpose)
            return [Table("", matrix, None, None)]
        asked = [name for name in (key, options.id_column) if name is not None]
        check_keys(path, asked, list(members))
        wanted = list(members) if key is None else [name for name in members if name in asked]
        unread = _check_sizes(path, archive, members, wanted, asked)
        with readable(path, "NPZ", *_ERRORS), _old_headers():
            arrays: dict[str, Any] = {
                name: unread[name] if name in unread else _array(archive, members[name])
                for name in wanted
            }
    ids = None
    if options.id_column is not None:
        array = arrays.pop(options.id_column)
        check_fits(path, array.size * NAME_BYTES, f"{array.size:,} ids")
        ids = checked_ids(path, options.id_column, array.shape, array.ravel().tolist())
    variables = [Variable(name, name, value) for name, value in arrays.items()]
    return tables_of(path, variables, ids, key, options)


def _members(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    entries = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
    names = [entry.filename.removesuffix(".npy") for entry in entries]
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise ValueError(f"{path} has two arrays named {twice[0]!r}; expected distinct names")
    return dict(zip(names, entries, strict=True))


def _check_sizes(
    path: Path,
    archive: zipfile.ZipFile,
    members: dict[str, zipfile.ZipInfo],
    wanted: Sequence[str],
    asked: Sequence[str],
) -> dict[str, Unread]:
    """Compare what is declared with what fits. Arrays of Python objects are not opened."""
    total, unread = 0, {}
    for name in wanted:
        shape, dtype, n_bytes = _declared(path, archive, name, members[name])
        if not dtype.hasobject:
            total += n_bytes
        elif name in asked:
            raise ValueError(f"{path}: array {name!r} holds Python objects; expected numbers")
        else:
            unread[name] = Unread(shape, "Python objects")
    check_fits(path, total, f"{len(wanted)} array(s)")
    return unread


def _declared(
    path: Path, archive: zipfile.ZipFile, name: str, entry: zipfile.ZipInfo
) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Shape, type and bytes of an array by its header, compared with the sizes of the archive."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # NumPy writes no others, and zipfile decompresses those without a limit.
        raise ValueError(f"{path}: {name!r} is compressed in an unusual way; expected deflate")
    with readable(path, "NPZ", *_ERRORS):
        with archive.open(entry) as stream:
            head = io.BytesIO(stream.read(_HEADER))
        shape, dtype = _header(head)
    n = int(math.prod(shape))
    n_bytes = 0 if dtype.hasobject else n * dtype.itemsize
    if n_bytes + head.tell() > entry.file_size or n > entry.file_size:
        raise ValueError(
            f"{path}: not a readable NPZ file, damaged or cut short (array {name!r} of shape "
            f"{shape} and type {dtype} in {entry.file_size} bytes)"
        )
    return shape, dtype, n_bytes


def _header(stream: io.BytesIO) -> tuple[Any, np.dtype[Any]]:
    """Shape and type of an array in .npy format; the stream is then at its numbers."""
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    with _old_headers():
        shape, _, dtype = read(stream)
    if any(n < 0 for n in shape):
        raise ValueError(f"shape {shape}")
    return shape, dtype


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Any:
    with archive.open(entry) as stream:
        return npy.read_array(stream, allow_pickle=False)


@contextmanager
def _old_headers() -> Iterator[None]:
    """No warnings about headers that Python 2 wrote: users could do nothing about them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
