"""Users' files and collections as views on a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scipy.sparse import csr_array

from manyview.distributed._parquet import EXTENSIONS, parquet_table
from manyview.distributed._views import is_distributed
from manyview.inputs import AlignedTables, Table, align, chosen_names, column_names, name_tables
from manyview.inputs.files import (
    TURNABLE,
    NamedTable,
    Options,
    Spec,
    extension_of,
    names_of,
    parse,
    read_spec,
    ways_of,
    with_names,
)


def read_files(
    specs: Sequence[str],
    *,
    id_column: str | None = None,
    drop_non_numeric: bool = False,
    transpose: bool = False,
) -> AlignedTables:
    """Views of the same samples in the same order; those of Parquet files as Dask arrays.

    As `inputs.files.read_views`, where a path may also be a folder of Parquet files, which are then
    the parts of one table in the order of their names. Workers read these files themselves,
    so each must find them under the same path. Files of other formats are read here.
    """
    options = Options(id_column, drop_non_numeric, transpose)
    parsed = [_parse(spec) for spec in specs]
    here = [extension_of(spec.path) for spec in parsed if not _is_parquet(spec)]
    if transpose and not set(here) & set(TURNABLE):
        turnable = ", ".join(TURNABLE)
        raise ValueError(f"transpose was asked for; expected a file of {turnable}")
    named = []
    for spec in parsed:
        if _is_parquet(spec):
            names = names_of(spec, "", single=True)
            named.append(NamedTable(parquet_table(spec.path, options), names, spec.path))
        else:
            named += read_spec(spec, extension_of(spec.path), options)
    return _same_samples(with_names(named))


@dataclass(frozen=True)
class Collections:
    """Views that are not all here, with the names of their features."""

    views: dict[str, Any]
    features: dict[str, tuple[str, ...]]


def distributed_tables(data: Any, views: Sequence[str] | None = None) -> Collections | None:
    """A dict or list of tables by name, paths of Parquet as Dask arrays; None if all are here."""
    if not isinstance(data, Mapping | list | tuple):
        return None
    named = name_tables(data)
    named = {name: named[name] for name in chosen_names(named, views, "views")}
    if not any(map(is_distributed, named.values())):
        return None
    features: dict[str, tuple[str, ...]] = {}
    for name, table in named.items():
        names = column_names(table)
        if isinstance(table, str | Path):
            read = parquet_table(Path(table))
            named[name], names = read.matrix, read.features
        features[name] = names or tuple(map(str, range(int(named[name].shape[1]))))
    return Collections(named, features)


def _parse(spec: str) -> Spec:
    """As for files, and folders as well."""
    for way in ways_of(spec):
        if way.path.is_file():
            break
        if spec and way.key is None and way.name != "" and way.path.is_dir():
            return way
    return parse(spec)


def _is_parquet(spec: Spec) -> bool:
    known = spec.path.is_dir() or spec.path.suffix.lower() in EXTENSIONS
    return known and spec.key is None


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
    names = f"{first.name!r} and {other.name!r}"
    raise ValueError(f"views {names} have {len(ours)} and {len(theirs)} ids; {expected}")
