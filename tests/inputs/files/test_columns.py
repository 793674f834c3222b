"""Parquet, h5ad and h5mu files: named columns, named rows."""

import os
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csr_array

from manyview.inputs._align import align
from manyview.inputs.files import _anndata as _annotated
from manyview.inputs.files import _parquet as _parquet
from manyview.inputs.files import _sandbox as _hdf5_child
from manyview.inputs.files import read_views
from tests.helpers.table_files import IDS, X, ad, annotated, pd, read, write, write_h5mu

h5py = pytest.importorskip("h5py")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def test_numbers_of_all_kinds_in_parquet(folder, monkeypatch):
    monkeypatch.setattr(_parquet, "_OPEN_COLUMNS", 3)
    from decimal import Decimal

    columns = {
        "int": pa.array([1, None], pa.int8()),
        "large": pa.array([2**63, 2**64 - 1], pa.uint64()),
        "half": pa.array(np.array([0.5, 1], dtype=np.float16)),
        "single": pa.array([0.5, np.nan], pa.float32()),
        "bool": pa.array([True, False]),
        "decimal": pa.array([Decimal("1.25"), None]),
        "coded": pa.array([7, 8]).dictionary_encode(),
        "nothing": pa.nulls(2),
    }
    pq.write_table(pa.table(columns), "x.parquet")
    table = read("x.parquet")
    nan = np.nan
    expected = [[1, 2.0**63, 0.5, 0.5, 1, 1.25, 7, nan], [nan, 2.0**64, 1, nan, 0, nan, 8, nan]]
    np.testing.assert_array_equal(table.matrix, expected)
    assert table.features == tuple(columns)


def test_text_in_parquet(folder):
    frame = pd.DataFrame({"x": [1, 2], "city": ["Oslo", "7"], "day": pd.to_datetime(["2020"] * 2)})
    frame.to_parquet("x.parquet")
    message = r"x.parquet: 2 columns are not numeric \('city', 'day'\), column 'city' is of type .*"
    with pytest.raises(ValueError, match=message + "string; .*--id.*--drop-non-numeric"):
        read("x.parquet")
    assert read("x.parquet", drop_non_numeric=True).features == ("x",)


@pytest.mark.parametrize("index", [["u", "v"], [5, 3]])
def test_the_index_of_a_data_frame_is_no_feature(folder, index):
    pd.DataFrame({"x": [1, 2]}, index=index).to_parquet("x.parquet")
    with pytest.raises(ValueError, match="column '__index_level_0__' is the index of a data frame"):
        read("x.parquet")
    assert read("x.parquet", id_column="__index_level_0__").ids == tuple(map(str, index))


def test_parquet_without_rows_or_with_twice_a_column(folder):
    pq.write_table(pa.table({"x": pa.array([], pa.float64())}), "x.parquet")
    with pytest.raises(ValueError, match=r"x.parquet has column names and no rows"):
        read("x.parquet")
    pq.write_table(pa.table([[1], [2]], names=["x", "x"]), "x.parquet")
    with pytest.raises(ValueError, match=r"x.parquet has two columns named 'x'"):
        read("x.parquet")


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


# HDF5 files are read by another process


STOPS = {
    "import os; os.abort()": "damaged: the HDF5 library crashed on it \\(signal 6\\)",
    "import ctypes; ctypes.string_at(0)": "damaged: the HDF5 library crashed on it \\(signal 11\\)",
    "raise SystemExit(3)": "the process that reads h5ad files ended with code 3",
    "print('{\"table\": ', end='')": "the process that reads h5ad files ended with code 0",
}


@pytest.mark.parametrize("program", STOPS)
def test_a_reading_process_that_ends(folder, monkeypatch, capfd, program):
    annotated().write_h5ad("x.h5ad")
    monkeypatch.setattr(_annotated, "_START", program)
    with pytest.raises(ValueError, match=f"^x.h5ad: .*{STOPS[program]}$"):
        read("x.h5ad")
    assert capfd.readouterr() == ("", "")
    assert os.listdir() == ["x.h5ad"]


def test_a_crash_in_the_middle_of_an_array(folder, monkeypatch):
    annotated().write_h5ad("x.h5ad")
    lines = [
        "import os, sys",
        "from numpy.lib import format as npy",
        "npy.header_data_from_array_1_0 = lambda array: os.abort()",
        *_annotated._START.splitlines(),
    ]
    monkeypatch.setattr(_annotated, "_START", "\n".join(lines))
    with pytest.raises(ValueError, match=r"crashed on it \(signal 6\)"):
        read("x.h5ad")


def test_a_file_that_keeps_the_library_busy(folder, monkeypatch):
    annotated().write_h5ad("x.h5ad")
    monkeypatch.setattr(_annotated, "PATIENCE", 1.0)
    busy = _annotated._START.replace(
        "main(request)", "import h5py; h5py.File = busy\nmain(request)"
    )
    busy = "def busy(*_):\n    while True: pass\n" + busy
    monkeypatch.setattr(_annotated, "_START", busy)
    with pytest.raises(ValueError, match=r"x.h5ad: .* got nowhere in 1 seconds of computing on it"):
        read("x.h5ad")


def test_no_process_is_left_behind(folder, monkeypatch):
    """After Ctrl-C, that is: whatever is raised while tables come in ends the other process."""
    annotated().write_h5ad("x.h5ad")
    started = []
    original = subprocess.Popen

    def remembered(*arguments, **named):
        started.append(original(*arguments, **named))
        return started[0]

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", remembered)
    monkeypatch.setattr(_annotated, "_fill", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read("x.h5ad")
    assert started[0].returncode is not None


def test_modules_beside_the_data_are_not_imported(folder):
    annotated().write_h5ad("x.h5ad")
    for name in ("h5py", "numpy", "json"):
        write(f"{name}.py", "open('imported', 'w')")
    assert read("x.h5ad").ids == IDS
    assert not os.path.exists("imported")


def test_links_lead_nowhere(folder):
    annotated().write_h5ad("x.h5ad")
    annotated().write_h5ad("y.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        del store["X"]
        store["X"] = h5py.ExternalLink("y.h5ad", "/X")
    with pytest.raises(ValueError, match=r"x.h5ad: 'X' is a link, or its numbers are in another"):
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


@given(
    shape=st.lists(st.integers(0, 40), min_size=1, max_size=2),
    chunk=st.lists(st.integers(1, 50), min_size=2, max_size=2),
    block=st.sampled_from([1, 64, 1000, 10**6]),
)
@settings(deadline=None)
def test_blocks_cover_an_array_once_and_cut_no_chunk(shape, chunk, block):
    chunks = [min(n, max(1, length)) for n, length in zip(chunk, shape, strict=False)]
    covered = np.zeros(shape, dtype=int)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_hdf5_child, "_BLOCK", block)
        for corner in _hdf5_child._corners(shape, chunks, 8):
            covered[tuple(slice(start, end) for start, end in corner)] += 1
            assert all(start % n == 0 for (start, _), n in zip(corner, chunks, strict=True))
            n_bytes = 8 * np.prod([end - start for start, end in corner])
            assert n_bytes <= max(block, 8 * np.prod(chunks))
    assert (covered == 1).all()
