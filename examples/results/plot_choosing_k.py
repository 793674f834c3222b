"""
Choosing the number of clusters
===============================

manyview suggests a number, and shows the evidence. Look at it before you believe it.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np

import manyview
from manyview.plotting import plot_cluster_number, plot_splits

data = manyview.datasets.load_digits_views()
found = manyview.suggest_n_clusters(data.views, max_clusters=16)
print(found)

# %%
# **Stability**: are the same clusters found if samples are weighted at random? **Modularity**: do
# edges stay inside clusters? The score combines both, and its maximum is the suggestion.
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
plot_cluster_number(found, ax)

# %%
# How clusters split as their number grows. A box that stays whole over several columns is a group
# that does not depend on the number.
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
plot_splits(found, ax, most=12)

# %%
# Data without clusters
# ---------------------
# Noise gets a number too, since one was asked for. But it is said to have no structure, and a
# warning says so.
noise = [np.random.default_rng(v).standard_normal((300, 8)) for v in range(3)]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    nothing = manyview.suggest_n_clusters(noise, max_clusters=16)
print("structure:", nothing.has_structure)
print(caught[0].message)
