"""
Comparing methods
=================

The same samples, clustered by several methods, side by side. No known classes are needed.
"""

# %%
import matplotlib.pyplot as plt

import manyview
from manyview.plotting import plot_agreement, plot_alluvial

data = manyview.datasets.load_digits_views()
found = manyview.compare(data.views, 10, ["consensus", "average", "angular", "gbs"], scaling="auto")
print(found)

# %%
# How much every two of them agree, as ARI: 1 is the same clusters, 0 is chance.
figure, ax = plt.subplots(figsize=(5.5, 4.2), layout="constrained")
plot_agreement(found, ax)

# %%
# Where the samples of each cluster are in the others. Colours are those of the first column.
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
plot_alluvial(found, ax)

# %%
# Clusters that all methods find are in the data rather than in a method. If classes are known, they
# can be given, and every row is scored; no method sees them.
scored = manyview.compare(
    data.views, 10, ["consensus", "average"], scaling="auto", classes=data.target
)
print(scored)
