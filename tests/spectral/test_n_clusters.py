"""The number of clusters: suggested, and used for n_clusters="auto"."""

from itertools import islice, pairwise

import matplotlib as mpl
import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview import (
    MGL,
    AngularCIGMVC,
    CoregSC,
    SpectralAverage,
    SpectralConcat,
    cluster,
    datasets,
    suggest_n_clusters,
)
from manyview.graphs import stack_graphs
from manyview.metrics import clustering_accuracy
from manyview.plotting import plot_cluster_number, plot_splits
from manyview.spectral._n_clusters import _candidates, _modularity

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


@pytest.mark.parametrize("count", [3, pytest.param(30, marks=pytest.mark.slow)])
def test_right_for_most_generated_sets(count):
    right = [
        suggest_n_clusters(data.views).n_clusters == n_clusters
        for n_clusters, data in islice(generated_sets(), count)
    ]
    assert len(right) == count
    assert sum(right) >= 0.9 * count


def test_scores_of_all_candidates():
    data = datasets.make_latent_views(400, 5, separation=7.0, random_state=0)
    found = suggest_n_clusters(data.views, max_clusters=12)
    rows = found.table()
    assert [row["n_clusters"] for row in rows] == list(range(2, 13))
    assert found.n_clusters == 5
    assert found.has_structure
    assert max(rows, key=lambda row: row["score"])["n_clusters"] == 5
    for row in rows:
        parts = row["stability"], row["modularity"] ** 0.5, np.log(row["n_clusters"]) ** (1 / 3)
        assert row["score"] == pytest.approx(np.prod(parts))
        assert 0 <= row["eigenvalue"] <= 2
        assert 0 <= row["stability"] <= 1
    assert clustering_accuracy(data.target, found.labels[3]) > 0.95
    assert str(found).count("suggested") == 1
    assert len(str(found).splitlines()) == 12
    ax = plot_cluster_number(found)
    assert ax.get_lines()[0].get_xdata().tolist() == list(range(2, 13))


def test_modularity_is_its_plain_twin(rng):
    labels = np.arange(30) % 3
    dense = rng.random((2, 30, 30)) * (rng.random((2, 30, 30)) < 0.3)
    found = _modularity(stack_graphs([csr_array(graph) for graph in dense]), labels)
    graph = (dense + dense.transpose(0, 2, 1)).sum(axis=0)
    degrees, total = graph.sum(axis=1), graph.sum()
    same = labels[:, None] == labels
    expected = ((graph - np.outer(degrees, degrees) / total) * same).sum() / total
    assert found == pytest.approx(expected)


def test_candidates_up_to_many_clusters():
    found = _candidates(2, 200)
    assert found[:19] == list(range(2, 21))
    assert found[-1] == 200
    assert all(1 < later / one <= 1.5 for one, later in pairwise(found))


@pytest.mark.full
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))]
)
@pytest.mark.parametrize(("n_views", "n_columns"), [(2, 5), (3, 20), (1, 10)])
def test_noise_has_no_structure(n_views, n_columns, seed):
    rng = np.random.default_rng(seed)
    make = rng.standard_normal if seed % 2 else rng.random
    views = [make((400, n_columns)) for _ in range(n_views)]
    with pytest.warns(UserWarning, match="no number of clusters is stable"):
        found = suggest_n_clusters(views, random_state=0)
    assert found.n_clusters <= 3
    assert "no number of clusters is stable" in str(found)


@pytest.mark.parametrize(
    ("make", "n_columns"), [("random", 2), ("standard_normal", 3), ("standard_exponential", 2)]
)
def test_noise_in_few_columns_has_no_structure(make, n_columns):
    """Pieces of a square are stable; noise around 0 is put on a circle."""
    noise = getattr(np.random.default_rng(1), make)((300, n_columns))
    with pytest.warns(UserWarning, match=r"no gaps|no number of clusters is stable"):
        found = suggest_n_clusters([noise], random_state=0)
    assert found.n_clusters <= 3
    assert not found.has_structure


