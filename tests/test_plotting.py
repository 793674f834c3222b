import matplotlib as mpl
import numpy as np
import pytest

from manyview import CIGMVC, GBS, datasets, plotting

mpl.use("Agg")


@pytest.fixture(scope="module")
def models():
    data = datasets.make_conflict_views(120, 3, random_state=0)
    return {"CI-GMVC": CIGMVC(3).fit(data.views), "GBS": GBS(3).fit(data.views)}


@pytest.fixture
def ax():
    figure = mpl.figure.Figure()
    return figure.add_subplot()


def test_convergence_shows_the_history(models, ax):
    assert plotting.plot_convergence(models, ax) is ax
    for line, model in zip(ax.lines, models.values(), strict=True):
        expected = [entry.objective_without_penalties for entry in model.history_[1:]]
        np.testing.assert_array_equal(line.get_ydata(), expected)


def test_view_weights_are_shares(models, ax):
    plotting.plot_view_weights(models, ax)
    for bars, model in zip(ax.containers, models.values(), strict=True):
        share = model.view_weights_ / model.view_weights_.sum()
        np.testing.assert_allclose([bar.get_width() for bar in bars], share)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["view0", "view1", "view2"]


@pytest.mark.parametrize("cells", [300, 30])
def test_graph_is_drawn_in_blocks(models, ax, cells):
    model = models["CI-GMVC"]
    plotting.plot_graph(model.unified_graph_, model.labels_, ax, n_cells=cells)
    image = np.asarray(ax.images[0].get_array()) ** 3
    assert image.shape == (min(cells, 120),) * 2
    assert image.sum() == pytest.approx(120)
    ordered = np.sort(model.labels_)
    of_cell = ordered[(np.arange(120) * len(image) // 120).searchsorted(np.arange(len(image)))]
    # with 30 cells, the few that two clusters share may hold weight off the blocks
    assert image[of_cell[:, None] != of_cell].sum() <= (0 if cells == 300 else 12)


def test_samples_are_mapped_and_coloured(models, ax):
    model = models["GBS"]
    coordinates = plotting.map_samples(model)
    assert coordinates.shape == (120, 2)
    np.testing.assert_array_equal(coordinates, plotting.map_samples(model))
    plotting.plot_samples(coordinates, model.labels_, ax)
    colours = ax.collections[0].get_facecolors()
    assert len(np.unique(colours, axis=0)) == 3
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]


def test_axes_are_made_where_none_are_given(models):
    ax = plotting.plot_convergence(models)
    assert ax.get_legend() is not None
    mpl.pyplot.close(ax.figure)


def test_many_clusters_get_different_colours(ax):
    labels = np.arange(40)
    plotting.plot_samples(np.random.default_rng(0).random((40, 2)), labels, ax)
    assert len(np.unique(ax.collections[0].get_facecolors(), axis=0)) == 40
