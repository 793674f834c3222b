"""What an argument of the user means, which function reads it, and what its views are called."""

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from manyview.inputs import Table, first_few, without_columns
from manyview.inputs.files._folders import folder_kind
from manyview.inputs.files._limits import ReadOptions, check_readable
from manyview.inputs.files._text_source import STDIN, TEXT

Reader: TypeAlias = Callable[[Path, str | None, ReadOptions], list[Table]]

# Module and function for each extension. Modules are imported when needed: reading an NPY file
# should not import pyarrow.
_READERS = {
    ".csv": ("_csv", "read_text"),
    ".tsv": ("_csv", "read_text"),
    ".tab": ("_csv", "read_text"),
    ".txt": ("_csv", "read_text"),
    ".parquet": ("_parquet_parts", "read_parquet"),
    ".pq": ("_parquet_parts", "read_parquet"),
    ".npy": ("_arrays", "read_npy"),
    ".npz": ("_arrays", "read_npz"),
    ".mat": ("_sandbox", "read_mat"),
    ".mtx": ("_sandbox", "read_mtx"),
    ".h5ad": ("_sandbox", "read_annotated"),
    ".h5mu": ("_sandbox", "read_annotated"),
    ".zarr": ("_sandbox", "read_annotated"),
    ".h5": ("_tenx", "read_cell_ranger"),
    ".feather": ("_sandbox", "read_arrow"),
    ".arrow": ("_sandbox", "read_arrow"),
    ".xlsx": ("_sheets", "read_xlsx"),
    ".xlsm": ("_sheets", "read_xlsx"),
    ".zip": ("_csv", "read_text"),
}
_FOLDERS = {
    ".parquet": ("_parquet_parts", "read_parquet"),
    "10x": ("_tenx", "read_tenx_folder"),
    ".zarr": ("_sandbox", "read_annotated"),
}
_COMPRESSED = {".gz": (*TEXT, ".mtx"), ".bz2": TEXT, ".zst": TEXT, ".zip": TEXT}
_KEYED = (".npz", ".mat", ".h5ad", ".h5mu", ".zarr", ".h5", "10x", ".xlsx", ".xlsm")
TEXT_TABLES = (*TEXT, ".zip")
SHEETS = (".xlsx", ".xlsm")
COLUMNAR = (".parquet", ".pq", ".feather", ".arrow")
# Options that would do nothing unless there is a file of one of these.
_FILES_OF_OPTIONS = {
    "transpose": (*TEXT_TABLES, *SHEETS, *COLUMNAR, ".npy", ".npz", ".mat", ".mtx"),
    "na_values": (*TEXT_TABLES, *SHEETS), "decimal": TEXT_TABLES, "encoding": TEXT_TABLES,
    "comment": TEXT_TABLES,
}  # fmt: skip

_URL = re.compile(r"(?:[^=]*=)?([A-Za-z][A-Za-z0-9+.-]+://)")

EXTENSIONS = (*_READERS, *(f"{inner}{end}" for end in _COMPRESSED for inner in _COMPRESSED[end]))


@dataclass(frozen=True)
class Spec:
    """One argument of the user: [NAME=]PATH[:KEY][@COLUMN]."""

    name: str | None
    path: Path
    key: str | None
    id_column: str | None = None

    def options(self, given: ReadOptions) -> ReadOptions:
        """The options for this file."""
        return given if self.id_column is None else replace(given, id_column=self.id_column)


@dataclass(frozen=True)
class NamedTable:
    """A table and the names it may get, short ones first."""

    table: Table
    names: tuple[str, ...]
    path: Path


def read_spec(spec: Spec, extension: str, options: ReadOptions) -> list[NamedTable]:
    if spec.key is not None and extension not in _KEYED:
        raise ValueError(
            f"{spec.path} holds one table, but key {spec.key!r} was asked for; expected no ':KEY'"
        )
    if spec.path == STDIN:
        module, function = _READERS[".csv"]
    elif spec.path.is_dir():
        module, function = _FOLDERS[extension]
    else:
        check_readable(spec.path)
        module, function = _READERS[extension]
    reader: Reader = getattr(import_module(f"manyview.inputs.files.{module}"), function)
    options = spec.options(options)
    found = reader(spec.path, spec.key, options)
    tables = [_named_ids(without_columns(table, options.drop), options) for table in found]
    single = len(tables) == 1
    names = [possible_names(spec, table.name, single) for table in tables]
    return [NamedTable(*one, spec.path) for one in zip(tables, names, strict=True)]


def _named_ids(table: Table, options: ReadOptions) -> Table:
    has_ids = table.ids is not None and options.id_column is not None
    return replace(table, id_name=options.id_column) if has_ids else table


