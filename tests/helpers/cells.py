"""MuData of cells of which each modality lacks some."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest


def quiet():
    """Without this option mudata before 0.4 warns whenever it aligns or writes modalities."""
    mudata = pytest.importorskip("mudata")
    if hasattr(mudata, "set_options"):
        return mudata.set_options(pull_on_update=False)
    return nullcontext()


def mudata_of(views, n_missing=10):
    """Cells "cell0", "cell1", ...; each view lacks `n_missing` of them.

    obsm has the view's first columns as "X_pca", a layer its double as "counts".
    """
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    rng = np.random.default_rng(1)
    parts = {}
    for name, view in views.items():
        kept = np.sort(rng.permutation(len(view))[n_missing:])
        part = anndata.AnnData(
            view[kept],
            obs=pd.DataFrame(index=[f"cell{i}" for i in kept]),
            var=pd.DataFrame(index=[f"{name}-{f}" for f in range(view.shape[1])]),
        )
        part.obsm["X_pca"] = view[kept, :4]
        part.layers["counts"] = 2 * view[kept]
        parts[name] = part
    with quiet():
        return mudata.MuData(parts)
