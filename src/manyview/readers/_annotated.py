"""Annotated matrices of single-cell biology: .h5ad (AnnData) and .h5mu (MuData).

Both are HDF5 with the same layout inside. Only what is asked for is read: a file of a few hundred
megabytes of X often carries gigabytes of layers, graphs and embeddings.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from manyview.readers._source import Options, readable, stored_matrix
from manyview.tables import Table, few

# h5py raises what Python has to offer, and what anndata raises at unknown encodings derives from
# nothing more special and is not public.
_HDF5_ERRORS = (Exception,)


def read_h5ad(path: Path, key: str | None, options: Options) -> list[Table]:
    with _opened(path, "h5ad") as store:
        return [_table(path, "h5ad", store, "/", _place(path, store, key), key or "")]


def read_h5mu(path: Path, key: str | None, options: Options) -> list[Table]:
    with _opened(path, "h5mu") as store:
        with readable(path, "h5mu", *_HDF5_ERRORS):
            found = list(store["mod"])
            order = store["mod"].attrs.get("mod-order", found)
            names = [name for name in map(str, order) if name in found]
        if not names:
            raise ValueError(f"{path} has no modalities; expected at least one")
        if key is not None and key not in names:
            raise ValueError(f"{path} has no modality {key!r}; expected one of {few(names)}")
        chosen = names if key is None else [key]
        return [_table(path, "h5mu", store, f"/mod/{name}", "X", name) for name in chosen]


@contextmanager
def _opened(path: Path, kind: str) -> Iterator[Any]:
    h5py, _ = _libraries(path)
    with readable(path, kind, *_HDF5_ERRORS):
        store = h5py.File(path, "r")
    with store:
        yield store


def _libraries(path: Path) -> tuple[Any, Any]:
    try:
        import h5py
        from anndata.io import read_elem
    except ImportError as error:
        raise ImportError(f"reading {path} needs anndata: pip install 'manyview[bio]'") from error
    return h5py, read_elem


def _place(path: Path, store: Any, key: str | None) -> str:
    """Where in the file the key points: X, a layer or an embedding."""
    if key is None or key == "X":
        return "X"
    with readable(path, "h5ad", *_HDF5_ERRORS):
        groups = {group: list(store[group]) for group in ("layers", "obsm") if group in store}
    places = [f"{group}/{name}" for group, names in groups.items() for name in names]
    hits = [place for place in places if key in (place, place.partition("/")[2])]
    if len(hits) > 1:
        raise ValueError(f"{path}: key {key!r} is ambiguous; expected one of {few(hits)}")
    if not hits:
        raise ValueError(f"{path} has no key {key!r}; expected one of {few(['X', *places], 10)}")
    return hits[0]


def _table(path: Path, kind: str, store: Any, root: str, place: str, name: str) -> Table:
    _, read_elem = _libraries(path)
    label = f"{path}: {name or 'X'}"
    with readable(path, kind, *_HDF5_ERRORS):
        group = store[root]
        value = read_elem(group[place]) if place in group else None
        ids = _index(read_elem, group["obs"])
        features = _index(read_elem, group["var"]) if not place.startswith("obsm") else None
    if value is None:
        raise ValueError(f"{label} has no matrix X; expected one, or a key: {path}:KEY")
    if hasattr(value, "columns"):  # an embedding may be a data frame
        features = tuple(map(str, value.columns))
        value = value.to_numpy()
    if not hasattr(value, "dtype"):
        raise ValueError(f"{label} is a {type(value).__name__}; expected a matrix")
    matrix = stored_matrix(value, label)
    if matrix.shape[0] != len(ids) or (features and matrix.shape[1] != len(features)):
        raise ValueError(
            f"{label} has shape {tuple(matrix.shape)}, but names for {len(ids)} rows and "
            f"{len(features or ())} columns; expected the same numbers"
        )
    return Table(name, matrix, ids, features)


def _index(read_elem: Any, frame: Any) -> tuple[str, ...]:
    """The row names of a stored data frame, without its columns."""
    names = read_elem(frame[frame.attrs["_index"]])
    return tuple(map(str, np.asarray(names)))
