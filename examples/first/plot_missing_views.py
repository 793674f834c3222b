"""
Missing views
=============

Not every patient has every test. Samples that lack a view are clustered from the views they have:
nothing is imputed, and nobody is left out.
"""

# %%
# Data frames are joined by their index. Each of these lacks about 30 % of the samples; everyone is
# in one of them at least.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import manyview
from manyview.metrics import clustering_accuracy

data = manyview.datasets.load_digits_views()
rng = np.random.default_rng(0)
present = rng.random((data.n_samples, 3)) > 0.3
present[~present.any(axis=1), 0] = True
frames = {
    name: pd.DataFrame(view).loc[present[:, v]] for v, (name, view) in enumerate(data.views.items())
}
frames = {
    name: frame.set_index("image " + frame.index.astype(str)) for name, frame in frames.items()
}
print({name: len(frame) for name, frame in frames.items()})

# %%
result = manyview.cluster(frames, n_clusters=10)
print(result)

# %%
# Samples come in the order in which the tables name them, so join by index, not by position:
digits = pd.Series(data.target, index=[f"image {i}" for i in range(data.n_samples)])
table = result.to_frame().join(digits.rename("digit"))
print(f"accuracy {clustering_accuracy(table['digit'], table['cluster']):.3f}", end=", ")
whole = manyview.cluster(data.views, n_clusters=10)
print(f"with complete views {clustering_accuracy(data.target, whole.labels):.3f}")

# %%
# Who has more views is clustered more surely. Confidence is the share of a sample's neighbours, in
# all views that have it, which are in its cluster.
n_views = result.tables.present.sum(axis=1)
figure, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.boxplot([result.confidence[n_views == count] for count in (1, 2, 3)], showfliers=False)
ax.set(xlabel="views that the sample has", ylabel="confidence")
