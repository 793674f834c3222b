"""One column of a text file, whatever is in it."""

from pathlib import Path

from manyview.inputs import first_few
from manyview.inputs.files._columns import checked_ids, id_position
from manyview.inputs.files._csv import row_blocks
from manyview.inputs.files._csv_format import NO_VALUE, text_format
from manyview.inputs.files._limits import ReadOptions, check_readable, plain_ids
from manyview.inputs.files._spec import extension_of, parse_spec
from manyview.inputs.files._text_source import STDIN, TEXT, text_source

_TEXT = (*TEXT, ".zip")

#: Cells, None where they are empty: in the order of the rows, or by id.
Cells = list[str | None] | dict[str, str | None]


def read_column(spec: str, id_column: str | None = None) -> tuple[Path, str, Cells]:
    """The file and the column that ``FILE:COLUMN`` names, and its cells as text.

    They are by id if there is a column of ids; ``FILE:COLUMN@IDS`` names that, too.
    """
    parsed = parse_spec(spec)
    path, column = parsed.path, parsed.key
    if extension_of(path) not in _TEXT:
        raise ValueError(f"{path} is no table of text; expected a file of {', '.join(_TEXT)}")
    if path != STDIN:
        check_readable(path)
    options = ReadOptions()
    text = text_format(text_source(path), options)
    if column is None or column not in text.columns:
        wrong = "was given without a column" if column is None else f"has no column {column!r}"
        names = first_few(text.columns)
        raise ValueError(f"{path} {wrong}; expected {path}:COLUMN with one of {names}")
    position = text.columns.index(column)
    id_at = id_position(path, text.columns, parsed.id_column or id_column)
    rows = [row for block in row_blocks(text, options) for row in block]
    rows = rows[: len(rows) - text.blank_end]
    cells = [None if row[position] in NO_VALUE else row[position].strip() for row in rows]
    if id_at is None:
        return path, column, cells
    ids = plain_ids(checked_ids(path, [row[id_at] for row in rows], 0))
    return path, column, dict(zip(ids, cells, strict=True))
