"""Users' files as views on a cluster: of Parquet only names, sizes and ids are read here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from dask.utils import natural_sort_key
from scipy.sparse import csr_array

from manyview import readers
from manyview._typing import FloatArray
from manyview.readers import _parquet as parquet
from manyview.readers._columns import (
    arrow,
    check_distinct,
    check_some,
    log_dropped,
    position,
    refuse_empty,
    side_by_side,
)
from manyview.readers._source import Options
from manyview.tables import AlignedTables, Table, align

_EXTENSIONS = (".parquet", ".pq")
# Bytes of numbers that a task reads at least, if there are so many: smaller row groups go together.
_PIECE = 2**25
# Bytes of numbers at a time while it does.
_BLOCK = 2**22


def read_files(
    specs: Sequence[str],
    *,
    id_column: str | None = None,
    drop_non_numeric: bool = False,
    transpose: bool = False,
) -> AlignedTables:
    """Views of the same samples in the same order; those of Parquet files as Dask arrays.

    As `manyview.readers.read_views`, where a path may also be a folder of Parquet files, which are
    then the parts of one table in the order of their names. Workers read these files themselves,
    so each must find them under the same path. Files of other formats are read here.
    """
    options = Options(id_column, drop_non_numeric, transpose)
    parsed = [_parse(spec) for spec in specs]
    others = [spec for spec in parsed if not _is_parquet(spec.path)]
    if transpose and not others:
        raise ValueError("transpose was asked for, but Parquet files have samples in rows")
    named = []
    for spec in parsed:
        if _is_parquet(spec.path):
            names = readers._names(spec, "", single=True)
            named.append(readers._Named(parquet_table(spec.path, options), names, spec.path))
        else:
            named += readers._read(spec, readers._extension(spec.path), options)
    return _same_samples(readers._with_names(named))


def parquet_table(path: Path, options: Options | None = None) -> Table:
    """A Parquet file, or a folder of its parts, as a Dask array; columns chosen as on one
    machine."""
    parts = [_part(own, options or Options()) for own in _part_paths(path)]
    columns = parts[0].columns
    for part in parts[1:]:
        if set(part.columns) != set(columns):
            odd = sorted(set(part.columns) ^ set(columns))
            raise ValueError(
                f"{part.path} and {parts[0].path} differ in column {odd[0]!r}; expected the same "
                "columns in all parts"
            )
    pieces = [
        _piece(part.path, groups, columns, rows) for part in parts for groups, rows in part.pieces()
    ]
    if not pieces:
        refuse_empty(path)
    ids = None
    if options is not None and options.id_column is not None:
        ids = tuple(sample for part in parts for sample in part.ids)
    return Table("", da.concatenate(pieces), ids, tuple(columns))


def read_rows(path: Path, groups: Sequence[int], columns: Sequence[str]) -> FloatArray:
    """Some row groups of a Parquet file; this is what workers do."""
    pa = arrow(path)
    if not path.exists():
        raise ValueError(f"{path}: a worker finds no such file; expected it there on all workers")
    with parquet._parquet_errors(pa, path), _opened(pa, path) as file:
        n_rows = sum(file.metadata.row_group(group).num_rows for group in groups)
        matrix, start = np.empty((n_rows, len(columns))), 0
        size = max(1, _BLOCK // (8 * len(columns)))
        for batch in file.iter_batches(
            size, row_groups=list(groups), columns=list(columns), use_threads=False
        ):
            block = side_by_side(pa, [parquet._floats(pa, batch.column(name)) for name in columns])
            matrix[start : start + len(block)] = block
            start += len(block)
    return matrix


def _opened(pa: Any, path: Path) -> Any:
    return pa.parquet.ParquetFile(str(path), pre_buffer=False, buffer_size=2**16)


@dataclass(frozen=True)
class _Part:
    """One Parquet file: the columns that are features, ids, and the length of each row group."""

    path: Path
    columns: list[str]
    ids: tuple[str, ...]
    lengths: list[int]

    def pieces(self) -> Iterator[tuple[list[int], int]]:
        """Row groups that one task reads, and how many rows they have."""
        groups: list[int] = []
        rows = 0
        for group, length in enumerate(self.lengths):
            groups.append(group)
            rows += length
            if 8 * rows * len(self.columns) >= _PIECE:
                yield groups, rows
                groups, rows = [], 0
        if rows:
            yield groups, rows


def _part(path: Path, options: Options) -> _Part:
    pa = arrow(path)
    readers._check_readable(path)
    with parquet._parquet_errors(pa, path), _opened(pa, path) as file:
        schema = file.schema_arrow
        names = list(schema.names)
        check_distinct(path, names)
        id_at = position(path, names, options.id_column)
        odd = parquet._odd_columns(pa, schema, id_at)
        if odd and not options.drop_non_numeric:
            parquet._refuse_types(path, schema, odd)
        log_dropped(path, [names[j] for j in odd])
        kept = [j for j in range(len(names)) if j not in {*odd, id_at}]
        check_some(path, kept)
        about = file.metadata
        lengths = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
        ids: tuple[str, ...] = ()
        if options.id_column is not None:
            ids = parquet._read_ids(path, file, options.id_column)
        return _Part(path, [names[j] for j in kept], ids, lengths)


def _part_paths(path: Path) -> list[Path]:
    path = path.resolve()  # workers run in folders of their own
    if not path.is_dir():
        return [path]
    inside = [own for own in path.iterdir() if not own.name.startswith((".", "_"))]
    folders = sorted(own.name for own in inside if own.is_dir())
    if folders:
        raise ValueError(f"{path} has a folder {folders[0]!r}; expected Parquet files only")
    files = [own for own in inside if own.suffix.lower() in _EXTENSIONS]
    if not files:
        raise ValueError(f"{path} has no Parquet files; expected the parts of a table")
    return sorted(files, key=lambda own: natural_sort_key(own.name))


def _piece(path: Path, groups: list[int], columns: list[str], rows: int) -> Any:
    # A name of its own each time: the file may have changed since a cluster read it last.
    key = f"manyview-parquet-{uuid4().hex}"
    read = dask.delayed(read_rows, pure=False)(path, groups, columns, dask_key_name=key)
    return da.from_delayed(read, (rows, len(columns)), dtype=np.float64)


def _parse(spec: str) -> Any:
    """As for files, and folders as well."""
    for way in readers._ways(spec):
        if way.path.is_file():
            break
        if spec and way.key is None and way.name != "" and way.path.is_dir():
            return way
    return readers._parse(spec)


def _is_parquet(path: Path) -> bool:
    return path.is_dir() or path.suffix.lower() in _EXTENSIONS


def _same_samples(tables: Sequence[Table]) -> AlignedTables:
    """Tables over the same samples; those whose rows would have to be moved are refused."""
    # What is checked before rows are joined needs no more than their shapes.
    hollow = [replace(table, matrix=csr_array(table.matrix.shape)) for table in tables]
    aligned = align(hollow)
    for table in tables:
        if table.ids is not None:
            _check_same_ids(tables[0], table)
    return replace(aligned, views={table.name: table.matrix for table in tables})


def _check_same_ids(first: Table, other: Table) -> None:
    ours, theirs = first.ids or (), other.ids or ()
    if ours == theirs:
        return
    expected = "expected the same ids in the same order in all views, as rows stay on the cluster"
    for row, (here, there) in enumerate(zip(ours, theirs, strict=False), start=1):
        if here != there:
            raise ValueError(
                f"views {first.name!r} and {other.name!r} have ids {here!r} and {there!r} in row "
                f"{row}; {expected}"
            )
    raise ValueError(
        f"views {first.name!r} and {other.name!r} have {len(ours)} and {len(theirs)} ids; {expected}"
    )
