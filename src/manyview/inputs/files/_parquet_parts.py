"""A table in one Parquet file, or in several: parts in a folder, in the order of their names."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from manyview.inputs import DroppedColumn, Table
from manyview.inputs.files._columns import Columns, check_distinct, refuse_no_rows
from manyview.inputs.files._limits import ReadOptions
from manyview.inputs.files._parquet import open_parquet, room_for

_EXTENSIONS = (".parquet", ".pq")


@dataclass(frozen=True)
class ParquetParts:
    """What is known of a table in parts before its numbers are read."""

    columns: Columns
    ids: tuple[str, ...] | None
    group_lengths: dict[Path, list[int]]  # rows of each row group


def read_parquet(
    path: Path, key: str | None, options: ReadOptions, stored: Any = None
) -> list[Table]:
    """The table of a file, of a folder, or of bytes `stored` that were made from a file."""
    if options.transpose:
        return [_transposed(path, options, stored)]
    parts = parquet_parts(path, options, stored)
    n_rows = [sum(lengths) for lengths in parts.group_lengths.values()]
    columns = parts.columns
    matrix, start = room_for(path, sum(n_rows), len(columns.features)), 0
    words: dict[str, list[str | None]] = {
        name: [] for name in columns.categorical_names + columns.text_names
    }
    for part, n in zip(parts.group_lengths, n_rows, strict=True):
        with open_parquet(part, stored) as file:
            file.numbers(columns.feature_names, into=matrix[start : start + n])
            for name, cells in words.items():
                cells += file.categories(name, options)
        start += n
    return [columns.table(matrix, parts.ids, words)]


def _transposed(path: Path, options: ReadOptions, stored: Any) -> Table:
    """Parts that have some features each, as rows, and the same samples, as columns."""
    paths, tables = _part_paths(path), []
    for part in paths:
        with open_parquet(part, stored) as file:
            tables.append(file.transposed_table(options))
        if tables[-1].ids != tables[0].ids:
            raise ValueError(
                f"{part} and {paths[0]} differ in their columns, the ids; expected the same in all "
                "parts"
            )
    features = tuple(name for table in tables for name in table.feature_names)
    check_distinct(path, features)
    if not features:
        refuse_no_rows(path)
    matrices = [table.matrix for table in tables]
    matrix = matrices[0] if len(matrices) == 1 else np.hstack(matrices)
    return Table("", matrix, tables[0].ids, features)


def parquet_parts(path: Path, options: ReadOptions, stored: Any = None) -> ParquetParts:
    """The parts of a folder, or of one file or a pattern of names, which must have one schema."""
    columns: Columns | None = None
    dropped: dict[str, DroppedColumn] = {}
    ids: list[str] = []
    lengths = {}
    paths = _part_paths(path)
    for part in paths:
        with open_parquet(part, stored) as file:
            found = file.columns(options)
            columns = columns or found
            dropped |= {one.name: one for one in found.dropped}
            if odd := sorted(_used(found) ^ _used(columns)):
                raise ValueError(
                    f"{part} and {paths[0]} differ in column {odd[0]!r}; expected the same "
                    "columns in all parts"
                )
            if options.id_column is not None:
                ids += file.ids(options.id_column)
            lengths[part] = file.group_lengths
    if columns is None or not any(map(sum, lengths.values())):
        refuse_no_rows(path)
    samples = None if options.id_column is None else tuple(ids)
    columns = replace(columns, dropped=tuple(dropped.values()))
    return ParquetParts(columns, samples, lengths)


def _used(columns: Columns) -> set[str]:
    return {*columns.feature_names, *columns.categorical_names}


def _part_paths(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.exists():
        files = list(path.parent.glob(path.name))
        if not files:
            raise FileNotFoundError(f"{path}: no such file; expected a Parquet file or a folder")
        return _sorted(files)
    inside = [own for own in path.iterdir() if not own.name.startswith((".", "_"))]
    folders = sorted(own.name for own in inside if own.is_dir())
    if folders:
        raise ValueError(f"{path} has a folder {folders[0]!r}; expected Parquet files only")
    files = [own for own in inside if own.suffix.lower() in _EXTENSIONS]
    if not files:
        raise ValueError(f"{path} has no Parquet files; expected the parts of a table")
    return _sorted(files)


def _sorted(files: list[Path]) -> list[Path]:
    return sorted(files, key=lambda path: _natural(path.name))


def _natural(name: str) -> list[tuple[int, str]]:
    """As people count: part.2 before part.10."""
    words = re.split(r"([0-9]+)", name)  # text and numbers in turn
    return [(int(word) if i % 2 else 0, word) for i, word in enumerate(words)]
