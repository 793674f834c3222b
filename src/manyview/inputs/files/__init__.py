"""Users' files -> tables, whatever the format."""

from manyview.inputs.files._columns import arrow, refuse_empty, side_by_side
from manyview.inputs.files._limits import Options
from manyview.inputs.files._parquet import (
    as_floats,
    feature_columns,
    open_parquet,
    parquet_errors,
    read_ids,
)
from manyview.inputs.files._read import read_views
from manyview.inputs.files._spec import (
    EXTENSIONS,
    TURNABLE,
    NamedTable,
    Spec,
    check_readable,
    extension_of,
    names_of,
    parse,
    read_spec,
    ways_of,
    with_names,
)

__all__ = [
    "EXTENSIONS",
    "TURNABLE",
    "NamedTable",
    "Options",
    "Spec",
    "arrow",
    "as_floats",
    "check_readable",
    "extension_of",
    "feature_columns",
    "names_of",
    "open_parquet",
    "parquet_errors",
    "parse",
    "read_ids",
    "read_spec",
    "read_views",
    "refuse_empty",
    "side_by_side",
    "ways_of",
    "with_names",
]
