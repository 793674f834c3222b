"""The process that reads an HDF5 file for another one.

Damage inside such a file can crash the HDF5 library or keep it busy for ever. Here that is the end
of a process that has nothing to lose. What is found goes to standard output piece by piece: lines
of JSON, each followed by an array in .npy format where it announces one.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

_BLOCK = 2**24  # bytes of an array at a time, about
_NAMES = 2**14  # at a time
_CHUNKS = 10**5  # that need not be there
_NULLABLE = ("nullable-integer", "nullable-boolean")
_SPARSE = {"csr_matrix": "csr", "csc_matrix": "csc", "csr": "csr", "csc": "csc"}


class _NotThereError(Exception):
    """What was asked for is not in the file: the message that says so."""

    def __init__(self, **message: Any) -> None:
        super().__init__()
        self.message = message


def main(request: Mapping[str, Any]) -> None:
    """Send the tables that are asked for, or what hinders that."""
    # What libraries print must not get between the messages.
    send = _Sender(os.fdopen(os.dup(1), "wb"), request["patience"])
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _limit_memory(request["memory"])
    try:
        import h5py
    except ImportError:
        send.message(missing_library="h5py")
        return
    try:
        send.step()
        with h5py.File(request["path"], "r") as store:
            _send_tables(h5py, store, request["kind"], request["key"], send)
        send.message(end=True)
    except _NotThereError as error:
        send.message(**error.message)
    except MemoryError:
        send.message(too_large=True)
    except Exception as error:  # h5py raises whatever Python has to offer
        text = str(error) or type(error).__name__
        # So HDF5 says that it got no memory.
        if "H5MM" in text or "memory allocation failed" in text:
            send.message(too_large=True)
        else:
            send.message(damaged=text)


class _Sender:
    """Writes messages, and has the system end this process where one takes too much computing.

    Time is counted while the processor works and not while a slow disk does.
    """

    def __init__(self, out: IO[bytes], patience: float) -> None:
        self._out = out
        self._patience = patience

    def step(self) -> None:
        import signal

        if hasattr(signal, "setitimer"):  # not on Windows
            signal.setitimer(signal.ITIMER_PROF, self._patience)

    def message(self, array: Any = None, **message: Any) -> None:
        self._out.write(json.dumps(message).encode() + b"\n")
        if array is not None:
            # Not npy.write_array, which expects files to be such that they can be rewound.
            npy.write_array_header_1_0(self._out, npy.header_data_from_array_1_0(array))
            self._out.write(array.data)
        self._out.flush()
        self.step()


def _limit_memory(n_bytes: int | None) -> None:
    """An error at so many bytes more than are in use, and no file of what was in memory."""
    try:
        import resource
    except ImportError:  # Windows has none
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with open("/proc/self/statm") as stream:
            used = int(stream.read().split()[0]) * resource.getpagesize()
    except OSError:
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if n_bytes is not None and (hard == resource.RLIM_INFINITY or used + n_bytes < hard):
        resource.setrlimit(resource.RLIMIT_AS, (used + n_bytes, hard))


def _send_tables(h5py: Any, store: Any, kind: str, key: str | None, send: _Sender) -> None:
    if kind == "h5ad":
        _send_table(h5py, store, _place(h5py, store, key), key or "", send)
        return
    modalities = _member(h5py, store, "mod")
    found = list(modalities)
    order = modalities.attrs.get("mod-order", found)
    names = [name for name in map(str, order) if name in found]
    if not names or (key is not None and key not in names):
        raise _NotThereError(no_modality=key, known=names)
    for name in names if key is None else [key]:
        _send_table(h5py, _member(h5py, modalities, name), "X", name, send)


def _place(h5py: Any, store: Any, key: str | None) -> str:
    """Where in the file the key points: X, a layer or an embedding."""
    if key is None or key == "X":
        return "X"
    groups = {name: _member(h5py, store, name) for name in ("layers", "obsm") if name in store}
    places = [f"{group}/{name}" for group, members in groups.items() for name in members]
    hits = [place for place in places if key in (place, place.partition("/")[2])]
    if len(hits) != 1:
        raise _NotThereError(no_key=key, hits=hits, known=["X", *places])
    return hits[0]


def _send_table(h5py: Any, group: Any, place: str, name: str, send: _Sender) -> None:
    folder, _, last = place.rpartition("/")
    holder = _member(h5py, group, folder) if folder else group
    if last not in holder:
        raise _NotThereError(no_matrix=name)
    value = _member(h5py, holder, last)
    has_features = folder != "obsm"
    form, parts, columns = _parts(h5py, value, name)
    shape = [int(n) for n in _shape(h5py, value, parts)]
    send.message(table=name, form=form, shape=shape, named_columns=has_features or bool(columns))
    for part, dataset in parts.items():
        _send_array(h5py, dataset, part, send)
    _send_names(h5py, _index(h5py, _member(h5py, group, "obs")), "rows", send)
    if columns:
        send.message(names="columns", texts=columns)
    elif has_features:
        _send_names(h5py, _index(h5py, _member(h5py, group, "var")), "columns", send)


def _parts(h5py: Any, value: Any, name: str) -> tuple[str, dict[str, Any], list[str]]:
    """How a matrix is stored, the datasets it consists of, and the names of a frame's columns."""
    if isinstance(value, h5py.Dataset):
        return "dense", {"matrix": value}, []
    encoding = str(value.attrs.get("encoding-type", value.attrs.get("h5sparse_format", "")))
    if encoding in _SPARSE:
        members = ("data", "indices", "indptr")
        return _SPARSE[encoding], {part: _member(h5py, value, part) for part in members}, []
    if encoding != "dataframe":
        raise _NotThereError(no_matrix=name, instead=encoding or "group")
    columns = [str(column) for column in value.attrs["column-order"]]
    datasets = {f"column {j}": _member(h5py, value, one) for j, one in enumerate(columns)}
    for dataset in datasets.values():
        encoding = str(dataset.attrs.get("encoding-type", "group"))
        if not isinstance(dataset, h5py.Dataset) and encoding not in _NULLABLE:
            raise _NotThereError(no_matrix=name, instead=f"frame with a column of {encoding}")
    return "frame", datasets, columns


