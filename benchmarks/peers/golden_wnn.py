"""The weights of muon's WNN per sample and view.

muon looks for neighbours by umap's approximate search, for the widths of its kernels also by a
measure of its own. Here all pairs are compared instead, so that its weights are exact.
"""

import muon
import numpy as np
import scanpy
from anndata import AnnData
from scipy.spatial.distance import cdist


def golden(views, present, n_neighbors):
    muon.pp.nearest_neighbors = exhaustive
    modalities = {}
    for v, view in enumerate(views):
        table = modalities[f"v{v}"] = AnnData(view)
        # scanpy counts the sample itself among its neighbours
        scanpy.pp.neighbors(table, n_neighbors + 1, use_rep="X", transformer="sklearn")
        table.obsp["distances"].sort_indices()
    data = muon.MuData(modalities)
    muon.pp.neighbors(data, n_neighbors, n_multineighbors=len(views[0]) - 1)
    return {"weights": np.column_stack([data.obs[f"v{v}:mod_weight"] for v in range(len(views))])}


def exhaustive(X, n_neighbors, metric, metric_kwds, **_):
    """As `umap.umap_.nearest_neighbors`."""
    if callable(metric):
        given = metric_kwds.values()
        distances = np.array([[metric(x, y, *given) for y in X] for x in X])
    else:
        distances = cdist(X, X, metric)
    indices = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    return indices, np.take_along_axis(distances, indices, axis=1), None


if __name__ == "__main__":
    from shared import answer_golden

    answer_golden(golden)
