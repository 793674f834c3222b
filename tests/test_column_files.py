"""Parquet, h5ad and h5mu files: named columns, named rows."""

import numpy as np
import pytest
from files import IDS, X, ad, annotated, pd, read, write_h5mu
from scipy import sparse
from scipy.sparse import csr_array

from manyview.readers import _parquet, read_views
from manyview.tables import align

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
