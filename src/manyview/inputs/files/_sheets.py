"""Excel files: every sheet is a table, with the rules of text tables."""

from dataclasses import replace
from pathlib import Path

from manyview.inputs import Table
from manyview.inputs.files._csv import read_source
from manyview.inputs.files._limits import ReadOptions
from manyview.inputs.files._sandbox import read_in_child
from manyview.inputs.files._text_source import TextSource
from manyview.runtime import logger


def read_xlsx(path: Path, key: str | None, options: ReadOptions) -> list[Table]:
    sheets = {item.name: item.arrays["csv"].tobytes() for item in read_in_child(path, "Excel", key)}
    filled = {name: content for name, content in sheets.items() if content.strip()}
    empty = [name for name in sheets if name not in filled]
    if not filled:
        raise ValueError(f"{path} has no cells that are filled; expected a table")
    if empty:
        logger.info("%s: left out empty sheets: %s", path, ", ".join(empty))
    return [_table(path, name, content, len(filled), options) for name, content in filled.items()]


def _table(path: Path, name: str, content: bytes, n_sheets: int, options: ReadOptions) -> Table:
    label = path if n_sheets == 1 else Path(f"{path}:{name}")
    # The child process wrote the text, so what users say of their own text files is not of it.
    options = replace(options, decimal=".", encoding="utf-8", comment=None)
    return replace(read_source(TextSource(label, ".csv", content=content), options), name=name)
