"""
scikit-learn pipelines
======================

Every method is a scikit-learn estimator. scikit-learn hands one table from step to step, so
``views=`` says which of its columns are a view.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from manyview import ConsensusGraph
from manyview.datasets import load_breast_cancer_views

data = load_breast_cancer_views()
X = np.hstack(list(data.views.values()))
widths = [view.shape[1] for view in data.views.values()]
print("columns of the views:", dict(zip(data.views, widths, strict=True)))

# %%
# A pipeline
# ----------
# ``transform`` gives the embedding, which has few columns: here it feeds a classifier that gets
# classes for some of the samples.
embed = ConsensusGraph(2, views=widths, random_state=0)
classify = make_pipeline(embed, LogisticRegression())
print(f"accuracy, 3 folds: {cross_val_score(classify, X, data.target, cv=3).mean():.3f}")

# %%
# The embedding
# -------------
embedding = embed.fit_transform(X)
figure, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
ax.scatter(*embedding[:, 1:3].T, c=data.target, cmap="coolwarm", s=10)
ax.set(xlabel=embed.get_feature_names_out()[1], ylabel=embed.get_feature_names_out()[2])

# %%
# Cloning and parameters
# ----------------------
again = clone(embed).set_params(n_neighbors=10)
print(again)
