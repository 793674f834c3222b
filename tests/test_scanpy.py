"""Real scanpy on what `ClusterResult.add_to` writes; `make test-scanpy` installs it."""

import warnings

import numpy as np
import pytest

import manyview
from tests.helpers.blobs import blobs
from tests.helpers.cells import mudata_of, quiet

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the packages that scanpy imports
    sc = pytest.importorskip("scanpy")
from sklearn.metrics import adjusted_rand_score

pytestmark = pytest.mark.filterwarnings("ignore")
LEIDEN = {"flavor": "igraph", "n_iterations": 2, "directed": False}


@pytest.fixture(scope="module", params=["AnnData", "MuData", "h5ad"])
def data(request, tmp_path_factory):
    """Clustered cells, in memory or read from a file; those of a MuData lack modalities."""
    with quiet():
        cells = mudata_of(blobs().views)
        cells = cells if request.param == "MuData" else cells.mod["view0"]
        manyview.cluster(cells, 3).add_to(cells)
    if request.param == "h5ad":
        path = tmp_path_factory.mktemp("cells") / "cells.h5ad"
        cells.write_h5ad(path)
        cells = sc.read_h5ad(path)
    return cells


def test_umap_places_clusters_apart(data):
    sc.tl.umap(data, neighbors_key="manyview")
    points, labels = data.obsm["X_umap"], data.obs["manyview"].astype(int).to_numpy()
    centres = np.array([points[labels == label].mean(axis=0) for label in range(3)])
    nearest = np.linalg.norm(points[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == labels).mean() > 0.95


def test_leiden_finds_the_clusters(data):
    sc.tl.leiden(data, neighbors_key="manyview", key_added="leiden", resolution=0.5, **LEIDEN)
    assert adjusted_rand_score(data.obs["manyview"], data.obs["leiden"]) > 0.9


def test_other_tools_read_the_graph(data):
    sc.tl.diffmap(data, neighbors_key="manyview")
    assert np.isfinite(data.obsm["X_diffmap"]).all()
    # Clusters may have no edges between them, which PAGA does not take.
    sc.tl.leiden(data, neighbors_key="manyview", key_added="parts", resolution=3, **LEIDEN)
    sc.tl.paga(data, groups="parts", neighbors_key="manyview")
    assert data.uns["paga"]["connectivities"].nnz > 0


def test_figures_read_the_columns(data):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    sc.tl.umap(data, neighbors_key="manyview")
    colours = ["manyview", "manyview_confidence"]
    assert len(sc.pl.umap(data, color=colours, show=False)) == 2
    sc.pl.embedding(data, "X_manyview", color="manyview", show=False)
    assert len(data.uns["manyview_colors"]) == 3  # categories, not a scale of numbers
    genes = data.mod["view0"] if hasattr(data, "mod") else data
    sc.tl.rank_genes_groups(genes, "manyview")
    drawn = sc.pl.dotplot(genes, list(genes.var_names[:2]), groupby="manyview", show=False)
    assert [text.get_text() for text in drawn["mainplot_ax"].get_yticklabels()] == ["0", "1", "2"]
