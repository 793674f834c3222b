"""Archives: a zip file with one JSON manifest, arrays, and a checksum per member. No pickle.

Members are not compressed, so reading a file never takes more memory than its size. They are never
unpacked to disk.
"""

import hashlib
import io
import json
import math
import tokenize
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

#: Errors of reading a file that is no archive, or a damaged one.
ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    KeyError,
    TypeError,
    ValueError,
    EOFError,
    RuntimeError,
    SyntaxError,  # NumPy parses array headers as Python
    tokenize.TokenError,
)
_CHECKSUMS = "sha256.txt"
_DATE = (2000, 1, 1, 0, 0, 0)  # fixed, so that equal content gives equal files


def write_archive(
    stream: IO[bytes], manifest_name: str, manifest: Any, arrays: Mapping[str, Any]
) -> None:
    """Write `manifest` as JSON, then every array as NAME.npy, without copying arrays."""
    sums = []
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:

        def add(name: str, *parts: Any) -> None:
            digest = hashlib.sha256()
            size = sum(len(part) for part in parts)
            info = zipfile.ZipInfo(name, _DATE)
            info.file_size = size  # tells zipfile whether the entry needs 64 bits
            with archive.open(info, "w") as member:
                for part in parts:
                    digest.update(part)
                    member.write(part)
            sums.append(f"{digest.hexdigest()}  {name}\n")

        add(manifest_name, json.dumps(manifest, indent=1, ensure_ascii=False).encode())
        for name, array in arrays.items():
            add(f"{name}.npy", *_npy_parts(array))
        archive.writestr(zipfile.ZipInfo(_CHECKSUMS, _DATE), "".join(sums))


def archive_bytes(manifest_name: str, manifest: Any, arrays: Mapping[str, Any]) -> bytes:
    stream = io.BytesIO()
    write_archive(stream, manifest_name, manifest, arrays)
    return stream.getvalue()


def _npy_parts(array: Any) -> tuple[bytes, memoryview]:
    """Header and content of a .npy file of version 1.0."""
    little = np.asarray(array)
    little = np.asarray(little, dtype=little.dtype.newbyteorder("<"), order="C")
    header = io.BytesIO()
    npy.write_array_header_1_0(header, npy.header_data_from_array_1_0(little))
    return header.getvalue(), little.reshape(-1).view(np.uint8).data


@dataclass(frozen=True)
class Archive:
    """Content of an archive with verified checksums."""

    manifest: Any
    members: Mapping[str, bytes]

    def array(self, name: str, kind: str, shape: tuple[int, ...]) -> Any:
        """An array, if its header is as expected and fits the size of the member."""
        content = self.members[f"{name}.npy"]
        stream = io.BytesIO(content)
        if npy.read_magic(stream) != (1, 0):
            raise ValueError(f"{name} is no .npy of version 1.0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about headers written by Python 2
            found, fortran, dtype = npy.read_array_header_1_0(stream)
        if found != shape or dtype.kind != kind or dtype.itemsize not in (4, 8) or fortran:
            raise ValueError(f"{name} has shape {found} and type {dtype}")
        if len(content) - stream.tell() != math.prod(shape) * dtype.itemsize:
            raise ValueError(f"{name} has {len(content)} bytes for shape {shape}")
        array = np.frombuffer(content, dtype=dtype, offset=stream.tell()).reshape(shape)
        return array.astype(dtype.newbyteorder("="))


def read_archive(path: Path, manifest_name: str) -> Archive:
    """Read a whole archive; raises one of `ARCHIVE_ERRORS` if it is damaged."""
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        names = [entry.filename for entry in entries]
        if len(set(names)) < len(names):
            raise ValueError("it has two members with the same name")
        if manifest_name not in names or _CHECKSUMS not in names:
            raise ValueError(f"it has no {manifest_name} or no {_CHECKSUMS}")
        size = path.stat().st_size
        if any(e.compress_type != zipfile.ZIP_STORED for e in entries):
            raise ValueError("its members are compressed")
        if sum(entry.file_size for entry in entries) > size:
            raise ValueError("its members claim to be larger than the file")
        try:
            members = {entry.filename: archive.read(entry) for entry in entries}
        except OSError as error:  # an offset before the start of the file
            raise ValueError(str(error)) from error
    sums = members.pop(_CHECKSUMS).decode()
    listed = {name: digest for digest, name in (line.split("  ", 1) for line in sums.splitlines())}
    if listed.keys() != members.keys():
        raise ValueError(f"{_CHECKSUMS} does not list its members")
    for name, content in members.items():
        if hashlib.sha256(content).hexdigest() != listed[name]:
            raise ValueError(f"the checksum of {name} is wrong")
    return Archive(json.loads(members[manifest_name]), members)
