"""Figures of clusterings, with matplotlib; and what they show."""

from manyview.plotting._effects import FeatureEffect, feature_effects
from manyview.plotting._figures import (
    plot_cluster_number,
    plot_cluster_sizes,
    plot_convergence,
    plot_disagreement,
    plot_feature_effects,
    plot_graph,
    plot_samples,
    plot_view_weights,
    plot_weight_history,
)
from manyview.plotting._map import map_graphs, map_samples

__all__ = [
    "FeatureEffect",
    "feature_effects",
    "map_graphs",
    "map_samples",
    "plot_cluster_number",
    "plot_cluster_sizes",
    "plot_convergence",
    "plot_disagreement",
    "plot_feature_effects",
    "plot_graph",
    "plot_samples",
    "plot_view_weights",
    "plot_weight_history",
]
