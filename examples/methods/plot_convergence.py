"""
The paper's convergence figure
==============================

The paper draws the sum of the distances between the unified graph and the views' graphs, weighted
by view, against the rounds of CI-GMVC and GBS. Here it is on the built-in digits; ``manyview
reproduce`` draws it for the paper's own data.
"""

# %%
import matplotlib.pyplot as plt

from manyview import CIGMVC, GBS
from manyview.datasets import load_digits_views
from manyview.plotting import plot_convergence, plot_weight_history

data = load_digits_views()
models = {
    "CI-GMVC": CIGMVC(10, random_state=0).fit(data.views),
    "GBS": GBS(10, random_state=0).fit(data.views),
}
for name, model in models.items():
    print(f"{name}: {model.n_iter_} rounds, stopped because of {model.stop_reason_}")

# %%
# The sum settles after a few rounds. It may rise on the way, since it is only a part of the
# objective, and since the weight of the rank constraint doubles from round to round, until the
# graph falls into ten components. Then the loop stops.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
plot_convergence(models, left)
plot_weight_history(models["CI-GMVC"], ax=right)

# %%
# Components of the unified graph, and the weight of the rank constraint, per round:
for entry in models["CI-GMVC"].history_:
    print(f"round {entry.round}: {entry.n_components:2} components, lambda {entry.lambda_:g}")
