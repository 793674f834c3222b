"""Scores of a clustering against known classes; 1 is perfect."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from manyview._typing import FloatArray, IntArray

__all__ = [
    "adjusted_rand", "clustering_accuracy", "clustering_scores", "normalized_mutual_info",
    "pairwise_f1", "purity",
]  # fmt: skip

Mean = Literal["arithmetic", "geometric", "min", "max"]


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """ACC: share of samples in the right class under the best one-to-one matching.

    Samples of clusters without a class count as wrong.

    See Also
    --------
    clustering_scores : All scores at once.
    normalized_mutual_info : Needs no matching of clusters and classes.

    Examples
    --------
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 2])
    0.75
    """
    table = _contingency(labels_true, labels_pred)
    classes, clusters = linear_sum_assignment(table, maximize=True)
    return float(table[classes, clusters].sum() / table.sum())


def normalized_mutual_info(
    labels_true: ArrayLike, labels_pred: ArrayLike, mean: Mean = "arithmetic"
) -> float:
    """NMI: mutual information over a mean of the two entropies.

    Papers use different means and rarely name theirs; the CI-GMVC paper mixes two in one table.

    See Also
    --------
    adjusted_rand : Corrected for chance.
    clustering_scores : All scores at once.

    Examples
    --------
    >>> round(normalized_mutual_info([0, 0, 1, 1], [0, 0, 1, 2]), 2)
    0.8
    """
    if mean not in ("arithmetic", "geometric", "min", "max"):
        raise ValueError(f"mean={mean!r}; expected one of 'arithmetic', 'geometric', 'min', 'max'")
    true, pred = _numbered_both(labels_true, labels_pred)
    return float(normalized_mutual_info_score(true, pred, average_method=mean))


def adjusted_rand(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """ARI: agreement on pairs of samples, 0 on average for random labels.

    See Also
    --------
    normalized_mutual_info : By information rather than pairs.
    clustering_scores : All scores at once.

    Examples
    --------
    >>> round(adjusted_rand([0, 0, 1, 1], [0, 0, 1, 2]), 2)
    0.57
    """
    return float(adjusted_rand_score(*_numbered_both(labels_true, labels_pred)))


def purity(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of samples whose class is the most frequent in their cluster; rises with the number of
    clusters.

    See Also
    --------
    clustering_accuracy : Does not rise with the number of clusters alone.
    clustering_scores : All scores at once.

    Examples
    --------
    >>> purity([0, 0, 1, 1], [0, 0, 0, 1])
    0.75
    """
    table = _contingency(labels_true, labels_pred)
    return float(table.max(axis=0).sum() / table.sum())


def pairwise_f1(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Harmonic mean of precision and recall over pairs of samples in one cluster.

    1 where there are no such pairs.

    See Also
    --------
    adjusted_rand : Also by pairs, corrected for chance.
    clustering_scores : All scores at once.

    Examples
    --------
    >>> round(pairwise_f1([0, 0, 1, 1], [0, 0, 1, 2]), 2)
    0.67
    """
    counts = pair_confusion_matrix(*_numbered_both(labels_true, labels_pred))
    (_, wrong), (missed, right) = counts.tolist()
    total = 2 * right + wrong + missed
    return float(2 * right / total) if total else 1.0


def clustering_scores(labels_true: ArrayLike, labels_pred: ArrayLike) -> dict[str, float]:
    """All scores of this module by their short names, with NMI for two means.

    See Also
    --------
    clustering_accuracy, normalized_mutual_info, adjusted_rand, purity, pairwise_f1

    Examples
    --------
    >>> clustering_scores([0, 0, 1, 1], [1, 1, 0, 0])["ACC"]
    1.0
    """
    return {
        "ACC": clustering_accuracy(labels_true, labels_pred),
        "NMI": normalized_mutual_info(labels_true, labels_pred),
        "NMI (geometric)": normalized_mutual_info(labels_true, labels_pred, "geometric"),
        "ARI": adjusted_rand(labels_true, labels_pred),
        "purity": purity(labels_true, labels_pred),
        "F1": pairwise_f1(labels_true, labels_pred),
    }


def _contingency(labels_true: ArrayLike, labels_pred: ArrayLike) -> FloatArray:
    """Counts of samples, with classes in rows and clusters in columns."""
    return np.asarray(contingency_matrix(*_numbered_both(labels_true, labels_pred)))


def _numbered_both(labels_true: Any, labels_pred: Any) -> tuple[IntArray, IntArray]:
    """Both label vectors, checked and numbered: scikit-learn misreads labels of mixed types."""
    true, pred = _numbered(labels_true, "labels_true"), _numbered(labels_pred, "labels_pred")
    if len(true) != len(pred):
        raise ValueError(
            f"labels_true and labels_pred have inconsistent numbers of samples, {len(true)} and "
            f"{len(pred)}; expected the same"
        )
    if len(true) == 0:
        raise ValueError("got no labels; expected at least one sample")
    return true, pred


def _numbered(labels: Any, name: str) -> IntArray:
    """Labels of any type as numbers from 0."""
    mixed = isinstance(labels, list | tuple) and len(set(map(type, labels))) > 1
    try:  # as objects, or 1 and "1" would become equal
        values = np.asarray(labels, dtype=object if mixed else None)
    except ValueError as error:
        raise ValueError(f"{name} is no list of labels: {error}") from error
    if values.ndim != 1 and not (values.ndim == 2 and values.shape[1] == 1):
        raise ValueError(f"{name} has shape {values.shape}; expected one label per sample")
    values = values.ravel()
    if values.dtype != object:
        absent: Any = values != values
    else:  # NA of pandas can't be compared
        absent = [v is None or type(v).__name__ == "NAType" or np.any(v != v) for v in values]
    missing = np.flatnonzero(absent)
    if len(missing):
        raise ValueError(
            f"{name} has no label for {len(missing)} sample(s), the first is sample {missing[0]}; "
            "expected one for every sample"
        )
    if values.dtype != object:
        return np.asarray(np.unique(values, return_inverse=True)[1])
    numbers: dict[Any, int] = {}
    try:
        return np.array([numbers.setdefault(v, len(numbers)) for v in values], dtype=np.int64)
    except TypeError as error:
        raise ValueError(f"{name} has an {error}; expected numbers or text") from error
