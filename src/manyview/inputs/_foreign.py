"""Tables of libraries that we do not know: PyArrow, PyTorch, and all that give arrays or frames."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import issparse

from manyview.runtime import require_extra, require_pandas


def known_frame(table: Any, label: str) -> Any:
    """A foreign data frame as one of pandas; anything else as it is.

    Foreign frames hand out Arrow data (`__arrow_c_stream__`) or columns (`__dataframe__`).
    """
    # Of the class: to ask a lazy frame for its types would compute them.
    if any(hasattr(type(table), own) for own in ("dtypes", "to_frame", "obs_names")):
        return table  # pandas, polars, a column of theirs, MuData and AnnData
    if hasattr(table, "__arrow_c_stream__"):
        require_pandas()
        with require_extra(f"{label}, a {type(table).__name__},", "files"):
            import pyarrow
        with _refused(table, label):
            return pyarrow.table(table).to_pandas()
    if hasattr(table, "__dataframe__"):
        with _refused(table, label):
            return require_pandas().api.interchange.from_dataframe(table)
    return table


def known_array(table: Any, label: str) -> Any:
    """What has `__array__`, such as a tensor, as an array of numpy; anything else as it is."""
    known = isinstance(table, np.ndarray) or issparse(table)
    framed = any(hasattr(type(table), own) for own in ("dtypes", "to_frame"))
    if known or framed or not hasattr(table, "__array__"):
        return table
    with _refused(table, label):
        return np.asarray(table)


@contextmanager
def _refused(table: Any, label: str) -> Iterator[None]:
    try:
        yield
    except (RuntimeError, TypeError, ValueError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise ValueError(
            f"{label} is a {type(table).__name__} that can't be read: {reason}; expected a 2-D "
            "table of numbers"
        ) from error
