"""Matrices of MuData and AnnData as views."""

import numpy as np
import pandas as pd
import pytest

import manyview
from manyview.inputs import aligned_tables
from tests.helpers.blobs import blobs
from tests.helpers.cells import mudata_of

ad = pytest.importorskip("anndata")
X = np.arange(12.0).reshape(4, 3)
IDS = ("a", "b", "c", "d")


@pytest.fixture
def cells():
    data = ad.AnnData(X, obs=pd.DataFrame(index=list(IDS)))
    data.layers["counts"] = X + 1
    data.layers["both"] = X + 2
    data.obsm["X_pca"] = X[:, :2]
    data.obsm["both"] = pd.DataFrame({"u": [4.0, 3, 2, 1]}, index=list(IDS))
    return data


@pytest.fixture(scope="module")
def mdata():
    return mudata_of(blobs().views)


def test_a_dict_names_the_views_of_an_anndata(cells):
    tables = aligned_tables(cells, {"genes": "X_pca", "u": "obsm/both", "all": "X"})
    assert list(tables.views) == ["genes", "u", "all"]
    np.testing.assert_array_equal(tables.views["genes"], X[:, :2])
    assert tables.features == {"genes": ("0", "1"), "u": ("u",), "all": ("0", "1", "2")}
    assert tables.ids == IDS


def test_a_list_names_them_by_their_place(cells):
    tables = aligned_tables(cells, ["counts", "layers/both"])
    np.testing.assert_array_equal(tables.views["counts"], X + 1)
    np.testing.assert_array_equal(tables.views["layers/both"], X + 2)


def test_a_dict_chooses_a_matrix_per_modality(mdata):
    chosen = {"view0": "X_pca", "view2": "counts"}
    tables = aligned_tables(mdata, chosen)
    assert list(tables.views) == ["view0", "view2"]
    rows = [tables.ids.index(name) for name in mdata.mod["view0"].obs_names]
    np.testing.assert_array_equal(tables.views["view0"][rows], mdata.mod["view0"].obsm["X_pca"])
    rows = [tables.ids.index(name) for name in mdata.mod["view2"].obs_names]
    np.testing.assert_array_equal(tables.views["view2"][rows], mdata.mod["view2"].layers["counts"])
    apart = aligned_tables(dict(mdata.mod), chosen)
    np.testing.assert_array_equal(apart.views["view0"], tables.views["view0"])


def test_models_find_chosen_matrices(mdata):
    chosen = {"view0": "X_pca", "view2": "X"}
    result = manyview.cluster(mdata, 3, views=chosen)
    found = result.model().predict(mdata, views=chosen)
    np.testing.assert_array_equal(found.labels, result.labels)


EVERYTHING = "expected one of 'X', 'layers/counts', 'layers/both', 'obsm/X_pca', 'obsm/both'"


@pytest.mark.parametrize(
    ("views", "message"),
    [
        (["umap"], f"views has 'umap'; {EVERYTHING}$"),
        ({"genes": "umap"}, f"views has 'umap' for 'genes'; {EVERYTHING}$"),
        ({"genes": 3}, f"views has 3 for 'genes'; {EVERYTHING}$"),
        (["both"], "'both', a layer and in obsm; expected 'layers/both' or 'obsm/both'$"),
        ("X_pca", "views='X_pca'; expected a list of names"),
    ],
)
def test_names_that_are_unknown_or_of_two(cells, views, message):
    with pytest.raises(ValueError, match=message):
        aligned_tables(cells, views)


def test_unknown_names_of_a_mudata(mdata):
    with pytest.raises(ValueError, match=r"'umap' for 'view0'; expected one of 'X', 'layers/count"):
        aligned_tables(mdata, {"view0": "umap"})
    with pytest.raises(ValueError, match=r"'rna'; expected some of the modalities .*'view0'"):
        aligned_tables(mdata, {"rna": "X_pca"})


def test_without_x():
    data = ad.AnnData(obs=pd.DataFrame(index=list(IDS)), obsm={"p": X})
    with pytest.raises(ValueError, match="view 'X' has no X; expected one of 'obsm/p'"):
        aligned_tables(data)
    assert list(aligned_tables(data, ["p"]).views) == ["p"]
