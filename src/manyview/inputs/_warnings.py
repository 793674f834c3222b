"""Warnings about views that are probably not what their user means, with what to do."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray, Matrix
from manyview.inputs._scalers import choose_scaling
from manyview.runtime import warn

# Identifiers: whole numbers that differ in at least so many samples, in a view of few columns.
_MIN_SAMPLES, _MAX_COLUMNS = 50, 60
_MAX_WHOLE = 2.0**53  # larger floats are all whole
# Counts: samples with less than the first share of the median total are poor; more than the second
# share of such samples is warned of.
_POOR, _MANY = 0.1, 0.05


def warn_of_view(
    name: str, sample: Matrix, scaling: str, features: tuple[str, ...] | None = None
) -> None:
    """Warn of identifiers among a view's features, of raw counts and of very unequal totals.

    `sample` are the samples by which its columns are judged.
    """
    for text in (
        _identifiers(sample, features),
        _raw_counts(sample, scaling),
        _unequal_totals(sample, scaling),
    ):
        if text:
            warn(f"view '{name}' {text}")


def _identifiers(sample: Matrix, features: tuple[str, ...] | None) -> str:
    if isinstance(sample, csr_array) or sample.shape[1] > _MAX_COLUMNS:
        return ""
    if len(sample) < _MIN_SAMPLES:
        return ""
    for column in np.flatnonzero(_whole(sample[:_MIN_SAMPLES])).tolist():
        values = sample[:, column]
        if _whole(values) and len(np.unique(values)) == len(sample):
            which = column if features is None else repr(features[column])
            return (
                f"has a different whole number for every sample in column {which}: if these are "
                "ids, leave the column out"
            )
    return ""


def _whole(values: FloatArray) -> Any:
    """Whether all numbers of each column are whole."""
    return ((values == np.floor(values)) & (np.abs(values) < _MAX_WHOLE)).all(axis=0)


def _raw_counts(sample: Matrix, scaling: str) -> str:
    values = _values(sample)
    if scaling not in ("none", "standard") or values.min(initial=0.0) < 0 or not values.any():
        return ""
    if (values % 1).any() or choose_scaling(sample) not in ("tfidf", "logratio"):
        return ""
    return (
        f"has raw counts, and after scaling='{scaling}' samples with few counts look alike: use "
        "scaling='auto', or normalise them before"
    )


def _unequal_totals(sample: Matrix, scaling: str) -> str:
    if scaling not in ("tfidf", "logratio"):
        return ""
    largest = float(_values(sample).max(initial=0.0))
    # Numbers near the largest float could not be added up.
    totals = np.asarray((sample / max(largest, 1e-300)).sum(axis=1)).ravel()
    totals = totals[totals > 0]
    poor = float((totals < _POOR * np.median(totals)).mean()) if len(totals) else 0.0
    if poor <= _MANY:
        return ""
    return (
        f"has very unequal totals: {poor:.0%} of the samples have less than a tenth of the median "
        "total, so their neighbours are doubtful; consider leaving them out"
    )


def _values(sample: Matrix) -> np.ndarray:
    return np.asarray(sample.data if isinstance(sample, csr_array) else sample)
