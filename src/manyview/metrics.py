"""Scores of a clustering against known classes. All are 1 for a perfect one."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix
from sklearn.utils.validation import check_consistent_length, column_or_1d

from manyview._typing import FloatArray

__all__ = [
    "adjusted_rand",
    "clustering_accuracy",
    "clustering_scores",
    "normalized_mutual_info",
    "pairwise_f1",
    "purity",
]

Mean = Literal["arithmetic", "geometric", "min", "max"]


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """ACC: the share of samples in the right class under the best one-to-one matching.

    With more clusters than classes, or fewer, those left without a partner count as wrong.

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

    The literature uses several means and rarely says which; the paper behind CI-GMVC mixes two in
    one table.
    """
    if mean not in ("arithmetic", "geometric", "min", "max"):
        raise ValueError(f"mean={mean!r}; expected one of 'arithmetic', 'geometric', 'min', 'max'")
    _contingency(labels_true, labels_pred)
    return float(normalized_mutual_info_score(labels_true, labels_pred, average_method=mean))


def adjusted_rand(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """ARI: agreement on pairs of samples, 0 on average for random labels."""
    _contingency(labels_true, labels_pred)
    return float(adjusted_rand_score(labels_true, labels_pred))


def purity(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of samples whose class is the commonest in their cluster; grows with clusters."""
    table = _contingency(labels_true, labels_pred)
    return float(table.max(axis=0).sum() / table.sum())


def pairwise_f1(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Harmonic mean of precision and recall over pairs of samples put together.

    1 where neither puts any two samples together.
    """
    _contingency(labels_true, labels_pred)
    (_, wrong), (missed, right) = pair_confusion_matrix(labels_true, labels_pred)
    pairs = 2 * right + wrong + missed
    return float(2 * right / pairs) if pairs else 1.0


def clustering_scores(labels_true: ArrayLike, labels_pred: ArrayLike) -> dict[str, float]:
    """All of the above by their short names, NMI with the arithmetic and the geometric mean.

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
    """Counts, classes in rows and clusters in columns, after checking both label vectors."""
    true, pred = column_or_1d(labels_true), column_or_1d(labels_pred)
    check_consistent_length(true, pred)
    if len(true) == 0:
        raise ValueError("got no labels; expected at least one sample")
    return np.asarray(contingency_matrix(true, pred))
