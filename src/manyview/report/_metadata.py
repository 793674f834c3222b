"""Metadata of the samples: what is known of them beside the views."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats.contingency import association

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.plotting import AllEffects, all_effects

#: Categories of a column that get a colour and effects, at most: the most frequent ones.
MAX_CATEGORIES = 20


@dataclass(frozen=True)
class Metadata:
    """One column: numbers, NaN where unknown, or codes of `categories`, -1 where unknown.

    Categories come from the most to the least frequent one.
    """

    name: str
    values: FloatArray | IntArray
    categories: tuple[str, ...] | None = None

    @property
    def known(self) -> BoolArray:
        return np.isfinite(self.values) if self.categories is None else self.values >= 0


def metadata_columns(metadata: Any, ids: Sequence[str], has_ids: bool) -> list[Metadata]:
    """The columns of a data frame, or of a mapping of names to values, in the order of `ids`.

    Rows of a data frame are joined by its index if the samples have ids. Otherwise row i is
    sample i.
    """
    columns = {str(name): np.asarray(metadata[name]) for name in _names(metadata)}
    rows = np.arange(len(ids))
    if has_ids and hasattr(metadata, "index"):
        rows = _rows_of(ids, [str(name) for name in metadata.index])
    for name, values in columns.items():
        if not has_ids and len(values) != len(ids):
            raise ValueError(
                f"metadata has {len(values)} rows in column {name!r}; expected {len(ids)}, one per "
                "sample"
            )
    return [_column(name, values, rows) for name, values in columns.items()]


def _names(metadata: Any) -> list[Any]:
    if not isinstance(metadata, Mapping) and not hasattr(metadata, "columns"):
        raise TypeError(
            f"metadata is a {type(metadata).__name__}; expected a data frame, or a mapping of "
            "names to values"
        )
    return list(metadata if isinstance(metadata, Mapping) else metadata.columns)


def _rows_of(ids: Sequence[str], given: Sequence[str]) -> IntArray:
    """The row of each sample; -1 for samples without any."""
    name, n = Counter(given).most_common(1)[0] if given else ("", 0)
    if n > 1:
        raise ValueError(f"metadata has {n} rows with the id {name!r}; expected every id once")
    index = {name: row for row, name in enumerate(given)}
    rows = np.array([index.get(name, -1) for name in ids])
    if (rows < 0).all():
        raise ValueError(
            f"metadata has ids such as {name!r}, none of them of a sample; expected some such as "
            f"{ids[0]!r}"
        )
    return rows


def _column(name: str, values: Any, rows: IntArray) -> Metadata:
    if values.dtype.kind in "iuf":
        numbers = values.astype(np.float64)[rows]
        return Metadata(name, np.where((rows >= 0) & np.isfinite(numbers), numbers, np.nan))
    texts = ["" if _is_missing(value) else str(value) for value in values.tolist()]
    frequent = Counter(filter(None, (texts[row] for row in rows if row >= 0))).most_common()
    codes = {text: code for code, (text, _) in enumerate(frequent)}
    found = [codes.get(texts[row], -1) if row >= 0 else -1 for row in rows]
    return Metadata(name, np.array(found, dtype=np.intp), tuple(codes))


def _is_missing(value: Any) -> bool:
    """None, NaN, and what data frames have for them."""
    return value is None or value != value or str(value) in ("<NA>", "NaT", "")


def metadata_effects(
    columns: Sequence[Metadata], labels: IntArray, n_clusters: int
) -> AllEffects | None:
    """Effects of numbers, and of having a category, in all clusters; None without any column."""
    found = []
    for column in columns:
        matrix, names = column.values.astype(np.float64)[:, None], [column.name]
        if column.categories is not None:
            names = [f"{column.name}: {name}" for name in column.categories[:MAX_CATEGORIES]]
            matrix = (column.values[:, None] == np.arange(len(names))).astype(np.float64)
        if names and column.known.any():
            matrix = np.nan_to_num(matrix)
            found.append(all_effects(matrix, names, labels, n_clusters, column.known))
    if not found:
        return None
    joined = (np.hstack([getattr(one, part) for one in found]) for part in _PARTS)
    return AllEffects([name for one in found for name in one.features], *joined)


_PARTS = ("effects", "inside", "outside")


def cluster_association(column: Metadata, labels: IntArray) -> float:
    """How much the clusters tell of a column, from 0 to 1; NaN where that can't be measured.

    The correlation ratio (eta) of numbers, Cramér's V of categories.
    """
    known = column.known
    own = np.unique(labels[known], return_inverse=True)[1]
    if column.categories is None:
        values = column.values[known]
        total = ((values - values.mean()) ** 2).sum() if len(values) else 0.0
        if not total:
            return np.nan
        means = np.bincount(own, values) / np.bincount(own)
        return float(np.sqrt(min(1.0, ((means[own] - values.mean()) ** 2).sum() / total)))
    codes = np.unique(column.values[known], return_inverse=True)[1]
    if not len(codes) or min(codes.max(), own.max()) == 0:
        return np.nan
    counts = np.zeros((codes.max() + 1, own.max() + 1), dtype=np.int64)
    np.add.at(counts, (codes, own), 1)
    return float(association(counts, method="cramer"))
