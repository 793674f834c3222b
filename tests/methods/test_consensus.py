"""The default method: right answers on real data, weights, disagreement, and its plain twin."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score, roc_auc_score

from manyview import ConsensusGraph, datasets
from manyview.graphs import stack_graphs
from manyview.methods.consensus import view_weights
from manyview.metrics import clustering_accuracy as accuracy
from manyview.spectral import soft_embedding
from tests.helpers.goldens import DATA


def fitted(views, n_clusters, **options):
    return ConsensusGraph(n_clusters, random_state=0, **options).fit(views)


@pytest.mark.parametrize(
    ("name", "at_least"), [("BBC", 0.93), ("NGs", 0.98), ("WebKB", 0.75), ("100leaves", 0.96)]
)
def test_the_papers_data(name, at_least):
    data = datasets.fetch(name, DATA)
    found = [
        ConsensusGraph(data.n_clusters, random_state=seed).fit(data.views).labels_
        for seed in range(3)
    ]
    assert np.mean([accuracy(data.target, labels) for labels in found]) >= at_least


def test_digits():
    data = datasets.load_digits_views()
    assert accuracy(data.target, fitted(data.views, 10).labels_) >= 0.94


@pytest.mark.parametrize(("load", "cuts"), [(load_wine, [7]), (load_breast_cancer, [10, 20])])
def test_units_change_no_label(load, cuts, rng):
    table = load()
    factor = 1000.0 ** rng.integers(-1, 2, table.data.shape[1])
    n_clusters = len(table.target_names)
    one = fitted(np.split(table.data, cuts, axis=1), n_clusters)
    other = fitted(np.split(table.data * factor, cuts, axis=1), n_clusters)
    assert set(one.view_scalings_) == {"standard"}
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert adjusted_rand_score(table.target, one.labels_) > 0.6


@pytest.mark.parametrize("seed", range(3))
def test_conflicts_are_found(seed):
    data = datasets.make_conflict_views(random_state=seed)
    model = fitted(data.views, data.n_clusters)
    scores = model.sample_disagreement_[:, 0]
    assert roc_auc_score(data.conflicts[:, 0], scores) >= 0.95
    assert model.view_weights_.argmin() == 0


def test_noise_gets_the_lowest_weight(rng):
    data = datasets.load_digits_views()
    noise = {"noise": rng.standard_normal((data.n_samples, 30))}
    with pytest.warns(UserWarning, match="view 'noise' has hardly anything in common"):
        model = fitted(data.views | noise, 10)
    assert model.view_weights_.argmin() == 3
    assert accuracy(data.target, model.labels_) >= 0.92


@pytest.mark.filterwarnings("ignore:views 'fourier' and 'again' have nearly:UserWarning")
def test_a_redundant_view_changes_little():
    data = datasets.load_digits_views()
    weakest = list(data.views)[1]
    once, twice = (
        accuracy(data.target, fitted(views, 10).labels_)
        for views in (data.views, data.views | {"again": data.views[weakest]})
    )
    assert abs(once - twice) <= 0.02


def test_view_weights_are_the_plain_twin(rng):
    labels = np.arange(12) % 3
    same = labels[:, None] == labels
    dense = rng.random((2, 12, 12)) * (rng.random((2, 12, 12)) < np.where(same, 0.8, 0.3))
    found = view_weights(stack_graphs([csr_array(graph) for graph in dense]), labels)
    odds = []
    for graph in (dense + dense.transpose(0, 2, 1)) / 2:
        volume = np.array([graph[labels == c].sum() for c in range(3)])
        inside = [graph[labels == c][:, labels == c].sum() for c in range(3)]
        chance = volume / graph.sum()
        e = np.mean((inside / volume - chance) / (1 - chance))
        odds.append(np.clip(e, 0.01, 0.99) / (1 - np.clip(e, 0.01, 0.99)))
    expected = np.sqrt(odds)
    np.testing.assert_allclose(found, expected / expected.mean())


def test_soft_embedding(rng):
    vectors = np.linalg.qr(rng.standard_normal((90, 3)))[0]
    for third, fade in ((0.35, 1.0), (0.6, 2 / 3)):  # a gap is clear from 4 times on
        values = np.array([0.0, 0.1, third, 0.8])
        plain = vectors * (1 - values[:3] / 0.8) ** 0.75 * [1, 1, fade]
        expected = plain / np.linalg.norm(plain, axis=1, keepdims=True)
        np.testing.assert_allclose(soft_embedding(vectors, values, 2), expected)


def test_a_gap_by_tiny_groups_is_no_gap(rng):
    """Two samples apart from the others do not take one of the clusters."""
    vectors = np.linalg.qr(rng.standard_normal((90, 3)))[0]
    vectors[:2, 1], vectors[2:, 1] = 0.5**0.5, 0
    found = soft_embedding(vectors, np.array([0.0, 0.0, 0.6, 0.8]), 2)
    plain = vectors * [1, 1, 0.25**0.75]
    np.testing.assert_allclose(found, plain / np.linalg.norm(plain, axis=1, keepdims=True))


@pytest.mark.parametrize("separation", [8, 20])
@pytest.mark.parametrize("sizes", [(160, 40, 40), (160, 25, 25), (300, 30, 30, 30)])
def test_a_large_cluster_beside_small_ones(sizes, separation):
    """Small clusters that are apart are not merged, and the large one is not split."""
    centers = separation * np.eye(len(sizes))
    table, classes = make_blobs(sizes, centers=centers, random_state=0)
    other = table @ np.random.default_rng(0).standard_normal((len(sizes), 6))
    labels = fitted([table, other], len(sizes)).labels_
    assert adjusted_rand_score(classes, labels) > 0.98


def test_samples_without_words_have_no_neighbours(rng):
    data = datasets.fetch("WebKB", DATA)
    model = fitted(data.views, 4)
    for graph, view in zip(model.view_graphs_, data.views.values(), strict=True):
        empty = np.asarray(abs(view).sum(axis=1)).ravel() == 0
        assert graph[np.flatnonzero(empty)].nnz == 0
        assert graph[:, np.flatnonzero(empty)].nnz == 0
        assert graph.sum(axis=1).max() <= 1 + 1e-12


def test_parameters_of_scaling():
    data = datasets.make_blob_views(60, 3, random_state=0)
    model = fitted(data.views, 3, scaling={"view1": "none"})
    assert model.view_scalings_ == ("standard", "none", "standard")
    with pytest.raises(ValueError, match="scaling='l1'; expected one of 'auto', 'paper'"):
        fitted(data.views, 3, scaling={"view1": "l1"})
    with pytest.raises(ValueError, match="scaling has view 'x'"):
        fitted(data.views, 3, scaling={"x": "unit"})
