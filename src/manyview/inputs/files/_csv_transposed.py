"""Delimited text with a feature per row: the header has the ids, the first column the names."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from manyview.inputs.files._columns import check_distinct, import_pyarrow
from manyview.inputs.files._csv_format import TextFormat
from manyview.inputs.files._limits import check_fits


def transposed(
    text: TextFormat, end: int, batches: Callable[[TextFormat, Sequence[int]], Iterable[Any]]
) -> tuple[TextFormat, Any]:
    """What the file with rows and columns exchanged would look like, and its cells in one batch.

    The first column has the ids. All cells are held as text, so this takes a few times the memory
    of the file.
    """
    pa = import_pyarrow(text.path)
    samples = text.columns[1:end]
    if not samples:
        raise ValueError(
            f"{text.path} has one column; expected names of features and a column per sample, as "
            "it is to be transposed"
        )
    names: list[str] = []
    columns: list[Any] = []
    n_bytes = 0
    for batch in batches(text, range(end)):
        n_bytes += batch.nbytes
        check_fits(text.path, 3 * n_bytes, "text to be transposed")
        names += [name.strip() for name in batch.column("f0").to_pylist()]
        columns += _rows(pa, [batch.column(f"f{j}") for j in range(1, end)])
    names = [name or f"unnamed{i}" for i, name in enumerate(names)]
    check_distinct(text.path, names)
    whole = pa.RecordBatch.from_arrays(
        [pa.array(samples, pa.string()), *columns], [f"f{j}" for j in range(len(columns) + 1)]
    )
    turned = replace(
        text, columns=("", *names), has_index=False, has_open_end=False, blank_end=0, n_bytes=None
    )
    return turned, whole


def _rows(pa: Any, columns: Sequence[Any]) -> list[Any]:
    """The rows of some columns as arrays."""
    n_rows, n = len(columns[0]), len(columns)
    order = np.arange(n_rows * n).reshape(n, n_rows).T.ravel()
    cells = pa.concat_arrays(columns).take(pa.array(order))
    return [cells.slice(i * n, n) for i in range(n_rows)]
