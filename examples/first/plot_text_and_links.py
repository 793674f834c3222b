"""
Text and links
==============

Web pages have words, and links to each other. Both views are sparse counts. Here 400 pages on four
topics are generated: words and links follow the topic, but neither does so alone with much force.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array

import manyview
from manyview.plotting import plot_feature_effects, plot_graph

rng = np.random.default_rng(0)
n_pages, n_topics, n_words = 400, 4, 600
topic = rng.integers(0, n_topics, n_pages)

# Every topic uses some of the words a little more often than the others do.
favour = np.ones((n_topics, n_words))
for t in range(n_topics):
    favour[t, t * 60 : t * 60 + 60] = 3.0
words = csr_array(
    np.vstack([rng.multinomial(80, favour[t] / favour[t].sum()) for t in topic]).astype(float)
)
# Pages link to pages of the same topic about five times as often as to others.
chance = np.where(topic[:, None] == topic, 0.05, 0.01)
links = csr_array((rng.random((n_pages, n_pages)) < chance).astype(float))
print(f"{words.sum(axis=1).mean():.0f} words and {links.sum(axis=1).mean():.1f} links per page")

# %%
# Sparse matrices need no preparation: ``scaling="auto"`` takes them for counts, and weighs rare
# words and rarely linked pages more.
result = manyview.cluster({"words": words, "links": links}, n_clusters=n_topics)
print(result)
print("scaling of the views:", result.estimator.view_scalings_)
accuracy = manyview.metrics.clustering_accuracy
print(f"both views:  {accuracy(topic, result.labels):.3f}")
for name, view in {"words": words, "links": links}.items():
    alone = manyview.cluster({name: view}, n_clusters=n_topics)
    print(f"{name} alone: {accuracy(topic, alone.labels):.3f}")

# %%
# The graphs of both views, with pages ordered by cluster. Blocks on the diagonal are pages that
# are similar within their cluster.
figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for name, ax in zip(result.view_names, axes, strict=True):
    plot_graph(result, view=name, ax=ax).set_title(name)

# %%
# What sets the first cluster apart; words are numbered here, with data frames they have names.
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
plot_feature_effects(result, ax, cluster=0, view="words")
