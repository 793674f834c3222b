"""Files and collections of tables as input of a fit on Dask."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scipy.sparse import csr_array

from manyview.distributed._parquet import parquet_table
from manyview.distributed._views import is_distributed
from manyview.inputs import (
    AlignedTables,
    Table,
    ViewColumns,
    align,
    chosen_names,
    column_names,
    name_tables,
    refuse_dict,
)
from manyview.inputs.files import ReadOptions, read_tables


def read_files(specs: Sequence[str], options: ReadOptions) -> AlignedTables:
    """As `inputs.files.read_tables`, with the views of Parquet files as Dask arrays.

    A path may also be a folder of Parquet files: parts of one table, in the order of their names.
    The workers read Parquet files, so all must find them under the same path; other formats are
    read here. Views must have the same samples in the same order.
    """
    return _same_samples(read_tables(specs, options, parquet_table))


@dataclass(frozen=True)
class DistributedTables:
    """Tables by view name, some of them Dask's, and the names of their features."""

    views: dict[str, Any]
    features: dict[str, tuple[str, ...]]


def distributed_tables(data: Any, views: ViewColumns = None) -> DistributedTables | None:
    """Tables by name, paths of Parquet files as Dask arrays; None if all tables are local."""
    if not isinstance(data, Mapping | list | tuple):
        return None
    named = name_tables(data)
    named = {name: named[name] for name in chosen_names(named, views, "views")}
    if not any(map(is_distributed, named.values())):
        return None
    refuse_dict(views)
    features: dict[str, tuple[str, ...]] = {}
    for name, table in named.items():
        names = column_names(table)
        if isinstance(table, str | Path):
            read = parquet_table(Path(table))
            named[name], names = read.matrix, read.features
        features[name] = names or tuple(map(str, range(int(named[name].shape[1]))))
    return DistributedTables(named, features)


def _same_samples(tables: Sequence[Table]) -> AlignedTables:
    """Tables with the same ids in the same order; others are refused, as rows are not moved."""
    # `align` checks the tables; empty matrices of the same shapes are enough for that.
    aligned = align([replace(table, matrix=csr_array(table.matrix.shape)) for table in tables])
    for table in tables:
        if table.ids is not None:
            _check_same_ids(tables[0], table)
    return replace(aligned, views={table.name: table.matrix for table in tables})


def _check_same_ids(first: Table, other: Table) -> None:
    ours, theirs = first.ids or (), other.ids or ()
    if ours == theirs:
        return
    names = f"views {first.name!r} and {other.name!r} have"
    expected = "expected the same ids in the same order in all views, as Dask does not move rows"
    for row, (here, there) in enumerate(zip(ours, theirs, strict=False), start=1):
        if here != there:
            raise ValueError(f"{names} ids {here!r} and {there!r} in row {row}; {expected}")
    raise ValueError(f"{names} {len(ours)} and {len(theirs)} ids; {expected}")
