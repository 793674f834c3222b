"""
Tables in mixed units
=====================

A table of patients has millimetres, years and grams beside each other. Without scaling, the column
with the largest numbers decides alone who is similar to whom.
"""

# %%
# Three clusters in six columns, and the same columns in other units:
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import manyview

data = manyview.datasets.make_blob_views(300, 3, widths=(6, 5), separation=5, random_state=1)
body = pd.DataFrame(
    data.views["view0"] * [1, 40, 0.02, 1, 300, 5] + [50, 1700, 1, 37, 70000, 80],
    columns=["age", "height", "width", "temperature", "weight", "pulse"],
)
blood = pd.DataFrame(
    np.exp(data.views["view1"]), columns=["iron", "zinc", "sugar", "salt", "fat"]
)  # such measures have long tails
print(body.describe().loc[["mean", "std"]].round(2))

# %%
# ``scaling="auto"``, the default, finds measurements in few columns: it takes logarithms where the
# tail is long, and gives every column the same variance. "none" leaves the numbers as they are; a
# warning then says that the clusters are doubtful.
warnings.simplefilter("ignore", UserWarning)  # printed below
for scaling in ("none", "auto"):
    result = manyview.cluster({"body": body, "blood": blood}, n_clusters=3, scaling=scaling)
    accuracy = manyview.metrics.clustering_accuracy(data.target, result.labels)
    print(f"{scaling}: {result.estimator.view_scalings_}, accuracy {accuracy:.3f}")
    print(*(f"  {text[:78]} ..." for text in result.warnings), sep="\n")

# %%
# Two of the columns, coloured by the clusters of the last fit:
figure, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
ax.scatter(body["age"], body["weight"], c=result.labels, cmap="tab10", s=12)
ax.set(xlabel="age, years", ylabel="weight, grams")
