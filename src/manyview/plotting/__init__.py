"""Figures of clusterings, drawn with matplotlib.

Every `plot_...` function takes a result of `manyview.cluster` or a fitted estimator, draws on `ax`,
or on new axes where none are given, and returns the axes. `plot_agreement` and `plot_alluvial`
compare several clusterings.

Examples
--------
>>> from matplotlib.figure import Figure
>>> from manyview import AngularCIGMVC, datasets
>>> data = datasets.make_conflict_views(60, 3, random_state=0)
>>> model = AngularCIGMVC(3, random_state=0).fit(data.views)
>>> first, second, third = Figure().subplots(3)
>>> ax = plot_samples(model, ax=first, values=model.confidence_)
>>> ax = plot_disagreement(model, second)
>>> ax = plot_weight_history(model, ax=third)
>>> len(ax.lines)
3
"""

from manyview.plotting._agreement import plot_agreement
from manyview.plotting._alluvial import draw_columns, plot_alluvial
from manyview.plotting._cluster_number import plot_cluster_number, plot_splits
from manyview.plotting._effects import AllEffects, FeatureEffect, all_effects, feature_effects
from manyview.plotting._figures import (
    plot_cluster_sizes,
    plot_convergence,
    plot_disagreement,
    plot_feature_effects,
    plot_graph,
    plot_samples,
    plot_view_weights,
    plot_weight_history,
)
from manyview.plotting._map import (
    MAX_TSNE,
    choose_some,
    graph_embedding,
    map_embedding,
    map_samples,
)

# For users; the other names are for the packages above this one.
__all__ = [
    "FeatureEffect", "feature_effects", "map_samples", "plot_agreement", "plot_alluvial",
    "plot_cluster_number", "plot_cluster_sizes", "plot_convergence", "plot_disagreement",
    "plot_feature_effects", "plot_graph", "plot_samples", "plot_splits", "plot_view_weights",
    "plot_weight_history",
]  # fmt: skip
