"""
A million samples
=================

Time and memory of whole fits from 50,000 to a million samples. These figures were measured once, by
``make bench-scale`` on 2 cores; this page only draws them. The table is on the page "Time and
memory".
"""

# %%
# `ConsensusGraph`, the default, on three generated views of 32, 48 and 64 features, ten clusters:
import matplotlib.pyplot as plt
import numpy as np

import manyview

samples = np.array([50_000, 100_000, 300_000, 1_000_000])
stages = {
    "graphs": [1.2, 2.7, 9.3, 42.3],
    "fusion": [0.4, 0.7, 2.1, 9.5],
    "eigenvectors": [0.7, 1.4, 6.0, 25.1],
}
whole = np.array([3.8, 7.2, 22.9, 98.6])
peak = np.array([0.61, 0.81, 1.66, 4.50])

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for name, values in stages.items():
    left.loglog(samples, values, "o-", label=name)
left.loglog(samples, whole, "ks-", label="whole fit")
left.set(xlabel="samples", ylabel="seconds")
left.legend(frameon=False)
right.loglog(samples, peak, "ks-")
right.set(xlabel="samples", ylabel="peak memory, GiB")
slope = np.polyfit(np.log(samples), np.log(whole), 1)[0]
print(f"time grows with the number of samples to the power of {slope:.2f}")

# %%
# A fit that would not fit into memory is refused before it starts, with what it would need:
small = manyview.datasets.make_latent_views(30_000, 10, random_state=0)
try:
    with manyview.memory_limit(50 * 2**20):  # as if this machine had 50 MiB left
        manyview.CIGMVC(10).fit(small.views)
except MemoryError as error:
    print(error)