def _shape(h5py: Any, value: Any, parts: Mapping[str, Any]) -> Sequence[int]:
    if "matrix" in parts:
        return tuple(value.shape)
    if "indptr" in parts:
        shape = value.attrs["shape"] if "shape" in value.attrs else value.attrs["h5sparse_shape"]
        return tuple(np.asarray(shape).ravel())
    columns = list(parts.values())
    return (len(_values_and_mask(h5py, columns[0])[0]) if columns else 0, len(columns))


def _member(h5py: Any, group: Any, name: str) -> Any:
    """A member that is in the file itself: numbers of other files are nobody's business."""
    if isinstance(group.get(name, getlink=True), h5py.ExternalLink | h5py.SoftLink):
        raise _NotThereError(elsewhere=name)
    member = group[name]
    if isinstance(member, h5py.Dataset) and (member.external or member.is_virtual):
        raise _NotThereError(elsewhere=name)
    return member


def _index(h5py: Any, frame: Any) -> Any:
    """The row names of a stored data frame."""
    return _member(h5py, frame, str(frame.attrs["_index"]))


def _values_and_mask(h5py: Any, stored: Any) -> tuple[Any, Any]:
    """An array, and where its values are missing if it is one that says so."""
    if isinstance(stored, h5py.Dataset):
        return stored, None
    return _member(h5py, stored, "values"), _member(h5py, stored, "mask")


def _send_array(h5py: Any, stored: Any, part: str, send: _Sender) -> None:
    dataset, mask = _values_and_mask(h5py, stored)
    if not isinstance(dataset, h5py.Dataset):
        raise ValueError(f"{part} is a group and no array")
    shape, dtype = [int(n) for n in dataset.shape or ()], dataset.dtype
    if mask is not None:
        if getattr(mask, "shape", None) != dataset.shape or mask.dtype.kind != "b":
            raise ValueError(f"{part} has no mask of its shape")
        _check_chunks(mask)
    send.message(part=part, shape=shape, type=str(dtype), bytes=math.prod(shape) * dtype.itemsize)
    if dtype.kind not in "buif":
        return  # the message is enough to refuse it
    _check_chunks(dataset)
    for corner in _corners(shape, dataset.chunks, dtype.itemsize):
        place = tuple(slice(start, end) for start, end in corner)
        block = dataset[place] if mask is None else np.where(mask[place], np.nan, dataset[place])
        send.message(np.ascontiguousarray(block), at=[start for start, _ in corner])


