"""Stability of clusters: what it measures, its plain twin, and its limits on noise and blobs."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview import CIGMVC, ConsensusGraph
from manyview.datasets import make_blob_views
from manyview.spectral import laplacian_spectrum, soft_embedding
from manyview.spectral._stability import _resamples, cluster_overlap, label_stability


def noise(seed, n_columns=5, n_samples=600):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n_samples, n_columns)) for _ in range(2)]


def fitted(views, n_clusters, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ConsensusGraph(n_clusters, random_state=0, **options).fit(views)


def test_overlap_is_its_plain_twin(rng):
    labels, others = rng.integers(0, 4, 60), rng.integers(0, 3, 60)
    for i, found in enumerate(cluster_overlap(labels, others)):
        own, other = labels == labels[i], others == others[i]
        chance = own.sum() * other.sum() / 60
        chance /= own.sum() + other.sum() - chance
        overlap = (own & other).sum() / (own | other).sum()
        assert found == pytest.approx(max(0, (overlap - chance) / (1 - chance)))


def test_overlap_does_not_know_numbers_of_clusters(rng):
    labels = rng.integers(0, 4, 60)
    np.testing.assert_allclose(cluster_overlap(labels, (labels + 1) % 4), 1)
    assert cluster_overlap(labels, rng.integers(0, 4, 60)).mean() < 0.1


def two_groups(rng, n=40):
    groups = np.arange(n) % 2
    dense = rng.random((n, n)) * np.where(groups[:, None] == groups, 1, 0.05)
    dense = dense + dense.T
    np.fill_diagonal(dense, 0)
    return dense, groups


def test_resamples_are_those_of_the_weighted_graph(rng):
    """With all eigenvectors the span is everything, and the embedding is exact."""
    dense, _ = two_groups(rng)
    n = len(dense)
    spectrum = laplacian_spectrum(csr_array(dense), n, rng, normalized=True)
    for weights, found in _resamples(csr_array(dense), spectrum, 2, np.random.default_rng(1), 3):
        graph = dense * weights[:, None] * weights
        root = np.sqrt(graph.sum(axis=1))
        values, vectors = np.linalg.eigh(np.eye(n) - graph / root[:, None] / root)
        expected = soft_embedding(vectors[:, :-1], np.maximum(values, 0), 2)
        np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-9)


def test_clear_groups_are_stable_and_others_are_not(rng):
    dense, groups = two_groups(rng)
    graph = csr_array(dense)
    spectrum = laplacian_spectrum(graph, 4, rng, normalized=True)
    np.testing.assert_allclose(label_stability(graph, spectrum, groups, 0, 5), 1)
    assert label_stability(graph, spectrum, np.arange(40) // 20, 0, 5).mean() < 0.1
    np.testing.assert_array_equal(label_stability(graph, spectrum, 0 * groups, 0, 5), 1)


@pytest.mark.parametrize("n_clusters", [2, 4, 8])
@pytest.mark.parametrize("n_columns", [2, 10])
def test_noise_is_unstable_and_warned_of(n_clusters, n_columns):
    model = ConsensusGraph(n_clusters, random_state=0)
    with pytest.warns(UserWarning, match=r"the mean stability of the clusters is 0\."):
        model.fit(noise(n_clusters, n_columns))
    assert model.stability_.mean() < 0.5


@pytest.mark.parametrize("n_clusters", [2, 4, 8])
def test_separate_blobs_are_stable(n_clusters):
    data = make_blob_views(600, n_clusters, separation=6.0, random_state=n_clusters)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ConsensusGraph(n_clusters, random_state=0).fit(data.views)
    assert model.stability_.mean() > 0.95
    means = [model.stability_[model.labels_ == c].mean() for c in range(n_clusters)]
    np.testing.assert_allclose(model.cluster_stability_, means)


def test_the_order_of_samples_does_not_matter(rng):
    views = noise(3)
    order = rng.permutation(len(views[0]))
    one, other = fitted(views, 3), fitted([view[order] for view in views], 3)
    np.testing.assert_array_equal(one.stability_[order], other.stability_)


def test_it_can_be_left_out():
    model = fitted(noise(0), 3)
    assert model.stability_.shape == (600,)
    labels = model.labels_
    model.set_params(n_resamples=0).fit(noise(0))
    assert not hasattr(model, "stability_")
    np.testing.assert_array_equal(model.labels_, labels)
    with pytest.raises(ValueError, match="n_resamples=-1; expected"):
        fitted(noise(0), 3, n_resamples=-1)
    assert not hasattr(CIGMVC(3, random_state=0).fit(make_blob_views(60, 3).views), "stability_")
