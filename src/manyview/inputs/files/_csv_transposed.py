"""Delimited text with a feature per row: the header has the ids, the first column the names."""

from collections.abc import Iterable
from dataclasses import replace

from manyview.inputs.files._columns import check_distinct
from manyview.inputs.files._csv_cells import Rows
from manyview.inputs.files._csv_format import TextFormat
from manyview.inputs.files._limits import check_fits

_CELL = 100  # bytes of a cell that is held as text, about


def transposed(text: TextFormat, end: int, blocks: Iterable[Rows]) -> tuple[TextFormat, Rows]:
    """What the file with rows and columns exchanged would look like, and its rows.

    The first column has the ids. All cells are held as text, so this takes several times the memory
    of the file.
    """
    samples = text.columns[1:end]
    if not samples:
        raise ValueError(
            f"{text.path} has one column; expected names of features and a column per sample, as "
            "it is to be transposed"
        )
    names: list[str] = []
    features: Rows = []
    for rows in blocks:
        names += [row[0].strip() for row in rows]
        features += [row[1:end] for row in rows]
        check_fits(text.path, _CELL * len(features) * len(samples), "text to be transposed")
    names = [name or f"unnamed{i}" for i, name in enumerate(names)]
    check_distinct(text.path, names)
    turned = replace(
        text, columns=("", *names), has_index=False, has_open_end=False, blank_end=0, n_bytes=None
    )
    return turned, [list(row) for row in zip(samples, *features, strict=True)]
