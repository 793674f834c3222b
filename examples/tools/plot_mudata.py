"""
MuData and scanpy
=================

Cells with RNA and proteins in a MuData: cluster them, and write the clusters back. scanpy then
finds the graph under its usual names.
"""

# %%
# Cells of our own, as raw counts; with yours, begin with ``mudata.read_h5mu("cells.h5mu")``.
import warnings
from importlib.util import find_spec

import anndata
import matplotlib.pyplot as plt
import mudata
import numpy as np
import pandas as pd

import manyview

warnings.simplefilter("ignore", FutureWarning)  # of mudata
rng = np.random.default_rng(0)
n_cells, n_types = 400, 5
kind = rng.integers(0, n_types, n_cells)
depth = rng.lognormal(0, 0.3, (n_cells, 1))
genes = rng.gamma(0.3, 1.0, (n_types, 500))[kind] * depth
proteins = rng.gamma(1.0, 20.0, (n_types, 15))[kind] * rng.lognormal(0, 0.3, (n_cells, 1))
modalities = {}
for modality, rates in {"rna": genes, "protein": proteins}.items():
    counts = pd.DataFrame(rng.poisson(rates).astype(float)).add_prefix(modality)
    modalities[modality] = anndata.AnnData(counts.set_axis([f"cell{i}" for i in range(n_cells)]))
cells = mudata.MuData(modalities)

# %%
# Every modality is a view. Raw counts need no preparation: see what was chosen for each.
result = manyview.cluster(cells, n_clusters=n_types)
print(result)
print(dict(zip(result.view_names, result.estimator.view_scalings_, strict=True)))
print(f"ARI with the types: {manyview.metrics.adjusted_rand(kind, result.labels):.3f}")

# %%
# Back into the MuData: clusters in ``obs``, the embedding in ``obsm``, the graph in ``obsp``.
result.add_to(cells)
print(cells.obs.filter(like="manyview").head(3).T)
print(list(cells.obsm), list(cells.obsp))

# %%
# scanpy computes a UMAP of that graph by ``neighbors_key="manyview"``. Without scanpy, the picture
# is manyview's own map.
if find_spec("scanpy"):
    import scanpy

    scanpy.settings.verbosity = "error"  # it warns of graphs that it has not made
    scanpy.tl.umap(cells, neighbors_key="manyview", random_state=0)
    places, title = cells.obsm["X_umap"], "UMAP by scanpy"
else:
    places, title = manyview.plotting.map_samples(result), "scanpy is not installed: our own map"
figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
manyview.plotting.plot_samples(places, result.labels, ax).set_title(title)
