"""h5ad and h5mu files, as the other process reads them."""

import io
import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csr_array

from manyview.inputs import align
from manyview.inputs.files import _sandbox_child, read_views
from tests.helpers.table_files import (
    IDS,
    X,
    ad,
    annotated,
    pd,
    read,
    write_any,
    write_h5mu,
)

h5py = pytest.importorskip("h5py")


def test_what_is_in_an_h5ad_file(folder):
    data = annotated(sparse.csr_matrix(X))
    data.layers["counts"] = X + 1
    data.obsm["X_pca"] = X[:, :2]
    data.obsm["frame"] = pd.DataFrame({"u": [1.0, 2, 3, 4]}, index=list(IDS))
    data.obsm["counts"] = X[:, :1]
    data.obs["kind"] = pd.Categorical(["s", "t", "s", "t"])
    data.write_h5ad("x.h5ad")
    table = read("x.h5ad")
    assert isinstance(table.matrix, csr_array)
    assert (table.ids, table.features) == (IDS, ("g0", "g1", "g2"))
    np.testing.assert_array_equal(table.matrix.toarray(), X)
    assert read("x.h5ad:X").name == "X"
    assert read("x.h5ad:X_pca").features is None
    assert read("x.h5ad:frame").features == ("u",)
    np.testing.assert_array_equal(read("x.h5ad:layers/counts").matrix, X + 1)
    with pytest.raises(ValueError, match="key 'counts' is ambiguous"):
        read("x.h5ad:counts")
    with pytest.raises(ValueError, match=r"x.h5ad has no key 'umap'; expected one of 'X', "):
        read("x.h5ad:umap")


def test_h5ad_without_x(folder):
    ad.AnnData(obs=pd.DataFrame(index=list(IDS)), obsm={"p": X}).write_h5ad("x.h5ad")
    with pytest.raises(ValueError, match="has no matrix X"):
        read("x.h5ad")
    np.testing.assert_array_equal(read("x.h5ad:p").matrix, X)


def test_modalities_miss_samples(folder):
    write_h5mu("x.h5mu")
    tables = read_views(["x.h5mu"])
    assert [table.name for table in tables] == ["rna", "adt"]
    aligned = align(tables)
    assert aligned.ids == IDS
    assert aligned.present[:, 1].tolist() == [False, True, True, False]
    np.testing.assert_array_equal(aligned.views["adt"][1:3], X[1:3, :2])
    assert aligned.features["adt"] == ("p0", "p1")
    assert read("x.h5mu:adt").name == "adt"
    with pytest.raises(ValueError, match=r"x.h5mu has no modality 'atac'; expected one of 'rna'"):
        read("x.h5mu:atac")


def test_a_matrix_of_a_modality(folder):
    modality = annotated()
    modality.layers["counts"] = X + 1
    modality.obsm["X_pca"] = X[:, :2]
    modality.obsm["counts"] = X[:, :1]
    write_h5mu("x.h5mu", modality)
    table = read("x.h5mu:rna/X_pca")
    assert (table.name, table.ids, table.features) == ("rna", IDS, None)
    np.testing.assert_array_equal(table.matrix, X[:, :2])
    np.testing.assert_array_equal(read("x.h5mu:rna/layers/counts").matrix, X + 1)
    np.testing.assert_array_equal(read("x.h5mu:rna/X").matrix, X)
    named = read_views(["pca=x.h5mu:rna/X_pca", "x.h5mu:rna", "x.h5mu:adt"])
    assert [table.name for table in named] == ["pca", "rna", "adt"]
    known = "expected one of 'X', 'layers/counts', 'obsm/X_pca', 'obsm/counts'"
    with pytest.raises(ValueError, match=f"x.h5mu has no key 'umap' in 'rna'; {known}"):
        read("x.h5mu:rna/umap")
    with pytest.raises(ValueError, match=r"x.h5mu: key 'counts' in 'rna' is ambiguous; expected"):
        read("x.h5mu:rna/counts")
    with pytest.raises(ValueError, match=r"x.h5mu has no modality 'X_pca'; expected one of 'rna'"):
        read("x.h5mu:X_pca")


