"""
CI-GMVC step by step
====================

Twelve samples in two groups and three views. In the third view, two samples are in the other group.
The method splits each view's graph S into a part A that the views share and a rest E.
"""

# %%
# Step 1: a graph per view
# ------------------------
# Edges go from each sample to its nearest neighbours; a darker line is a heavier edge.
import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import coo_array

from manyview import CIGMVC

rng = np.random.default_rng(2)
group = np.repeat([0, 1], 6)
centres = np.column_stack([4.0 * group, np.zeros(12)])
views = {name: centres + rng.normal(0, 0.7, (12, 2)) for name in ("first", "second", "third")}
views["third"][[4, 10], 0] += [4.0, -4.0]  # these two are in the other group there
places = views["first"]
model = CIGMVC(2, n_neighbors=4, scaling="none", random_state=0).fit(views)


def draw(ax, graph, title, color="C0"):
    """The edges of a graph at the places of the first view."""
    edges = coo_array((graph + graph.T) / 2)
    for i, j, weight in zip(*edges.coords, edges.data, strict=True):
        if i < j:
            ax.plot(*places[[i, j]].T, color=color, alpha=min(1, 3 * weight), linewidth=2, zorder=0)
    ax.scatter(*places.T, c=np.where(group, "C1", "C2"), s=90, edgecolors="black")
    for i in (4, 10):
        ax.annotate(str(i), places[i], ha="center", va="center", fontsize=8)
    ax.set_title(title)
    ax.set_axis_off()


figure, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
for ax, name, graph in zip(axes, views, model.view_graphs_, strict=True):
    draw(ax, graph, f"S of the {name} view")

# %%
# Samples are drawn at their places in the first view. The long edges in the third picture are those
# of samples 4 and 10, which the third view puts on the other side.
#
# Step 2: what the views share, and the rest
# ------------------------------------------
# S = A + E: above the consistent part A, below the inconsistent part E. The long edges of the third
# view are in its E.
figure, axes = plt.subplots(2, 3, figsize=(9, 5.5), layout="constrained")
for column, name, same, rest in zip(
    axes.T, views, model.consistent_graphs_, model.inconsistent_graphs_, strict=True
):
    draw(column[0], same, f"A of the {name} view", "C0")
    draw(column[1], rest, f"E of the {name} view", "C3")

# %%
# Step 3: one graph, and its components
# -------------------------------------
# The unified graph U is learned from the consistent parts until it falls into two components.
figure, ax = plt.subplots(figsize=(5, 3), layout="constrained")
draw(ax, model.unified_graph_, "U")
for entry in model.history_:
    print(f"round {entry.round}: {entry.n_components} component(s)")
print("clusters:", model.labels_)

# %%
# The share of E in S, per sample of the third view, is its disagreement. It is highest for the two:
print(dict(enumerate(model.sample_disagreement_[:, 2].round(2).tolist())))
