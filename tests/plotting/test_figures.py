"""Figures of fitted models."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import manyview
from manyview import CIGMVC, GBS, datasets, plotting
from manyview.plotting import FeatureEffect

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


@pytest.mark.parametrize("bins", [300, 30])
def test_graph_is_drawn_in_blocks(models, ax, bins):
    model = models["CI-GMVC"]
    plotting.plot_graph(model.unified_graph_, model.labels_, ax, n_bins=bins)
    image = np.asarray(ax.images[0].get_array()) ** 3
    assert image.shape == (min(bins, 120),) * 2
    assert image.sum() == pytest.approx(120)
    ordered = np.sort(model.labels_)
    of_bin = ordered[(np.arange(120) * len(image) // 120).searchsorted(np.arange(len(image)))]
    # with 30 bins, the few that two clusters share may hold weight off the blocks
    assert image[of_bin[:, None] != of_bin].sum() <= (0 if bins == 300 else 12)


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


def test_samples_can_be_coloured_by_a_value(models):
    model = models["CI-GMVC"]
    values = model.sample_disagreement_[:, 0].copy()
    values[5] = np.nan
    coordinates = np.random.default_rng(0).random((120, 2))
    ax = mpl.figure.Figure().add_subplot()
    plotting.plot_samples(coordinates, model.labels_, ax, values=values, value_name="$a$")
    points = ax.collections[0]
    drawn = points.get_array()
    order = [
        np.flatnonzero((coordinates == place).all(axis=1))[0] for place in points.get_offsets()
    ]
    np.testing.assert_array_equal(drawn.filled(np.nan), values[order])
    assert np.ma.is_masked(drawn)
    assert drawn[-1] == np.nanmax(values)  # on top
    assert ax.figure.axes[1].get_ylabel() == r"\$a\$"


def test_cluster_sizes_are_counted(ax):
    plotting.plot_cluster_sizes([0, 2, 2, 1, 2], ax, confidence=[1.0, 0.5, 0.25, 0.5, 0.75])
    assert [bar.get_width() for bar in ax.patches] == [1, 1, 3]
    assert [text.get_text() for text in ax.texts] == ["1 (1.00)", "1 (0.50)", "3 (0.50)"]


def test_many_cluster_sizes_have_no_numbers(ax):
    plotting.plot_cluster_sizes(np.arange(100), ax)
    assert len(ax.patches) == 100
    assert len(ax.texts) == 0


@pytest.mark.parametrize("bins", [600, 7])
def test_disagreement_is_ordered_and_binned(ax, bins):
    labels = np.array([1, 0, 0, 1, 1, 0, 0, 0, 1, 0])
    values = np.column_stack([np.arange(10) / 10, np.full(10, np.nan)])
    model = SimpleNamespace(sample_disagreement_=values, labels_=labels, view_names_=["a", "$b$"])
    plotting.plot_disagreement(model, ax, n_bins=bins)
    image = ax.images[0].get_array()
    assert image.shape == (2, min(10, bins))
    assert image[1].mask.all()
    expected = np.concatenate([values[labels == 0, 0], values[labels == 1, 0]])
    of_bin = np.arange(10) * len(image[0]) // 10
    means = [expected[of_bin == b].mean() for b in range(len(image[0]))]
    np.testing.assert_allclose(image[0], means)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", r"\$b\$"]


def test_weights_are_shown_round_by_round(models, ax):
    model = models["CI-GMVC"]
    plotting.plot_weight_history(model.history_, ["_x", "y", "z" * 99], ax)
    for v, line in enumerate(ax.lines):
        expected = [entry.view_weights[v] / sum(entry.view_weights) for entry in model.history_]
        np.testing.assert_allclose(line.get_ydata(), expected)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["_x", "y", "z" * 19 + "…"]


def test_feature_effects_have_their_sign(ax):
    effects = [FeatureEffect("<b>", 2.5, 3.0, 0.5), FeatureEffect("$x$", -1.25, 0.0, 1.0)]
    plotting.plot_feature_effects(effects, ax)
    assert [bar.get_width() for bar in ax.patches] == [2.5, -1.25]
    assert [text.get_text() for text in ax.texts] == ["+2.50", "-1.25"]
    for bar in ax.patches:  # the colours of clusters would say something else
        red, green, blue, _ = bar.get_facecolor()
        assert red == green == blue
    assert [label.get_text() for label in ax.get_yticklabels()] == ["<b>", r"\$x\$"]


PLOTS = {
    "plot_samples": {},
    "plot_cluster_sizes": {},
    "plot_convergence": {},
    "plot_view_weights": {},
    "plot_weight_history": {},
    "plot_graph": {"view": "view1"},
    "plot_disagreement": {},
    "plot_feature_effects": {"cluster": 1, "view": "view1", "top": 3},
    "plot_cluster_number": {},
    "plot_splits": {},
}


@pytest.fixture(scope="module")
def result():
    data = datasets.make_conflict_views(120, 3, random_state=0)
    frames = {name: pd.DataFrame(view).add_prefix("f") for name, view in data.views.items()}
    return manyview.cluster(frames, method="cigmvc")


@pytest.mark.parametrize("kind", ["result", "estimator"])
@pytest.mark.parametrize("name", PLOTS)
def test_every_figure_takes_a_result_or_an_estimator(name, kind, result, ax):
    """And draws the same for both."""
    model = result if kind == "result" else result.estimator
    assert getattr(plotting, name)(model, ax=ax, **PLOTS[name]) is ax
    assert ax.lines or ax.collections or ax.patches or ax.images


def test_those_are_all_figures():
    of_several = {"plot_agreement", "plot_alluvial"}  # which compare clusterings
    found = {name for name in plotting.__all__ if name.startswith("plot_")}
    assert set(PLOTS) == found - of_several


def test_figures_of_results_show_what_the_result_has(result, ax):
    plotting.plot_feature_effects(result, ax, cluster=2, view="view0", top=4)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == 4
    assert set(names) <= set(result.tables.features["view0"])
    again = mpl.figure.Figure().add_subplot()
    plotting.plot_graph(result, ax=again)
    expected = mpl.figure.Figure().add_subplot()
    plotting.plot_graph(result.estimator.unified_graph_, result.labels, expected)
    np.testing.assert_array_equal(again.images[0].get_array(), expected.images[0].get_array())


def test_figures_say_what_a_model_has_not(result, ax):
    plain = GBS(3).fit(datasets.make_blob_views(60, 3, random_state=0).views)
    for plot, said in (
        (lambda: plotting.plot_disagreement(plain, ax), "GBS has no sample_disagreement_"),
        (lambda: plotting.plot_splits(plain, ax), "GBS has no cluster_number_"),
        (lambda: plotting.plot_graph(plain, ax=ax, view="x"), "view='x'; expected one of view0"),
        (lambda: plotting.plot_feature_effects(result, ax, cluster=9), "cluster=9; expected a nu"),
    ):
        with pytest.raises(ValueError, match=said):
            plot()
