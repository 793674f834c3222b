"""Users' files -> tables, whatever the format."""

from collections.abc import Callable, Sequence
from pathlib import Path

from manyview.inputs import Table
from manyview.inputs.files._limits import ReadOptions
from manyview.inputs.files._spec import (
    TRANSPOSABLE,
    NamedTable,
    extension_of,
    parse_spec,
    possible_names,
    read_spec,
    with_distinct_names,
)
from manyview.inputs.files._text_source import STDIN

_PARQUET = (".parquet", ".pq", "parquet")


def read_views(
    specs: Sequence[str],
    *,
    id_column: str | None = None,
    drop_non_numeric: bool = False,
    transpose: bool = False,
) -> list[Table]:
    """Read the tables of all files, one or more per file.

    Parameters
    ----------
    specs : sequence of str
        ``PATH``, ``NAME=PATH``, ``PATH:KEY`` or ``NAME=PATH:KEY``. The key selects one array of
        an NPZ or MAT file, X, a layer or an obsm key of an h5ad file, a modality of an h5mu file,
        a sheet of an Excel file, a type of features of Cell Ranger. ``-`` is standard input.
    id_column : str, optional
        Column (array, in NPZ and MAT files) that names the samples.
    drop_non_numeric : bool, default=False
        Leave out columns that are not numbers instead of refusing them.
    transpose : bool, default=False
        NPY, NPZ, MAT and MTX files hold features x samples.

    Returns
    -------
    list of Table
        In the order of the specs, ready for :func:`manyview.inputs.align`.

    Examples
    --------
    >>> from manyview.inputs.files import read_views
    >>> tables = read_views(["rna.csv", "protein=adt.parquet"], id_column="cell")  # doctest: +SKIP
    """
    return read_tables(specs, ReadOptions(id_column, drop_non_numeric, transpose))


def read_tables(
    specs: Sequence[str],
    options: ReadOptions,
    parquet_table: Callable[[Path, ReadOptions], Table] | None = None,
) -> list[Table]:
    """As `read_views`. `parquet_table` reads Parquet files, and folders of them, if it is given."""
    if not specs:
        raise ValueError("got no files; expected at least one")
    parsed = [parse_spec(spec) for spec in specs]
    if sum(one.path == STDIN for one in parsed) > 1:
        raise ValueError("standard input was asked for twice; expected '-' once")
    extensions = [extension_of(one.path) for one in parsed]
    if options.transpose and not set(extensions) & set(TRANSPOSABLE):
        raise ValueError(f"transpose was asked for; expected a file of {', '.join(TRANSPOSABLE)}")
    named: list[NamedTable] = []
    for spec, extension in zip(parsed, extensions, strict=True):
        if parquet_table is not None and extension in _PARQUET and spec.key is None:
            table = parquet_table(spec.path, options)
            named.append(NamedTable(table, possible_names(spec, "", single=True), spec.path))
        else:
            named += read_spec(spec, extension, options)
    return with_distinct_names(named)