def test_links_lead_nowhere(folder):
    annotated().write_h5ad("x.h5ad")
    annotated().write_h5ad("y.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        del store["X"]
        store["X"] = h5py.ExternalLink("y.h5ad", "/X")
    with pytest.raises(ValueError, match=r"x.h5ad: 'X' is a link, or its numbers are in another"):
        read("x.h5ad")
    annotated().write_h5ad("x.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        store["obs/other"] = h5py.ExternalLink("y.h5ad", "/obs")
        store["obs"].attrs["_index"] = "other/_index"
    with pytest.raises(ValueError, match=r"x.h5ad: 'other' is a link, or its numbers are in anot"):
        read("x.h5ad")


@pytest.mark.parametrize(
    "value", [3.0, np.ones(4), np.ones((4, 3, 1)), np.ones((0, 3)), h5py.Empty("f8")]
)
def test_arrays_that_are_no_matrices(folder, value):
    annotated().write_h5ad("x.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        del store["X"]
        store["X"] = value
    with pytest.raises(ValueError, match=r"x.h5ad: .*(expected (a matrix|rows)|damaged)"):
        read("x.h5ad")


def test_old_sparse_files_and_frames_of_several_types(folder):
    data = annotated(sparse.csc_matrix(X))
    data.obsm["frame"] = pd.DataFrame({"u": [1, 2, 3, 4], "v": [0.5] * 4}, index=list(IDS))
    data.obsm["odd"] = pd.DataFrame({"u": pd.Categorical(list("aabb"))}, index=list(IDS))
    data.write_h5ad("x.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        attributes = store["X"].attrs
        attributes["h5sparse_format"], attributes["h5sparse_shape"] = "csc", attributes["shape"]
        for name in ("encoding-type", "encoding-version", "shape"):
            del attributes[name]
    np.testing.assert_array_equal(read("x.h5ad").matrix.toarray(), X)
    frame = read("x.h5ad:frame")
    assert frame.features == ("u", "v")
    np.testing.assert_array_equal(frame.matrix, [[1, 0.5], [2, 0.5], [3, 0.5], [4, 0.5]])
    with pytest.raises(ValueError, match="odd is a 'frame with a column of categorical'"):
        read("x.h5ad:odd")


@pytest.mark.parametrize("names", [["b", "a", "c", "d"], [7, 5, 6, 8]])
def test_categorical_names_of_h5ad_files(folder, names):
    write_any("x.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        for axis, chosen in (("obs", names), ("var", names[:3])):
            index = store[axis].attrs["_index"]
            del store[axis][index]
            group = store[axis].create_group(index)
            group.attrs["encoding-type"] = "categorical"
            group["categories"] = sorted(chosen)
            group["codes"] = np.array([sorted(chosen).index(one) for one in chosen], dtype="i1")
    table = read("x.h5ad")
    assert table.ids == tuple(map(str, names))
    assert table.features == tuple(map(str, names[:3]))
    with h5py.File("x.h5ad", "r+") as store:
        store["obs"][store["obs"].attrs["_index"]]["codes"][2] = -1
    with pytest.raises(ValueError, match=r"x.h5ad: .*names in obs have codes that stand for no"):
        read("x.h5ad")


def test_a_long_name_of_very_many_rows(folder):
    write_any("x.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        index = store["obs"].attrs["_index"]
        del store["obs"][index]
        group = store["obs"].create_group(index)
        group["categories"] = ["a" * 10**7]
        group.create_dataset("codes", (10**7,), "i1", chunks=(10**6,))
    assert os.path.getsize("x.h5ad") < 2 * 10**7
    with pytest.raises(ValueError, match=r"x.h5ad: .* takes more than .* MB of memory"):
        read("x.h5ad")


def test_categorical_names_as_anndata_writes_them(folder):
    obs = pd.DataFrame(index=pd.CategoricalIndex(["q", "p", "s", "r"]))
    ad.AnnData(X, obs=obs).write_h5ad("x.h5ad")
    assert read("x.h5ad").ids == ("q", "p", "s", "r")


def test_frames_with_missing_whole_numbers(folder):
    frame = pd.DataFrame(
        {
            "n": pd.array([1, None, -3, 4], dtype="Int64"),
            "b": pd.array([True, False, None, True], dtype="boolean"),
            "f": [0.5, 1.5, 2.5, 3.5],
        },
        index=IDS,
    )
    obs = pd.DataFrame(index=IDS)
    ad.AnnData(X, obs=obs, obsm={"e": frame}).write_h5ad("x.h5ad")
    table = read("x.h5ad:e")
    expected = [[1, 1, 0.5], [np.nan, 0, 1.5], [-3, np.nan, 2.5], [4, 1, 3.5]]
    np.testing.assert_array_equal(table.matrix, expected)
    assert table.features == ("n", "b", "f")
    with h5py.File("x.h5ad", "r+") as store:
        del store["obsm/e/n/mask"]
        store["obsm/e/n/mask"] = np.zeros(3, dtype=bool)
    with pytest.raises(ValueError, match=r"x.h5ad: .*/obsm/e/n has no mask of its shape"):
        read("x.h5ad:e")


@given(
    shape=st.lists(st.integers(0, 40), min_size=1, max_size=2),
    chunk=st.integers(1, 50),
    block=st.sampled_from([1, 64, 1000, 10**6]),
)
@settings(deadline=None)
def test_blocks_cover_an_array_once_and_cut_no_chunk(shape, chunk, block):
    class Dataset:
        chunks = (min(chunk, max(1, shape[0])),)
        dtype = np.dtype("f4")
        starts = ()

        def __getitem__(self, rows):
            self.starts = (*self.starts, rows.start)
            return array[rows]

    array = np.arange(np.prod(shape), dtype="f4").reshape(shape)
    dataset, out = Dataset(), io.BytesIO()
    dataset.shape = array.shape
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sandbox_child, "_BLOCK", block)
        _sandbox_child._send(out, {}, {"matrix": dataset})
    line, _, content = out.getvalue().partition(b"\n")
    assert json.loads(line) == {"arrays": {"matrix": [shape, "<f4"]}}
    assert content == array.tobytes()
    assert all(start % dataset.chunks[0] == 0 for start in dataset.starts)
