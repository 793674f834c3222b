"""Users' files -> tables, whatever the format."""

from __future__ import annotations

from collections.abc import Sequence

from manyview.inputs import Table
from manyview.inputs.files._limits import Options
from manyview.inputs.files._spec import (
    TURNABLE,
    NamedTable,
    extension_of,
    parse,
    read_spec,
    with_names,
)


def read_views(
    specs: Sequence[str],
    *,
    id_column: str | None = None,
    drop_non_numeric: bool = False,
    transpose: bool = False,
) -> list[Table]:
    """Read the tables of all files, one or more a file.

    Parameters
    ----------
    specs : sequence of str
        ``PATH``, ``NAME=PATH``, ``PATH:KEY`` or ``NAME=PATH:KEY``. The key selects one array of
        an NPZ or MAT file, X, a layer or an obsm key of an h5ad file, a modality of an h5mu file.
    id_column : str, optional
        Column (array, in NPZ and MAT files) that names the samples.
    drop_non_numeric : bool, default=False
        Leave out columns that are not numbers instead of refusing them.
    transpose : bool, default=False
        NPY, NPZ, MAT and MTX files hold features x samples.

    Returns
    -------
    list of Table
        In the order of the specs, ready for :func:`manyview.inputs._align.align`.

    Examples
    --------
    >>> from manyview.inputs.files import read_views
    >>> tables = read_views(["rna.csv", "protein=adt.parquet"], id_column="cell")  # doctest: +SKIP
    """
    if not specs:
        raise ValueError("got no files; expected at least one")
    options = Options(id_column, drop_non_numeric, transpose)
    parsed = [parse(spec) for spec in specs]
    extensions = [extension_of(spec.path) for spec in parsed]
    if transpose and not set(extensions) & set(TURNABLE):
        raise ValueError(f"transpose was asked for; expected a file of {', '.join(TURNABLE)}")
    named: list[NamedTable] = []
    for spec, extension in zip(parsed, extensions, strict=True):
        named += read_spec(spec, extension, options)
    return with_names(named)
