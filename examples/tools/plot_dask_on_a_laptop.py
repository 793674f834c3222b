"""
Dask on a laptop
================

A fit on Dask workers gives the same clusters as one without. Two workers on this machine are enough
to try it; on a cluster, only the address changes.
"""

# %%
# Two workers as threads of this process, so that this page needs no others. A script that starts
# processes needs ``if __name__ == "__main__":``.
import time

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

from manyview import ConsensusGraph
from manyview.datasets import make_latent_views

data = make_latent_views(6000, 6, random_state=0)
cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
client = Client(cluster)

# %%
# Views as Dask arrays, in blocks of rows:
remote = {name: da.from_array(view, chunks=(1500, -1)) for name, view in data.views.items()}
seconds = {}
started = time.perf_counter()
on_dask = ConsensusGraph(6, random_state=0).fit(remote, client=client)
seconds["two Dask workers"] = time.perf_counter() - started

started = time.perf_counter()
here = ConsensusGraph(6, random_state=0).fit(data.views)
seconds["no Dask"] = time.perf_counter() - started
client.close()
cluster.close()
print("same labels:", np.array_equal(on_dask.labels_, here.labels_))

# %%
# At this size there is nothing to gain, and the first fit also compiles code. Dask is for data that
# one machine cannot hold: the guide's page on Dask has what was measured.
figure, ax = plt.subplots(figsize=(5, 2), layout="constrained")
ax.barh(list(seconds), list(seconds.values()))
ax.set(xlabel="seconds")
