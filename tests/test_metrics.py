import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyview import metrics

LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=30)


def pairs_of(labels):
    return {
        (i, j) for i, j in itertools.combinations(range(len(labels)), 2) if labels[i] == labels[j]
    }


@settings(max_examples=60, deadline=None, derandomize=True)
@given(LABELS)
def test_scores_equal_their_definitions(labels):
    true, pred = (list(column) for column in zip(*labels, strict=True))
    n = len(true)
    classes, clusters = sorted(set(true)), sorted(set(pred))
    # the best of all matchings, padded so that both sides may have more members
    padded = clusters + [None] * len(classes)
    best = max(
        sum(
            t == dict(zip(order, classes, strict=False)).get(p)
            for t, p in zip(true, pred, strict=True)
        )
        for order in itertools.permutations(padded, len(classes))
    )
    assert metrics.clustering_accuracy(true, pred) == pytest.approx(best / n)
    majority = sum(
        max(sum(t == c and p == k for t, p in labels) for c in classes) for k in clusters
    )
    assert metrics.purity(true, pred) == pytest.approx(majority / n)
    together, found = pairs_of(true), pairs_of(pred)
    expected = 1.0
    if together or found:
        expected = 2 * len(together & found) / (len(together) + len(found))
    assert metrics.pairwise_f1(true, pred) == pytest.approx(expected)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(LABELS, st.permutations(range(5)))
def test_names_of_clusters_do_not_matter(labels, renaming):
    true, pred = (list(column) for column in zip(*labels, strict=True))
    renamed = [f"cluster {renaming[p]}" for p in pred]
    assert metrics.clustering_scores(true, pred) == pytest.approx(
        metrics.clustering_scores(true, renamed)
    )
    assert metrics.clustering_scores(true, true) == pytest.approx(
        dict.fromkeys(metrics.clustering_scores(true, true), 1.0)
    )


def test_means_of_the_entropies():
    true, pred = [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 3]

    def entropy(*counts):
        shares = np.array(counts) / 6
        return -(shares * np.log(shares)).sum()

    h_true, h_pred, joint = entropy(3, 2, 1), entropy(2, 2, 1, 1), entropy(2, 1, 1, 1, 1)
    mutual = h_true + h_pred - joint
    for mean, value in [
        ("arithmetic", (h_true + h_pred) / 2),
        ("geometric", np.sqrt(h_true * h_pred)),
        ("min", min(h_true, h_pred)),
        ("max", max(h_true, h_pred)),
    ]:
        assert metrics.normalized_mutual_info(true, pred, mean) == pytest.approx(mutual / value)


def test_accuracy_with_other_numbers_of_clusters():
    assert metrics.clustering_accuracy([0, 0, 0, 0], [0, 0, 1, 2]) == 0.5
    assert metrics.clustering_accuracy([0, 1, 2, 3], [0, 0, 0, 0]) == 0.25


def test_bad_labels():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        metrics.clustering_accuracy([0, 1], [0])
    with pytest.raises(ValueError, match="got no labels"):
        metrics.purity([], [])
    with pytest.raises(ValueError, match="mean='harmonic'; expected one of"):
        metrics.normalized_mutual_info([0], [0], "harmonic")
