"""The number of clusters: suggested, and used for n_clusters="auto"."""

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest

from manyview import (
    MGL,
    AngularCIGMVC,
    CoregSC,
    SpectralAverage,
    SpectralConcat,
    datasets,
    suggest_n_clusters,
)
from manyview.metrics import clustering_accuracy
from manyview.plotting import plot_cluster_number

mpl.use("agg")


def generated_sets():
    """30 sets of 2 to 12 clusters, from all generators in turn."""
    make = (
        lambda n, c, seed: datasets.make_blob_views(n, c, random_state=seed),
        lambda n, c, seed: datasets.make_latent_views(n, c, separation=6.0, random_state=seed),
        lambda n, c, seed: datasets.make_conflict_views(n, c, random_state=seed),
    )
    for seed in range(30):
        n_clusters = 2 + seed % 11
        yield n_clusters, make[seed % 3](max(300, 80 * n_clusters), n_clusters, seed)


def test_right_for_most_generated_sets():
    right = [
        suggest_n_clusters(data.views).n_clusters == n_clusters
        for n_clusters, data in generated_sets()
    ]
    assert len(right) == 30
    assert np.mean(right) >= 0.9


def test_scores_of_all_candidates():
    data = datasets.make_latent_views(400, 5, separation=7.0, random_state=0)
    found = suggest_n_clusters(data.views, max_clusters=12)
    rows = found.table()
    assert [row["n_clusters"] for row in rows] == list(range(2, 13))
    assert found.n_clusters == 5
    best = max(rows, key=lambda row: row["score"])
    assert best["n_clusters"] == 5
    for row, later in pairwise(rows):
        assert row["eigenvalue"] + row["gap"] == pytest.approx(later["eigenvalue"])
        assert 0 <= row["eigenvalue"] <= 2
    assert str(found).count("suggested") == 1
    assert len(str(found).splitlines()) == 12
    ax = plot_cluster_number(found)
    assert ax.get_lines()[0].get_xdata().tolist() == list(range(2, 13))


@pytest.mark.parametrize("method", [AngularCIGMVC, SpectralAverage, SpectralConcat, MGL])
def test_auto(method):
    data = datasets.make_blob_views(200, 4, random_state=0)
    model = method("auto", random_state=0).fit(data.views)
    assert model.n_clusters == "auto"
    assert model.n_clusters_ == 4
    assert model.cluster_number_.n_clusters == 4
    assert clustering_accuracy(data.target, model.labels_) > 0.95
    assert method(3, random_state=0).fit(data.views).n_clusters_ == 3


def test_connected_components_are_a_lower_limit(rng):
    """No edges between clusters: eigenvalues of 0."""
    centres = np.repeat(np.eye(6) * 100, 30, axis=0)
    views = [centres + rng.standard_normal(centres.shape) for _ in range(2)]
    assert suggest_n_clusters(views).n_clusters == 6


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n", [3, 4, 5, 8])
def test_few_samples(rng, n):
    found = suggest_n_clusters([rng.standard_normal((n, 5)) for _ in range(2)])
    assert 2 <= found.n_clusters < n
    AngularCIGMVC("auto", random_state=0).fit([rng.standard_normal((n, 5)) for _ in range(2)])


def test_more_components_than_max_clusters_is_an_error(rng):
    centres = np.repeat(rng.standard_normal((25, 5)) * 100, 20, axis=0)
    views = [centres + rng.standard_normal(centres.shape) for _ in range(2)]
    options = {"scaling": None, "n_neighbors": 8}
    with pytest.raises(ValueError, match="25 connected components, more than the 20 clusters"):
        suggest_n_clusters(views, **options)
    with pytest.raises(ValueError, match="25 connected components, more than the 20 clusters"):
        AngularCIGMVC("auto", **options).fit(views)
    assert suggest_n_clusters(views, max_clusters=40, **options).n_clusters == 25


def test_precomputed_graphs():
    G = np.kron(np.eye(4), np.ones((10, 10)) - np.eye(10))
    assert suggest_n_clusters([G, G], graph="precomputed").n_clusters == 4


def test_a_new_fit_removes_the_suggestion_of_the_last():
    data = datasets.make_blob_views(90, 3, random_state=0)
    model = SpectralAverage("auto", random_state=0).fit(data.views)
    model.set_params(n_clusters=2).fit(data.views)
    assert not hasattr(model, "cluster_number_")
    assert model.n_clusters_ == 2


def test_errors(rng):
    X = [rng.standard_normal((20, 5))]
    with pytest.raises(ValueError, match="n_samples=2; expected at least 3"):
        suggest_n_clusters([rng.standard_normal((2, 5))], graph="heat", n_neighbors="all")
    with pytest.raises(ValueError, match=r"n_clusters='many'; expected a number or 'auto'"):
        AngularCIGMVC("many").fit(X)
    with pytest.raises(ValueError, match="n_clusters='auto', but a method on kernels"):
        CoregSC("auto").fit(X)
    with pytest.raises(ValueError, match="max_clusters=1"):
        suggest_n_clusters(X, max_clusters=1)
