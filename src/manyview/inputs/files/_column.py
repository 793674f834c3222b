"""One column of a text file, whatever is in it."""

import csv
import io
from pathlib import Path

from manyview.inputs import first_few
from manyview.inputs.files._columns import checked_ids, id_position
from manyview.inputs.files._csv_format import NO_VALUE, TextFormat, text_format
from manyview.inputs.files._limits import ReadOptions, check_readable, damaged, plain_ids
from manyview.inputs.files._spec import extension_of, parse_spec
from manyview.inputs.files._text_source import STDIN, STREAM_ERRORS, TEXT, text_source

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
    text = text_format(text_source(path), ReadOptions())
    if column is None or column not in text.columns:
        wrong = "was given without a column" if column is None else f"has no column {column!r}"
        names = first_few(text.columns)
        raise ValueError(f"{path} {wrong}; expected {path}:COLUMN with one of {names}")
    rows = _rows(text)
    position, id_at = (
        text.columns.index(column),
        id_position(path, text.columns, parsed.id_column or id_column),
    )
    cells = [None if row[position] in NO_VALUE else row[position].strip() for row in rows]
    if id_at is None:
        return path, column, cells
    ids = plain_ids(checked_ids(path, [row[id_at] for row in rows], 0))
    return path, column, dict(zip(ids, cells, strict=True))


def _rows(text: TextFormat) -> list[list[str]]:
    """All rows below the header, with as many cells as there are columns."""
    path, width = text.path, len(text.columns)
    try:
        with io.TextIOWrapper(text.source.open(), encoding="utf-8-sig", newline="") as stream:
            # A blank line is an empty cell in a table of one column.
            rows = [row or [""] for row in csv.reader(stream, delimiter=text.delimiter)]
    except (OSError, csv.Error, UnicodeDecodeError, *STREAM_ERRORS) as error:
        damaged(path, "text", error)
    rows = rows[text.blank_start + text.has_header : len(rows) - text.blank_end]
    rows = [row for row in rows if width == 1 or row != [""]]
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise ValueError(
                f"{path}: row {number} has {len(row)} fields; expected {width} as in the first line"
            )
    return rows
