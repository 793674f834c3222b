"""MAT files of MATLAB 5 to 7, and of version 4 by SciPy.

SciPy's reader of the later versions takes a file at its word: 200 bytes that declare a cell array
of 32,768 x 32,768 cost it 8 GB and a minute. Here nothing is taken before the file is known to be
long enough for it. Of what is no matrix only the kind and shape are found out.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from scipy.io.matlab import MatReadError
from scipy.sparse import csc_array

from manyview.inputs import Table, load_mat
from manyview.inputs.files._limits import UNFOLDING, Options, check_fits, readable
from manyview.inputs.files._variables import Unread, Variable, tables_of

# What the readers stumble over where a file's word is not true.
_ERRORS = (
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
_HEADER = 128  # bytes
_INT8, _INT32, _UINT32, _MATRIX, _COMPRESSED, _UTF8 = 1, 5, 6, 14, 15, 16
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"}
_NUMBERS |= {12: "i8", 13: "u8"}
_ENCODINGS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_CELLS, _TEXT, _SPARSE, _OPAQUE = 1, 4, 5, 17  # classes of arrays
_NUMERIC = range(6, 16)
_COMPLEX = 1 << 11
_CELL_BYTES = 200  # of an array and the object it is, about
_LETTER_BYTES = 16  # of a letter while texts are made of them, about
_DEPTH = 20  # of cells in cells
_PIECE = 2**20  # bytes at a time


def read_mat(path: Path, key: str | None, options: Options) -> list[Table]:
    with path.open("rb") as stream:
        head = stream.read(520)
    if head.startswith(b"MATLAB 7.3") or _HDF5 in (head[:8], head[512:]):
        raise ValueError(
            f"{path} is a MATLAB 7.3 (HDF5) file; expected one saved with save(..., '-v7')"
        )
    with path.open("rb") as stream, readable(path, "MAT", *_ERRORS):
        variables = _old_variables(stream) if 0 in head[:4] else _variables(path, stream)
    return tables_of(path, list(_unpacked(variables)), key, options)


def _old_variables(stream: BinaryIO) -> dict[str, Any]:
    """Version 4 has neither cells nor compression, so that SciPy reads no more than there is."""
    with np.errstate(all="ignore"):  # of sizes and places that are no numbers; they raise errors
        variables = load_mat(stream)
    return {name: value for name, value in variables.items() if not name.startswith("__")}


def _unpacked(variables: dict[str, Any]) -> Iterable[Variable]:
    """The variables, with cell arrays of numeric arrays taken apart."""
    for name, value in variables.items():
        cells = _cells(value)
        if cells:
            yield from (Variable(name, f"{name}{i}", cell) for i, cell in enumerate(cells, start=1))
        else:
            yield Variable(name, name, value)


def _cells(value: Any) -> list[Any]:
    if not (isinstance(value, np.ndarray) and value.dtype == object):
        return []
    cells = list(value.ravel(order="F"))
    # Complex ones too, so that they are refused by their own names.
    numeric = all(hasattr(cell, "dtype") and cell.dtype.kind in "buifc" for cell in cells)
    return cells if numeric else []


@dataclass
class _Source:
    """The bytes of one element of a file, unfolded where they are compressed."""

    stream: BinaryIO
    left: int  # bytes in the file
    unfolded: Any = None

    def __post_init__(self) -> None:
        self.position = 0
        self.most = self.left * (UNFOLDING if self.unfolded else 1)

    def check(self, n: int) -> None:
        if n > self.most - self.position:
            raise ValueError(f"{n} bytes are announced, more than there are")

    def fill(self, target: memoryview) -> None:
        self.check(len(target))
        done = 0
        while done < len(target):
            piece = self._piece(min(len(target) - done, _PIECE))
            if not piece:
                raise ValueError("it ends too early")
            target[done : done + len(piece)] = piece
            done += len(piece)
        self.position += done

    def read(self, n: int) -> bytes:
        """So many bytes, for small numbers of them."""
        target = bytearray(n if n <= _PIECE else 0)
        if n > _PIECE:
            raise ValueError(f"{n} bytes where few are expected")
        self.fill(memoryview(target))
        return bytes(target)

    def skip(self, n: int) -> None:
        self.check(n)
        while n > 0:
            part = min(n, _PIECE)
            self.read(part)
            n -= part

    def finish(self) -> None:
        """Only at the end of what is compressed is there a checksum of it."""
        if self.unfolded is None:
            return
        if self._piece(1):
            raise ValueError("more is compressed than its variable has")
        if not self.unfolded.eof:
            raise ValueError("what is compressed has no end")

    def _piece(self, n: int) -> bytes:
        if self.unfolded is None:
            return self._raw(n)
        while not self.unfolded.eof:
            raw = self.unfolded.unconsumed_tail or self._raw(_PIECE)
            piece: bytes = self.unfolded.decompress(raw, n)
            if piece or not raw:
                return piece
        return b""

    def _raw(self, n: int) -> bytes:
        raw = self.stream.read(min(n, self.left))
        self.left -= len(raw)
        return raw


@dataclass(frozen=True)
class _Element:
    """What the tag of an element says; elements of up to four bytes are in their tag."""

    kind: int
    length: int
    content: bytes | None


def _variables(path: Path, stream: BinaryIO) -> dict[str, Any]:
    header = stream.read(_HEADER)
    if len(header) < _HEADER or header[126:128] not in (b"IM", b"MI"):
        raise ValueError("it has no header of a MAT file")
    order = "<" if header[126:128] == b"IM" else ">"
    end = path.stat().st_size
    variables: dict[str, Any] = {}
    while stream.tell() < end:
        kind, length = struct.unpack(f"{order}II", stream.read(8))
        start = stream.tell()
        if length > end - start:
            raise ValueError(f"{length} bytes are announced, {end - start} are there")
        if kind == _COMPRESSED:
            source = _Source(stream, length, zlib.decompressobj())
            kind, inner = struct.unpack(f"{order}II", source.read(8))
        else:
            source, inner = _Source(stream, length), length
        if kind != _MATRIX:
            raise ValueError(f"an element of kind {kind} where a variable is expected")
        name, value = _Reader(path, source, order).array(inner)
        source.finish()
        if name in variables:
            raise ValueError(f"two variables are named {name!r}")
        if name and not name.startswith("__"):  # what MATLAB keeps for itself has no name
            variables[name] = value
        stream.seek(start + length)
    return variables


@dataclass
class _Reader:
    """Reads arrays from one element, and cells in it."""

    path: Path
    source: _Source
    order: str
    depth: int = 0

    def array(self, length: int) -> tuple[str, Any]:
        """The name and value of the array in the so many bytes that follow."""
        end = self.source.position + length
        name, value = self._array() if length else ("", np.empty((0, 0)))
        self.source.skip(end - self.source.position)
        return name, value

    def _array(self) -> tuple[str, Any]:
        _, content = self._content(_UINT32)
        flags, _ = struct.unpack(f"{self.order}II", content)
        kind = flags & 0xFF
        if kind == _OPAQUE:
            return self._name(), Unread((1, 1), np.dtype(object))
        _, content = self._content(_INT32, _UINT32)  # either is written
        shape = tuple(map(int, np.frombuffer(content, f"{self.order}i4")))
        name = self._name()
        if len(shape) < 2 or min(shape) < 0:
            raise ValueError(f"variable {name!r} has shape {shape}")
        return name, self._value(kind, shape, is_complex=bool(flags & _COMPLEX))

    def _name(self) -> str:
        kind, content = self._content(_INT8, _UTF8)
        return content.decode(_ENCODINGS[kind]).rstrip("\0")

    def _value(self, kind: int, shape: tuple[int, ...], *, is_complex: bool) -> Any:
        if kind == _CELLS:
            return self._cell_array(shape)
        if kind == _TEXT:
            return self._text(shape)
        if is_complex:
            return Unread(shape, np.dtype(complex))
        if kind == _SPARSE:
            return self._sparse(shape)
        if kind in _NUMERIC:
            return self._numbers(math.prod(shape)).reshape(shape, order="F")
        return Unread(shape, np.dtype(object))

    def _cell_array(self, shape: tuple[int, ...]) -> Any:
        n = math.prod(shape)
        self.source.check(8 * n)  # every one has a tag at least
        check_fits(self.path, n * _CELL_BYTES, f"a cell array of shape {shape}")
        if self.depth == _DEPTH:
            raise ValueError(f"cells are in cells, more than {_DEPTH} deep")
        cells = np.empty(n, dtype=object)
        self.depth += 1
        for i in range(n):
            element = self._tag()
            if element.kind != _MATRIX or element.content is not None:
                raise ValueError(f"an element of kind {element.kind} where a cell is expected")
            cells[i] = self.array(element.length)[1]
        self.depth -= 1
        return cells.reshape(shape, order="F")

    def _sparse(self, shape: tuple[int, ...]) -> Any:
        rows, starts = self._numbers(), self._numbers()
        nnz = int(starts[-1])
        values = self._sparse_values(nnz)
        if not 0 <= nnz <= min(len(rows), len(values)):
            raise ValueError(f"{nnz} entries are announced, {len(values)} are there")
        return csc_array((values[:nnz], rows[:nnz], starts), shape=shape)

    def _sparse_values(self, nnz: int) -> Any:
        """MATLAB writes truths as one byte each, and says that they are doubles."""
        element = self._tag()
        if element.length == nnz and np.dtype(_NUMBERS.get(element.kind, "u1")).itemsize > 1:
            return self._bytes(element) != 0
        return self._numbers_of(element)

    def _text(self, shape: tuple[int, ...]) -> Any:
        """One text a row, as an array of texts.

        Text is more often a note than ids, so that what is wrong with it is no reason to refuse
        the numbers beside it.
        """
        unread = Unread(shape, np.dtype(str))
        element = self._tag()
        if element.kind not in _ENCODINGS:
            return unread
        encoding = _ENCODINGS[element.kind]
        if encoding in ("utf-16", "utf-32"):
            encoding += "-le" if self.order == "<" else "-be"
        check_fits(self.path, _LETTER_BYTES * element.length, "text")
        content = bytes(self._bytes(element))
        try:
            letters = content.decode(encoding)
        except UnicodeDecodeError:
            return unread
        if len(letters) != math.prod(shape):  # the shape counts some letters twice, as UTF-16 does
            return unread
        if not letters:
            return np.empty(0, dtype="U1")
        table = np.array(list(letters)).reshape(shape, order="F")
        return np.ascontiguousarray(table).view(f"U{shape[-1]}")[..., 0]

    def _numbers(self, expected: int | None = None) -> Any:
        return self._numbers_of(self._tag(), expected)

    def _numbers_of(self, element: _Element, expected: int | None = None) -> Any:
        if element.kind not in _NUMBERS:
            raise ValueError(f"numbers are of kind {element.kind}")
        dtype = np.dtype(self.order + _NUMBERS[element.kind])
        n, rest = divmod(element.length, dtype.itemsize)
        if rest or expected not in (None, n):
            raise ValueError(f"{element.length} bytes for {expected} numbers of type {dtype}")
        return self._bytes(element).view(dtype).astype(dtype.newbyteorder("="), copy=False)

    def _content(self, *kinds: int) -> tuple[int, bytes]:
        """The kind, one of those given, and the bytes of a small element."""
        element = self._tag()
        if element.kind not in kinds:
            raise ValueError(f"an element of kind {element.kind} and {element.length} bytes")
        content = self.source.read(element.length) if element.content is None else element.content
        self._pad(element)
        return element.kind, content

    def _bytes(self, element: _Element) -> Any:
        """A large element."""
        if element.content is not None:
            return np.frombuffer(element.content, np.uint8)
        self.source.check(element.length)
        check_fits(self.path, element.length, "an array")
        content = np.empty(element.length, np.uint8)
        self.source.fill(content.data)
        self._pad(element)
        return content

    def _pad(self, element: _Element) -> None:
        if element.content is None:
            self.source.skip(-element.length % 8)

    def _tag(self) -> _Element:
        tag = self.source.read(8)
        kind, length = struct.unpack(f"{self.order}II", tag)
        if not kind >> 16:
            return _Element(kind, length, None)
        kind, length = kind & 0xFFFF, kind >> 16
        if length > 4:
            raise ValueError(f"{length} bytes in a short element")
        return _Element(kind, length, tag[4 : 4 + length])
