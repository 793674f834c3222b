"""Users' files -> tables, whatever the format."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from manyview.inputs import Table, check_columns_found, prepared
from manyview.inputs.files._limits import ReadOptions
from manyview.inputs.files._spec import (
    NamedTable,
    check_options,
    extension_of,
    parse_spec,
    possible_names,
    read_spec,
    with_distinct_names,
)
from manyview.inputs.files._text_source import STDIN

_PARQUET = (".parquet", ".pq")


def read_views(
    specs: Sequence[str],
    *,
    id_column: str | None = None,
    drop_non_numeric: bool = False,
    transpose: bool = False,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    na_values: Sequence[str] = (),
    decimal: str = ".",
    encoding: str = "utf-8",
    comment: str | None = None,
    impute: str | None = None,
) -> list[Table]:
    """Read the tables of all files, one or more per file.

    Parameters
    ----------
    specs : sequence of str
        ``PATH``, ``NAME=PATH``, ``PATH:KEY`` or ``NAME=PATH:KEY``, each also with ``@COLUMN`` at
        its end. The key selects one array of an NPZ or MAT file, X, a layer or an obsm key of an
        h5ad file, a modality of an h5mu file or, as ``rna/X_pca``, one of the same of a modality,
        a sheet of an Excel file, a type of features of Cell Ranger. The column is `id_column` of
        this file. ``-`` is standard input.
    id_column : str, optional
        Column (array, in NPZ and MAT files) that names the samples.
    drop_non_numeric : bool, default=False
        Leave out columns that are not numbers instead of refusing them. `preparation.dropped` of
        a table lists them.
    transpose : bool, default=False
        Files hold features x samples. The header of a text, Excel, Parquet or Arrow file then has
        the ids of the samples, its first column the names of the features.
    drop : names of columns, optional
        Columns to leave out, from all files that have them.
    categorical : names of columns, optional
        Columns of text, Excel, Parquet and Arrow files that hold categories. Each becomes a column
        of 0 and 1 per category.
    na_values : texts, optional
        Further texts that are empty cells, in text and Excel files.
    decimal : {".", ","}, default="."
        The decimal sign of numbers in text files.
    encoding : str, default="utf-8"
        Encoding of text files.
    comment : str, optional
        Lines of text files that start with it are skipped.
    impute : "median", optional
        Fill empty cells with the median of their column. Rows without any number stay empty.

    Returns
    -------
    list of Table
        In the order of the specs, ready for :func:`manyview.inputs.align`.

    See Also
    --------
    manyview.inputs.align : Joins what was read, for `manyview.cluster`.

    Examples
    --------
    >>> from manyview.inputs.files import read_views
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "words.csv")
    ...     _ = path.write_text("page,cat,dog\\na,1,0\\nb,0,2\\n")
    ...     (table,) = read_views([str(path)], id_column="page")
    >>> table.name, table.ids
    ('words', ('a', 'b'))
    """
    options = ReadOptions(
        id_column, drop_non_numeric, transpose, tuple(drop), tuple(categorical), tuple(na_values),
        decimal, encoding, comment,
    )  # fmt: skip
    return prepared(read_tables(specs, options), impute, options.categorical)


def read_tables(
    specs: Sequence[str],
    options: ReadOptions,
    parquet_table: Callable[[Path, ReadOptions], Table] | None = None,
    others: Sequence[str] = (),
) -> list[Table]:
    """As `read_views`, before columns of categories are encoded and empty cells filled.

    `parquet_table` reads Parquet files, and folders of them, if it is given. `others` are files
    that are read elsewhere with the same options.
    """
    if not specs:
        raise ValueError("got no files; expected at least one")
    parsed = [parse_spec(spec) for spec in specs]
    if sum(one.path == STDIN for one in parsed) > 1:
        raise ValueError("standard input was asked for twice; expected '-' once")
    extensions = [extension_of(one.path) for one in parsed]
    check_options(options, [*extensions, *(extension_of(parse_spec(one).path) for one in others)])
    named: list[NamedTable] = []
    for spec, extension in zip(parsed, extensions, strict=True):
        on_workers = parquet_table is not None and not options.transpose
        if parquet_table is not None and on_workers and extension in _PARQUET and spec.key is None:
            own = spec.options(options)
            table = replace(parquet_table(spec.path, own), id_name=own.id_column)
            named.append(NamedTable(table, possible_names(spec, "", single=True), spec.path))
        else:
            named += read_spec(spec, extension, options)
    for item in named:
        if item.table.shape[1] == 0 and not item.table.categorical:
            raise ValueError(f"{item.path} has no numeric column left; expected at least one")
    tables = with_distinct_names(named)
    check_columns_found("drop", options.drop, tables)
    return tables
