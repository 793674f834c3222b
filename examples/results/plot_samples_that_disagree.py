"""
Samples that disagree
=====================

Three views of the same 400 samples. In one view 30 % of the samples look like members of another
cluster. CI-GMVC finds the clusters all the same, and its disagreement scores find these samples.
"""

# %%
# Data in which we know who disagrees
# -----------------------------------
import matplotlib.pyplot as plt

from manyview import CIGMVC, SpectralAverage, SpectralView
from manyview.datasets import make_conflict_views
from manyview.metrics import clustering_accuracy
from manyview.plotting import plot_disagreement

data = make_conflict_views(n_samples=400, n_clusters=4, view=1, share=0.3, random_state=0)
models = {
    "view1 alone": SpectralView(4, view="view1", random_state=0),
    "average graph": SpectralAverage(4, random_state=0),
    "CI-GMVC": CIGMVC(4, random_state=0),
}
for name, model in models.items():
    labels = model.fit_predict(data.views)
    print(f"{name:14} accuracy {clustering_accuracy(data.target, labels):.3f}")

# %%
# Who disagrees
# -------------
# One row per view, one column per sample, ordered by cluster. Bright: the other views do not have
# the sample's edges. The bright right end of each cluster in the row of ``view1`` is the 30 %.
model = models["CI-GMVC"]
figure, ax = plt.subplots(figsize=(8, 2.6), layout="constrained")
plot_disagreement(model, ax)

# %%
# The scores of the samples in conflict, and of all others:
scores, in_conflict = model.sample_disagreement_[:, 1], data.conflicts[:, 1]
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.hist([scores[~in_conflict], scores[in_conflict]], bins=20, label=["others", "in conflict"])
ax.set(xlabel="disagreement of view1", ylabel="samples")
ax.legend(frameon=False)
print(f"mean of the others {scores[~in_conflict].mean():.2f}, in conflict", end=" ")
print(f"{scores[in_conflict].mean():.2f}")

# %%
# A score is not 0 where views agree: two views of the same clusters still share few edges. Compare
# scores with each other, not with 0.
