"""Users' files -> tables, whatever the format."""

from manyview.inputs.files._limits import ReadOptions
from manyview.inputs.files._metadata import MetadataTable, read_column, read_metadata
from manyview.inputs.files._parquet import open_parquet
from manyview.inputs.files._parquet_parts import parquet_parts
from manyview.inputs.files._read import read_tables, read_views
from manyview.inputs.files._spec import parse_spec
