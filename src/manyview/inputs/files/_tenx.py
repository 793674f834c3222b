"""What Cell Ranger writes: folders and .h5 files, of which every type of feature is a view."""

import gzip
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from manyview._typing import Matrix
from manyview.inputs import Table, first_few
from manyview.inputs.files._limits import (
    NAME_BYTES,
    ReadOptions,
    check_fits,
    readable,
    stored_matrix,
)
from manyview.inputs.files._sandbox import read_in_child, read_mtx

_BLOCK = 2**20  # bytes at a time
_GENES = "Gene Expression"  # what files of before 2018 hold, which name no type


@dataclass(frozen=True)
class _Features:
    ids: Sequence[str]
    names: Sequence[str]
    types: Sequence[str]

    def unique_names(self) -> list[str]:
        """Symbols of genes, with the id behind those that several genes share."""
        shared = {name for name, n in Counter(self.names).items() if n > 1}
        pairs = zip(self.names, self.ids, strict=True)
        return [f"{name} ({own})" if name in shared else name for name, own in pairs]


def read_tenx_folder(path: Path, key: str | None, options: ReadOptions) -> list[Table]:
    barcodes = [row[0] for row in _rows(_member(path, "barcodes.tsv"))]
    rows = _rows(_member(path, "features.tsv", "genes.tsv"))
    features = _Features(
        [row[0] for row in rows],
        [row[1] if len(row) > 1 else row[0] for row in rows],
        [row[2] if len(row) > 2 else _GENES for row in rows],
    )
    (table,) = read_mtx(_member(path, "matrix.mtx"), None, ReadOptions(transpose=True))
    return _views(path, table.matrix, barcodes, features, key)


def read_cell_ranger(path: Path, key: str | None, options: ReadOptions) -> list[Table]:
    (item,) = read_in_child(path, "Cell Ranger", key)
    features = _Features(*(item.names(part) for part in ("ids", "columns", "types")))
    matrix = stored_matrix(item.matrix(), str(path))
    return _views(path, matrix, item.names("rows"), features, key)


def _views(
    path: Path, matrix: Matrix, barcodes: Sequence[str], features: _Features, key: str | None
) -> list[Table]:
    lengths = {len(part) for part in (features.ids, features.names, features.types)}
    if (len(barcodes), {matrix.shape[1]}) != (matrix.shape[0], lengths):
        raise ValueError(
            f"{path} has a matrix of {matrix.shape[1]:,} features and {matrix.shape[0]:,} "
            f"barcodes, but names for {max(lengths):,} and {len(barcodes):,}; "
            "expected the same numbers"
        )
    known = list(dict.fromkeys(features.types))
    if key is not None and key not in known:
        raise ValueError(f"{path} has no features {key!r}; expected one of {first_few(known)}")
    names, types = np.array(features.unique_names(), dtype=object), np.array(features.types)
    columns = {kind: np.flatnonzero(types == kind) for kind in (known if key is None else [key])}
    return [
        Table(
            kind, matrix[:, own] if len(known) > 1 else matrix, tuple(barcodes), tuple(names[own])
        )
        for kind, own in columns.items()
    ]


def _member(folder: Path, *names: str) -> Path:
    """The file of one of these names, compressed or not."""
    own = {path.name.lower(): path for path in folder.iterdir() if path.is_file()}
    for name in names:
        for file in (name, f"{name}.gz"):
            if file in own:
                return own[file]
    raise ValueError(f"{folder} has no {' or '.join(names)}; expected it beside matrix.mtx")


def _rows(path: Path) -> list[list[str]]:
    """The fields of each line, as long as they fit into memory."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    content, n = bytearray(), 0
    with readable(path, "TSV", zlib.error, EOFError, gzip.BadGzipFile, UnicodeDecodeError):
        with opened(path, "rb") as stream:
            while block := stream.read(_BLOCK):
                content += block
                n += block.count(b"\n") + block.count(b"\t")
                check_fits(path, 4 * len(content) + 2 * NAME_BYTES * n, f"{n:,} names")
        lines = content.decode().split("\n")
    return [line.rstrip("\r").split("\t") for line in lines if line.strip()]