def check_options(options: ReadOptions, extensions: Sequence[str]) -> None:
    """Refuse options that none of the files has a use for."""
    unset = ReadOptions()
    for name, able in _FILES_OF_OPTIONS.items():
        if getattr(options, name) != getattr(unset, name) and not set(extensions) & set(able):
            raise ValueError(f"{name} was asked for; expected a file of {', '.join(able)}")


def parse_spec(spec: str) -> Spec:
    """The first way to read the argument under which there is such a file or folder."""
    if not spec:
        raise ValueError("got an empty path; expected PATH, NAME=PATH or PATH:KEY")
    ways = _interpretations(spec)
    for way in ways:
        if way.path == STDIN or way.path.is_file() or way.path.is_dir():
            if way.name == "":
                raise ValueError(f"{spec!r} has an empty view name; expected NAME=PATH")
            return way
    if url := _URL.match(spec):
        raise ValueError(f"{spec[url.start(1) :]} is a URL; expected a file: download it first")
    for way in ways:
        if way.path.exists():
            raise ValueError(f"{way.path} is no regular file; expected a file")
    likely = next((way for way in reversed(ways) if _is_known(way.path)), ways[-1])
    raise FileNotFoundError(f"{likely.path}: no such file")


def _interpretations(spec: str) -> list[Spec]:
    """What the argument may mean, a path as a whole first: file names may contain =, : and @."""
    body, _, column = spec.rpartition("@")
    with_ids = _named(body) if body and column else []
    ways = [*_named(spec), *(replace(way, id_column=column) for way in with_ids)]
    return sorted(ways, key=lambda way: "@" in (way.key or ""))  # PATH:KEY@COLUMN before a key


def _named(text: str) -> list[Spec]:
    name, equals, rest = text.partition("=")
    return [*_keyed(None, text), *(_keyed(name.strip(), rest) if equals and rest else [])]


def _keyed(name: str | None, rest: str) -> list[Spec]:
    path, colon, key = rest.rpartition(":")
    ways = [Spec(name, Path(path), key)] if colon and path and key else []
    return [Spec(name, Path(rest), None), *ways]


def _split_name(path: Path) -> tuple[str, str]:
    """A file's name without and with its extension; '.csv.gz' counts as '.csv'."""
    if path == STDIN:
        return "stdin", ".csv"
    if path.is_dir():  # its name may have dots, and "." has none
        name = path.resolve().name
        return name.removesuffix(".zarr").removesuffix(".parquet"), ""
    stem, extension = os.path.splitext(path.name)
    extension = extension.lower()
    if extension in _COMPRESSED:
        inner, own = os.path.splitext(stem)
        if own.lower() in _COMPRESSED[extension]:
            return inner, own.lower()
    return stem, extension


def _is_known(path: Path) -> bool:
    return _split_name(path)[1] in _READERS


def extension_of(path: Path) -> str:
    """What decides on the reader: a file's extension, or the kind of a folder."""
    if path == STDIN:
        return ".csv"
    if path.is_dir():
        return folder_kind(path)
    extension = _split_name(path)[1]
    if extension not in _READERS:
        known = ", ".join(EXTENSIONS)
        raise ValueError(f"{path} ends in {extension or 'nothing'!r}; expected one of {known}")
    return extension


def possible_names(spec: Spec, key: str, single: bool) -> tuple[str, ...]:
    """Names that a table may get, short ones first; if the user chose one, only that."""
    stem = _split_name(spec.path)[0]
    folder = spec.path.resolve().parent.name
    if spec.name is not None:
        return (spec.name,) if single else (f"{spec.name}.{key}",)
    if spec.key is None and single:
        return (stem, f"{folder}.{stem}")
    return (key, f"{stem}.{key}", f"{folder}.{stem}.{key}")


def with_distinct_names(named: Sequence[NamedTable]) -> list[Table]:
    """Give every table the shortest of its names that no other table has."""
    longest = max(len(item.names) for item in named)
    levels = [0] * len(named)
    for _ in range(longest):
        names = [item.names[level] for item, level in zip(named, levels, strict=True)]
        counts = Counter(names)
        if len(counts) == len(names):
            return [replace(item.table, name=name) for item, name in zip(named, names, strict=True)]
        for i, item in enumerate(named):
            if counts[names[i]] > 1:
                levels[i] = min(levels[i] + 1, len(item.names) - 1)
    clash = next(name for name in names if counts[name] > 1)
    paths = [str(item.path) for item, name in zip(named, names, strict=True) if name == clash]
    raise ValueError(
        f"{first_few(paths)} would all be view {clash!r}; "
        "expected distinct names, given as NAME=PATH"
    )
