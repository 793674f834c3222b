"""Three tables about the same 400 samples; one of them contradicts the others on some.

Run it with ``python examples/views_that_disagree.py``.
"""

import numpy as np

from manyview import CIGMVC, GBS, SpectralAverage
from manyview.datasets import make_conflict_views
from manyview.metrics import clustering_accuracy

data = make_conflict_views(n_samples=400, n_clusters=4, view=1, share=0.3, random_state=0)

print("accuracy of")
for method in (CIGMVC, GBS, SpectralAverage):
    labels = method(n_clusters=4, random_state=0).fit_predict(data.views)
    print(f"  {method.__name__:16} {clustering_accuracy(data.target, labels):.3f}")

model = CIGMVC(n_clusters=4, random_state=0).fit(data.views)
print("how much of each sample's links the other views do not support, on average:")
for name, rest, conflict in zip(
    model.view_names_, model.inconsistent_graphs_, data.conflicts.T, strict=True
):
    set_aside = np.asarray(rest.sum(axis=1))
    told = f"{set_aside[conflict].mean():.2f} where it contradicts them, " if conflict.any() else ""
    print(f"  {name}: {told}{set_aside[~conflict].mean():.2f} where it does not")
