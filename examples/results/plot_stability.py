"""
Stable and unstable clusters
============================

Five clusters are asked for where there are four, two of which touch. Some of what comes out holds,
some does not. Stability tells which.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import manyview
from manyview.plotting import map_samples, plot_samples

rng = np.random.default_rng(0)
centres = np.array([[0, 0], [1.8, 0], [9, 0], [0, 9]])
group = np.repeat(np.arange(4), 80)
views = {
    "first": centres[group] + 0.8 * rng.standard_normal((320, 2)),
    "second": centres[group][:, ::-1] + 0.8 * rng.standard_normal((320, 2)),
}
result = manyview.cluster(views, n_clusters=5)
stability = result.estimator.cluster_stability_
for cluster, value in enumerate(stability):
    print(f"cluster {cluster}: {np.sum(result.labels == cluster):3} samples, stability {value:.2f}")

# %%
# Stability is 1 if a cluster is found again whenever samples are weighted at random, and 0 if it is
# found no more often than by chance.
places = map_samples(result)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
plot_samples(places, result.labels, left).set_title("five clusters")
plot_samples(
    places, result.labels, right, values=result.stability, value_name="stability"
).set_title("how well they hold")

# %%
# With the number that is suggested, all of them hold better:
suggested = manyview.cluster(views, "auto")
print(f"{suggested.n_clusters} clusters, lowest stability", end=" ")
print(f"{suggested.estimator.cluster_stability_.min():.2f}")
