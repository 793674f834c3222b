"""
Digits in three views
=====================

1,797 images of handwritten digits: their pixels, their Fourier magnitudes, and histograms of edge
directions. Three views of the same samples, clustered together.
"""

# %%
import matplotlib.pyplot as plt

import manyview
from manyview.plotting import map_samples, plot_samples, plot_view_weights

data = manyview.datasets.load_digits_views()
for name, view in data.views.items():
    print(f"{name:10} {view.shape[0]} samples, {view.shape[1]} features")

# %%
# The default method, with ten clusters asked for:
result = manyview.cluster(data.views, n_clusters=10)
print(result)

# %%
# The map shows the clusters on the left, the digits on the right. The method has not seen these.
places = map_samples(result)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot_samples(places, result.labels, left).set_title("clusters")
plot_samples(places, data.target, right).set_title("digits")

# %%
# How much each view counts:
figure, ax = plt.subplots(figsize=(6, 2.2), layout="constrained")
plot_view_weights(result, ax)

# %%
# Since the digits are known here, the clusters can be scored. ACC is the share of images in the
# right cluster, when clusters are matched with digits as well as possible.
scores = manyview.metrics.clustering_scores(data.target, result.labels)
print({name: round(value, 3) for name, value in scores.items()})

# %%
# Each view alone, by the spectral clustering of its own graph, does worse:
for view in data.views:
    alone = manyview.SpectralView(10, view=view, scaling="auto", random_state=0)
    accuracy = manyview.metrics.clustering_accuracy(data.target, alone.fit_predict(data.views))
    print(f"{view:10} {accuracy:.3f}")
