"""Where the bytes of a text table come from: a file, compressed or not, standard input, a sheet."""

import bz2
import gzip
import io
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyview.inputs import first_few
from manyview.inputs.files._columns import import_pyarrow
from manyview.inputs.files._limits import check_fits, readable

TEXT = (".csv", ".tsv", ".tab", ".txt")
#: The argument that means standard input.
STDIN = Path("-")
#: What reading damaged streams raises.
STREAM_ERRORS = (EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)
_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_BLOCK = 2**24  # bytes at a time


@dataclass(frozen=True)
class TextSource:
    """The bytes of a text table, which can be read several times."""

    path: Path  # as messages name it
    extension: str
    compression: str | None = None
    member: str | None = None  # of a zip archive
    content: bytes | None = None

    @property
    def size(self) -> int | None:
        """Bytes of the text, where they are known before it is read."""
        if self.content is not None:
            return len(self.content)
        return None if self.compression else self.path.stat().st_size

    def open(self) -> Any:
        if self.content is not None:
            return io.BufferedReader(io.BytesIO(self.content))
        if self.compression == "gzip":
            return gzip.GzipFile(self.path)
        if self.compression == "bz2":
            return bz2.BZ2File(self.path)
        if self.compression == "zip":
            with _archive(self.path) as archive:
                return archive.open(str(self.member))
        if self.compression is None:
            return self.path.open("rb")
        pa = import_pyarrow(self.path)
        return io.BufferedReader(pa.input_stream(str(self.path), compression=self.compression))


def text_source(path: Path) -> TextSource:
    if path == STDIN:
        return TextSource(Path("standard input"), ".csv", content=_standard_input())
    suffix = path.suffix.lower()
    if suffix == ".zip":
        member = _only_table(path)
        return TextSource(path, Path(member).suffix.lower() or ".csv", "zip", member)
    compression = _COMPRESSIONS.get(suffix)
    return TextSource(path, Path(path.stem).suffix.lower() if compression else suffix, compression)


def _standard_input() -> bytes:
    content = bytearray()
    while block := sys.stdin.buffer.read(_BLOCK):
        check_fits("standard input", len(content) + 2 * len(block), "its text")
        content += block
    if not content:
        raise ValueError("standard input is empty; expected a table")
    return bytes(content)


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    # OSError and ValueError are of offsets that lead out of the file, or of names.
    errors = (*STREAM_ERRORS, OSError, ValueError, IndexError)
    with readable(path, "zip", *errors), zipfile.ZipFile(path) as archive:
        yield archive


def _only_table(path: Path) -> str:
    """The member of an archive that is a text table."""
    with _archive(path) as archive:
        members = [one for one in archive.infolist() if not one.is_dir()]
    # Macs store what belongs to a file in a folder of this name.
    members = [one for one in members if not one.filename.startswith("__MACOSX/")]
    names = [one.filename for one in members]
    if len(members) != 1:
        raise ValueError(
            f"{path} has {len(members)} files ({first_few(names)}); expected one, unpack it first"
        )
    if Path(names[0]).suffix and not names[0].lower().endswith(TEXT):
        raise ValueError(f"{path} has a file {names[0]!r}; expected one of {', '.join(TEXT)}")
    if members[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # zipfile decompresses others without a limit.
        raise ValueError(f"{path}: {names[0]!r} is compressed in an unusual way; expected deflate")
    if members[0].flag_bits & 1:
        raise ValueError(f"{path}: {names[0]!r} is encrypted; expected no password")
    return names[0]
