"""The samples on the page, as compact data for its script."""

import base64
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from manyview._typing import FloatArray, IntArray
from manyview.report._contents import ReportContents
from manyview.report._metadata import Metadata

# Shares are stored in thousandths; this stands for an unknown one.
_NO_SHARE = -32768
# The code of samples without a category.
_NO_CODE = 65535


def packed(values: Any, kind: str) -> dict[str, str]:
    """An array as text; `kind` is a type of numpy such as "u2"."""
    raw = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
    return {"type": kind, "bytes": base64.b64encode(raw).decode()}


def point_data(contents: ReportContents, shown: IntArray) -> dict[str, Any]:
    """Ids, clusters and columns of the shown samples.

    Ids are left out where they are 0, 1, ... The key tells clusterings apart.
    """
    ids = [str(contents.ids[i]) for i in shown]
    numbered = all(text == str(i) for i, text in enumerate(ids))
    labels = np.asarray(contents.labels)
    return {
        "key": f"{zlib.crc32(labels.astype('<i8').tobytes()):08x}",
        "ids": None if numbered else ids,
        "cluster": packed(labels[shown], "u2" if labels.max() < 2**16 else "u4"),
        "columns": _columns(contents, shown),
    }


def map_data(name: str, coordinates: FloatArray) -> dict[str, Any]:
    """A map with positions from 0 to 65535, in proportion."""
    positions = coordinates - coordinates.min(axis=0)
    positions = np.round(65535 * positions / max(float(positions.max()), 1e-300))
    return {"name": name, "x": packed(positions[:, 0], "u2"), "y": packed(positions[:, 1], "u2")}


def _columns(contents: ReportContents, shown: IntArray) -> list[dict[str, Any]]:
    columns = [_share("confidence", contents.confidence[shown], reversed=True)]
    if contents.stability is not None:
        columns.append(_share("stability", contents.stability[shown], reversed=True))
    if contents.disagreement is not None:
        names = [view.name for view in contents.views]
        columns += _disagreements(names, contents.disagreement[shown])
    return columns + [_metadata(column, shown) for column in contents.metadata]


def _metadata(column: Metadata, shown: IntArray) -> dict[str, Any]:
    facts = {"name": column.name, "csv": column.name, "group": "metadata"}
    values = column.values[shown]
    if column.categories is None:
        low, high = _range(values)
        short = np.array_equal(values, values.astype(np.float32), equal_nan=True)
        return facts | {"low": low, "high": high, "values": packed(values, "f4" if short else "f8")}
    categories = column.categories[:_NO_CODE]
    codes = np.where((values < 0) | (values >= _NO_CODE), _NO_CODE, values)
    return facts | {"categories": categories, "values": packed(codes, "u2")}


def _disagreements(names: Sequence[str], values: FloatArray) -> list[dict[str, Any]]:
    """One column per view and one of the highest, all with one range, so that they compare."""
    highest = np.where(np.isfinite(values), values, -np.inf).max(axis=1)
    all_values = np.column_stack([values, highest])
    low, high = _range(values)
    group = "disagreement"
    return [
        _share(name, column, csv=f"{group}_{name}", group=group, heated=True)
        | {"low": low, "high": high}
        for name, column in zip([*names, "highest"], all_values.T, strict=True)
    ]


def _share(name: str, values: FloatArray, *, csv: str = "", **facts: Any) -> dict[str, Any]:
    """A column of shares; `facts` tell the script how it is shown."""
    known = np.isfinite(values)
    thousandths = np.full(len(values), _NO_SHARE, dtype=np.int16)
    thousandths[known] = np.round(1000 * values[known])
    low, high = _range(values)
    column = {"name": name, "csv": csv or name, "group": "", "low": low, "high": high}
    return column | facts | {"values": packed(thousandths, "i2")}


def _range(values: FloatArray) -> tuple[float | None, float | None]:
    """The smallest and the largest known value; None without any."""
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if len(known) else (None, None)
