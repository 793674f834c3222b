"""Delimited text, streamed into one array.

Memory is bounded: blocks of a few megabytes are parsed and copied into one array of float64, so
that the peak is about the array itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from manyview._typing import FloatArray
from manyview.inputs import Table
from manyview.inputs.files._columns import (
    GrowingMatrix,
    arrow,
    check_some,
    checked_ids,
    log_dropped,
    position,
    refuse_columns,
    refuse_empty,
    side_by_side,
)
from manyview.inputs.files._csv_cells import (
    NO_VALUE,
    NotNumbersError,
    are_plain,
    as_numbers,
    first_text,
)
from manyview.inputs.files._csv_layout import TextLayout, text_layout
from manyview.inputs.files._limits import Options, damaged, plain_ids

_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
_SHOWN = 40  # characters of a cell


@dataclass(frozen=True)
class _Plan:
    """How to read the columns that may be features; those in neither set are plain numbers."""

    id_at: int | None
    columns: tuple[int, ...]
    text: dict[int, tuple[int, str]] = field(default_factory=dict)  # the first such row and value
    words: frozenset[int] = frozenset()  # numbers, and words for true, false or no value

    @property
    def kept(self) -> list[int]:
        return [j for j in self.columns if j not in self.text]


def read_text(path: Path, key: str | None, options: Options) -> list[Table]:
    layout = text_layout(path)
    id_at = position(path, layout.columns, options.id_column)
    if layout.has_index and id_at != 0 and not options.drop_non_numeric:
        _refuse_index(layout)
    plan = _Plan(id_at, _candidates(layout, id_at))
    table = _attempt(layout, plan)
    for n_blocks in (1, None):  # what is wrong is mostly wrong from the start
        if table is None:
            plan = _second_look(layout, plan, n_blocks, stop_at_text=not options.drop_non_numeric)
            if plan.text and not options.drop_non_numeric:
                _refuse_text(layout, plan)
            table = _attempt(layout, plan)
    if table is None:
        raise ValueError(f"{path} has cells that cannot be read; expected numbers")
    used = {*plan.kept, id_at}
    log_dropped(path, [name for j, name in enumerate(layout.columns) if j not in used])
    return [table]


def _candidates(layout: TextLayout, id_at: int | None) -> tuple[int, ...]:
    """Columns that may be features."""
    first = 1 if layout.has_index else 0
    end = len(layout.columns)
    if layout.has_open_end and _is_empty(layout, end - 1):
        end -= 1  # every line ends in a delimiter
    return tuple(j for j in range(first, end) if j != id_at)


def _is_empty(layout: TextLayout, column: int) -> bool:
    try:
        for _ in _batches(layout, {column: arrow(layout.path).null()}):
            pass
    except NotNumbersError:
        return False
    return True


def _attempt(layout: TextLayout, plan: _Plan) -> Table | None:
    """The table, or None if the plan takes for numbers what is none."""
    try:
        return _read_planned(layout, plan)
    except NotNumbersError:
        return None


def _read_planned(layout: TextLayout, plan: _Plan) -> Table:
    pa = arrow(layout.path)
    check_some(layout.path, plan.kept)
    rows: GrowingMatrix | None = None
    ids: list[str] = []
    for batch in _batches(layout, _types(pa, plan)):
        if rows is None:
            n_expected = _expected_rows(layout, batch.num_rows)
            rows = GrowingMatrix(layout.path, len(plan.kept), n_expected)
        if plan.id_at is not None:
            ids += checked_ids(layout.path, batch.column(f"f{plan.id_at}").to_pylist(), len(ids))
        rows.append(_numbers(pa, batch, plan))
    matrix = None if rows is None else rows.finish(layout.blank_end)
    if matrix is None or len(matrix) == 0:
        refuse_empty(layout.path)
    names = tuple(layout.columns[j] for j in plan.kept)
    return Table("", matrix, None if plan.id_at is None else plain_ids(ids), names)


def _types(pa: Any, plan: _Plan) -> dict[int, Any]:
    types = {j: pa.string() if j in plan.words else pa.float64() for j in plan.kept}
    return types if plan.id_at is None else {**types, plan.id_at: pa.string()}


def _numbers(pa: Any, batch: Any, plan: _Plan) -> FloatArray:
    columns = {j: batch.column(f"f{j}") for j in plan.kept}
    return side_by_side(
        pa, [as_numbers(pa, one) if j in plan.words else one for j, one in columns.items()]
    )


def _expected_rows(layout: TextLayout, n_in_block: int) -> int:
    """Somewhat more rows than there should be, from those of the first block.

    Memory that is never written to costs nothing, growing does.
    """
    if layout.zipped:
        return n_in_block
    n_blocks = layout.path.stat().st_size / layout.block_size
    return int(max(1.0, 1.1 * n_blocks) * n_in_block) + 1


def _batches(layout: TextLayout, types: dict[int, Any]) -> Iterator[Any]:
    """Blocks of the file as record batches with columns f0, f1, ... of the given types."""
    pa = arrow(layout.path)
    read = pa.csv.ReadOptions(
        use_threads=False,  # with threads errors do not know their row
        block_size=layout.block_size,
        skip_rows=layout.blank_start,
        skip_rows_after_names=int(layout.has_header),
        column_names=[f"f{j}" for j in range(len(layout.columns))],
    )
    parse = pa.csv.ParseOptions(
        delimiter=layout.delimiter,
        newlines_in_values=True,
        # In a table of one column a blank line is an empty cell. Skipping it would shift all
        # samples that follow.
        ignore_empty_lines=len(layout.columns) > 1,
    )
    convert = pa.csv.ConvertOptions(
        include_columns=[f"f{j}" for j in types],
        column_types={f"f{j}": kind for j, kind in types.items()},
        null_values=NO_VALUE,
    )
    try:
        stream = pa.input_stream(str(layout.path), compression="gzip" if layout.zipped else None)
        with stream, pa.csv.open_csv(stream, read, parse, convert) as reader:
            yield from (batch for batch in reader if batch.num_rows)
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError, OSError) as error:
        _explain(layout, error)


def _explain(layout: TextLayout, error: Exception) -> NoReturn:
    """What is wrong with a text file, from what pyarrow says of it."""
    path, said = layout.path, str(error)
    if ragged := _RAGGED.search(said):
        line, expected, came = map(int, ragged.groups())
        row = line - layout.blank_start - int(layout.has_header)
        raise ValueError(
            f"{path}: row {row} has {came} fields; expected {expected} as in the first line"
        ) from error
    if "invalid UTF8" in said:
        raise ValueError(f"{path} is not in UTF-8; expected UTF-8") from error
    if "conversion error" in said:
        raise NotNumbersError(said) from error
    if "straddl" in said:
        raise ValueError(
            f"{path}: a row is longer than {layout.block_size:,} bytes, perhaps by a quote that "
            "is never closed; expected shorter rows"
        ) from error
    damaged(path, "text", error)


def _second_look(
    layout: TextLayout, plan: _Plan, n_blocks: int | None, *, stop_at_text: bool
) -> _Plan:
    """Read cells as text, to tell columns of numbers from others by what is in them."""
    pa = arrow(layout.path)
    text: dict[int, tuple[int, str]] = {}
    words: set[int] = set()
    n_rows = 0
    for i, batch in enumerate(_batches(layout, dict.fromkeys(plan.columns, pa.string()))):
        if i == n_blocks or (text and stop_at_text):
            break
        for j in plan.columns:
            cells = batch.column(f"f{j}")
            if j in text or are_plain(pa, cells):
                continue
            bad = first_text(pa, cells)
            if bad is None:
                words.add(j)
            else:
                text[j] = n_rows + bad + 1, cells[bad].as_py()
        n_rows += batch.num_rows
    return _Plan(plan.id_at, plan.columns, text, frozenset(words))


def _refuse_index(layout: TextLayout) -> NoReturn:
    """Data frames write row numbers and row names like this, and neither measures anything."""
    raise ValueError(
        f"{layout.path}: the first column has no name, as if it named the rows; expected a name, "
        f"or use it as ids with --id {layout.columns[0]}, or leave it out with --drop-non-numeric"
    )


def _refuse_text(layout: TextLayout, plan: _Plan) -> NoReturn:
    columns = sorted(plan.text, key=lambda j: (plan.text[j][0], j))
    row, value = plan.text[columns[0]]
    shown = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
    names = [layout.columns[j] for j in columns]
    refuse_columns(layout.path, names, f"has {shown!r} in row {row}")