def _send_names(h5py: Any, stored: Any, role: str, send: _Sender) -> None:
    if not isinstance(stored, h5py.Dataset) and "codes" in stored:
        _send_categories(h5py, stored, role, send)
        return
    n, blocks = _texts(h5py, stored, role)
    send.message(n_names=n, role=role)
    for texts in blocks:
        send.message(names=role, texts=texts)


def _send_categories(h5py: Any, stored: Any, role: str, send: _Sender) -> None:
    """Names of a categorical index: every name once, and which of them a row has."""
    dataset = _member(h5py, stored, "codes")
    _check_list(h5py, dataset, role)
    if dataset.dtype.kind not in "iu":
        raise ValueError(f"names of {role} have codes of type {dataset.dtype}")
    n, blocks = _texts(h5py, _member(h5py, stored, "categories"), role)
    send.message(n_names=n + len(dataset), role=role)
    categories = [text for texts in blocks for text in texts]
    codes = dataset[:]
    if codes.size and (codes.min() < 0 or codes.max() >= n):
        raise ValueError(f"names of {role} have codes that stand for no name")
    # A long name that is stored once may be that of a million rows.
    lengths = np.array([len(text) for text in categories], dtype=np.int64)
    send.message(n_names=len(codes), role=role, letters=int(lengths[codes].sum()))
    for start in range(0, len(codes), _NAMES):
        texts = [categories[code] for code in codes[start : start + _NAMES]]
        send.message(names=role, texts=texts)


def _texts(h5py: Any, stored: Any, role: str) -> tuple[int, Iterator[list[str]]]:
    """How many texts, and blocks of them."""
    dataset = stored if isinstance(stored, h5py.Dataset) else _member(h5py, stored, "values")
    _check_list(h5py, dataset, role)
    texts = dataset.asstr() if h5py.check_string_dtype(dataset.dtype) else dataset
    starts = range(0, len(dataset), _NAMES)
    return len(dataset), ([str(text) for text in texts[i : i + _NAMES]] for i in starts)


def _check_list(h5py: Any, dataset: Any, role: str) -> None:
    if not isinstance(dataset, h5py.Dataset) or dataset.ndim != 1:
        raise ValueError(f"names of {role} are no list")
    _check_chunks(dataset)


def _check_chunks(dataset: Any) -> None:
    """To find that a chunk is not stored takes as long as reading it, and nothing to declare it."""
    sizes = zip(dataset.shape, dataset.chunks or (), strict=False)
    declared = math.prod(-(-n // chunk) for n, chunk in sizes)
    if declared > _CHUNKS and declared > _CHUNKS + 10 * dataset.id.get_num_chunks():
        raise ValueError(f"{declared:,} chunks are declared, most of which are not there")


def _corners(
    shape: Sequence[int], chunks: Sequence[int] | None, itemsize: int
) -> Iterator[tuple[tuple[int, int], ...]]:
    """Blocks of a few megabytes, of whole chunks: what is cut in two is unfolded twice."""
    steps = list(chunks or [1] * len(shape))
    for axis in reversed(range(len(shape))):  # numbers of one row lie beside each other
        others = math.prod(steps[:axis]) * math.prod(steps[axis + 1 :]) * itemsize
        wanted = max(1, _BLOCK // max(1, others * steps[axis])) * steps[axis]
        steps[axis] = min(wanted, max(1, shape[axis]))
    starts = [range(0, n, step) for n, step in zip(shape, steps, strict=True)]
    for corner in product(*starts):
        yield tuple(
            (start, min(start + step, n))
            for start, step, n in zip(corner, steps, shape, strict=True)
        )
