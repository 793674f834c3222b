"""What text and Parquet files share: named columns, of which some are ids and some are refused."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from manyview.inputs import first_few, id_text
from manyview.runtime import logger


def import_pyarrow(path: Path) -> Any:
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"reading {path} needs pyarrow: pip install 'manyview[files]'") from error
    return pyarrow


def id_position(path: Path, columns: Sequence[str], id_column: str | None) -> int | None:
    """Index of the column of ids."""
    if id_column is None:
        return None
    if id_column not in columns:
        raise ValueError(
            f"{path} has no column {id_column!r} for the ids; expected one of {first_few(columns)}"
        )
    return list(columns).index(id_column)


def checked_ids(path: Path, values: Sequence[Any], n_before: int) -> list[str]:
    """Values as ids; an error where there is none."""
    texts = ["" if value is None or value != value else id_text(value) for value in values]
    for row, text in enumerate(texts, start=n_before + 1):
        if not text.strip():
            raise ValueError(f"{path} has no id in row {row}; expected one per row")
    return texts


def check_distinct(path: Path, names: Sequence[str]) -> None:
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise ValueError(f"{path} has two columns named {twice[0]!r}; expected distinct names")


def refuse_no_columns(path: Path) -> NoReturn:
    raise ValueError(f"{path} has no numeric column left; expected at least one")


def refuse_columns(path: Path, names: Sequence[str], why_the_first: str) -> NoReturn:
    """Columns that are not numbers, and what is in the first of them."""
    what = f"{len(names)} columns are" if len(names) > 1 else "1 column is"
    raise ValueError(
        f"{path}: {what} not numeric ({first_few(names)}), column {names[0]!r} {why_the_first}; "
        "expected numbers: name the column of sample ids with --id, "
        "or leave such columns out with --drop-non-numeric"
    )


def refuse_no_rows(path: Path) -> NoReturn:
    raise ValueError(f"{path} has column names and no rows; expected a table")


def log_dropped(path: Path, names: Sequence[str]) -> None:
    if names:
        logger.info("%s: left out %d columns: %s", path, len(names), first_few(names))