@pytest.mark.filterwarnings("ignore:the mean stability:UserWarning")
def test_noise_in_few_columns_is_warned_of_in_a_fit(rng):
    with pytest.warns(UserWarning, match="few columns, and no gaps"):
        result = cluster([rng.random((300, 2))])
    assert result.n_clusters <= 3
    assert "The views have few columns, and no gaps" in result.report_html()


@pytest.mark.parametrize("n_columns", [2, 3])
def test_clusters_in_few_columns(n_columns, rng):
    centres = np.array([[0, 0, 0], [8, 0, 8], [0, 8, 8], [8, 8, 0]])[:, :n_columns]
    X = np.repeat(centres, 60, axis=0) + rng.standard_normal((240, n_columns))
    found = suggest_n_clusters([X], random_state=0)
    assert (found.n_clusters, found.doubt) == (4, "")


@pytest.mark.filterwarnings("ignore:the mean stability:UserWarning")
def test_noise_in_few_columns_of_some_samples(rng):
    present = np.ones((300, 2), dtype=bool)
    present[:60, 1] = False
    views = [rng.random((300, 2)), rng.random((300, 3))]
    with pytest.warns(UserWarning, match="no gaps|no number"):
        assert suggest_n_clusters(views, present=present).n_clusters <= 3


@pytest.mark.filterwarnings("ignore:the mean stability:UserWarning")
def test_noise_is_warned_of_in_a_fit(rng):
    with pytest.warns(UserWarning, match="no number of clusters is stable"):
        result = cluster([rng.standard_normal((300, 8)) for _ in range(2)])
    assert result.n_clusters <= 3
    assert len(result.summary()["n_clusters_evidence"]) == 24
    assert "No number of clusters is stable" in result.report_html()


def test_the_tree_of_splits():
    data = datasets.make_blob_views(120, 3, separation=8.0, random_state=0)
    ax = plot_splits(suggest_n_clusters(data.views, random_state=0), most=4)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2", "3", "4"]
    assert len(ax.patches) == 2 + 3 + 4
    heights = [sum(bar.get_height() for bar in bars) for bars in ax.containers]
    assert heights == pytest.approx([120] * 3)


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
@pytest.mark.filterwarnings("ignore:no number of clusters is stable:UserWarning")
@pytest.mark.parametrize("n", [3, 4, 5, 8])
def test_few_samples(rng, n):
    found = suggest_n_clusters([rng.standard_normal((n, 5)) for _ in range(2)])
    assert 2 <= found.n_clusters < n
    AngularCIGMVC("auto", random_state=0).fit([rng.standard_normal((n, 5)) for _ in range(2)])


def test_more_components_than_max_clusters_is_an_error(rng):
    centres = np.repeat(rng.standard_normal((40, 5)) * 100, 20, axis=0)
    views = [centres + rng.standard_normal(centres.shape) for _ in range(2)]
    options = {"scaling": None, "n_neighbors": 8}
    with pytest.raises(ValueError, match="40 connected components, more than the 30 clusters"):
        suggest_n_clusters(views, **options)
    with pytest.raises(ValueError, match="40 connected components, more than the 30 clusters"):
        AngularCIGMVC("auto", **options).fit(views)
    assert suggest_n_clusters(views, max_clusters=60, **options).n_clusters == 40


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
    with pytest.raises(ValueError, match="n_clusters='auto', but this method can't suggest"):
        CoregSC("auto").fit(X)
    with pytest.raises(ValueError, match="max_clusters=1"):
        suggest_n_clusters(X, max_clusters=1)


def test_the_largest_number_is_warned_of():
    data = datasets.make_blob_views(240, 6, separation=9.0, random_state=0)
    with pytest.warns(UserWarning, match="5 is the largest number of clusters that was looked at"):
        found = suggest_n_clusters(data.views, max_clusters=5)
    assert found.n_clusters == 5
    assert "a larger max_clusters" in str(found)
    assert not suggest_n_clusters(data.views, max_clusters=8).doubt
