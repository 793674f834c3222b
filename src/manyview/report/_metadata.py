"""Metadata of the samples: what is known of them beside the views."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats.contingency import association

from manyview._typing import BoolArray, IntArray
from manyview.inputs import id_text
from manyview.plotting import AllEffects, all_effects

#: Categories of a column that get a colour and effects, at most: the most frequent ones.
MAX_CATEGORIES = 20


@dataclass(frozen=True)
class Metadata:
    """One column: numbers, NaN where unknown, or codes of `categories`, -1 where unknown.

    Categories come from the most to the least frequent one.
    """

    name: str
    values: Any
    categories: tuple[str, ...] | None = None

    @property
    def known(self) -> BoolArray:
        known = np.isfinite(self.values) if self.categories is None else self.values >= 0
        return np.asarray(known)

    @property
    def is_shared(self) -> bool:
        """Whether samples share its categories. Those of names and free text, of which nearly
        every sample has its own, tell nothing of clusters, and their association would be 1."""
        return 2 * len(self.categories or ()) <= int(self.known.sum())


def metadata_columns(metadata: Any, ids: Sequence[str], has_ids: bool) -> list[Metadata]:
    """The columns of a data frame, or of a mapping of names to values, in the order of `ids`.

    Rows of a data frame are joined by its index if the samples have ids. Otherwise row i is
    sample i.
    """
    columns = {str(name): np.asarray(metadata[name]) for name in _names(metadata)}
    index = getattr(metadata, "index", None)
    if has_ids and index is not None:
        rows = _rows_of(ids, [id_text(name) for name in index])
        return [_column(name, values, rows) for name, values in columns.items()]
    if has_ids and not isinstance(metadata, Mapping):
        raise ValueError(
            "metadata has no ids, but the samples have; expected a column of ids, such as by "
            "--metadata FILE@COLUMN"
        )
    rows = np.arange(len(ids))
    for name, values in columns.items():
        if len(values) != len(ids):
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
    """The effects of all columns in all clusters; None without any known value.

    Of numbers, the difference of means in standard deviations (Cohen's d). Of categories, the
    difference of their shares as Cohen's h: 0.2 is small, 0.8 large, 3.14 from none to all.
    """
    found = []
    for column in columns:
        known = column.known
        if not column.is_shared:
            continue
        if column.categories is not None:
            found.append(_share_effects(column, labels, n_clusters))
        elif known.any():
            numbers = np.nan_to_num(column.values)[:, None]
            found.append(all_effects(numbers, [column.name], labels, n_clusters, known))
    names = [name for one in found for name in one.features]
    if not names:
        return None
    parts = ("effects", "inside", "outside")
    return AllEffects(names, *(np.hstack([getattr(one, part) for one in found]) for part in parts))


def _share_effects(column: Metadata, labels: IntArray, n_clusters: int) -> AllEffects:
    categories = (column.categories or ())[:MAX_CATEGORIES]
    known = column.known
    counts = np.zeros((n_clusters, len(categories)))
    frequent = known & (column.values < len(categories))
    np.add.at(counts, (labels[frequent], column.values[frequent]), 1)
    sizes = np.bincount(labels[known], minlength=n_clusters)[:, None]
    inside = counts / np.maximum(sizes, 1)
    outside = (counts.sum(axis=0) - counts) / np.maximum(sizes.sum() - sizes, 1)
    effects = 2 * (np.arcsin(np.sqrt(inside)) - np.arcsin(np.sqrt(outside)))
    effects[((sizes == 0) | (sizes == sizes.sum())).ravel()] = 0.0
    return AllEffects([f"{column.name}: {name}" for name in categories], effects, inside, outside)


def cluster_association(column: Metadata, labels: IntArray) -> float:
    """How much the clusters tell of a column, from 0 to 1; NaN where that can't be measured.

    The correlation ratio (eta) of numbers, Cramér's V of categories.
    """
    if not column.is_shared:
        return np.nan
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
