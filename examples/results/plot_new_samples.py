"""
New samples and novelty
=======================

New samples are put into the clusters that were found, without clustering again. Those that are
unlike anything known are said to be so.
"""

# %%
# Four fifths of the digits are clustered, the last fifth is new.
import matplotlib.pyplot as plt
import numpy as np

import manyview
from manyview.metrics import clustering_accuracy

data = manyview.datasets.load_digits_views()
old = {name: view[:1440] for name, view in data.views.items()}
new = {name: view[1440:] for name, view in data.views.items()}
result = manyview.cluster(old, n_clusters=10)
found = result.predict(new)
print(found)
print(f"accuracy of the old {clustering_accuracy(data.target[:1440], result.labels):.3f}", end=", ")
print(f"of the new {clustering_accuracy(data.target[1440:], found.labels):.3f}")

# %%
# A view may be missing from the new samples, at the price of some accuracy:
for name in new:
    some = result.predict({name: new[name]})
    print(f"{name:10} alone: {clustering_accuracy(data.target[1440:], some.labels):.3f}")

# %%
# Samples from elsewhere: images of one bright pixel, and images of noise. Novelty above 1 means
# outside: more than twice as far from known samples as these usually are from each other. The
# single pixels are. The noise is farther than the new digits, but not outside: the limit is wide,
# so novelty near 1 deserves a look too.
strange = {
    "new digits": new["pixels"],
    "noise": np.random.default_rng(0).uniform(0, 16, (200, 64)),
    "one pixel": 16 * np.eye(64),
}
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for name, pixels in strange.items():
    found = result.predict({"pixels": pixels})
    ax.hist(found.novelty, np.linspace(0, 2, 41), label=name, alpha=0.8)
    print(f"{name}: {found}")
ax.axvline(1, color="0.4", linestyle="--")
ax.set(xlabel="novelty", ylabel="samples")
ax.legend(frameon=False)
