"""Sheets of Excel files in the child process: each is sent on as CSV."""

import csv
import io
from collections.abc import Iterator
from typing import Any

import numpy as np

from manyview.inputs.files._child_messages import RefusedError, SentTable

_ROWS = 2**20  # no sheet of Excel has more
_EMPTY = (None, "")


def sheet_tables(openpyxl: Any, *, path: str, key: str | None, **_: Any) -> Iterator[SentTable]:
    book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
    sheets = {sheet.title: sheet for sheet in book.worksheets}  # without charts
    if key is not None and key not in sheets:
        raise RefusedError(f" has no sheet {key!r}", list(sheets))
    for name in sheets if key is None else [key]:
        text = _csv(sheets[name])
        yield {"name": name}, {"csv": np.frombuffer(text.encode(), np.uint8)}


def _csv(sheet: Any) -> str:
    """Rows as lines of the same number of fields; a blank row is a blank line."""
    sheet.reset_dimensions()  # the declared ones may be wrong, and rows would be filled up to them
    lines: list[str] = []
    widths: list[int] = []
    line = io.StringIO()
    # Texts are in quotes, so none of them is taken for a delimiter.
    writer = csv.writer(line, quoting=csv.QUOTE_NONNUMERIC, lineterminator="")
    for row in sheet.iter_rows(values_only=True):
        if len(lines) == _ROWS:
            raise ValueError(f"a sheet of more than {_ROWS:,} rows")
        widths.append(max((i for i, cell in enumerate(row, 1) if cell not in _EMPTY), default=0))
        if widths[-1]:
            writer.writerow("" if cell is None else cell for cell in row[: widths[-1]])
        lines.append(line.getvalue())
        line.seek(0)
        line.truncate()
    width = max(widths, default=0)
    return "".join(
        f"{text}{',' * (width - n)}\n" if n else "\n" for text, n in zip(lines, widths, strict=True)
    )
