"""Zarr stores of AnnData and MuData."""

import json
import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from manyview.inputs.files import read_views
from tests.helpers.table_files import IDS, X, annotated, mudata, pd, read
from tests.inputs.files.test_read import complaint

ad = pytest.importorskip("anndata")
zarr = pytest.importorskip("zarr")

VERSIONS = [2, 3] if hasattr(ad.settings, "zarr_write_format") else [2]


@pytest.fixture(params=VERSIONS)
def version(request):
    if len(VERSIONS) == 1:
        yield request.param
        return
    before = ad.settings.zarr_write_format
    ad.settings.zarr_write_format = request.param
    yield request.param
    ad.settings.zarr_write_format = before


def write_zarr(data, path):
    shutil.rmtree(path, ignore_errors=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about versions of the format
        data.write_zarr(path)


def whole():
    data = annotated(sparse.csr_matrix(X))
    data.layers["counts"] = X + 1
    data.obsm["X_pca"] = X[:, :2]
    data.obsm["frame"] = pd.DataFrame({"u": [1.0, 2, 3, 4]}, index=list(IDS))
    data.obs["kind"] = pd.Categorical(["s", "t", "s", "t"])
    return data


def test_what_is_in_a_store(folder, version):
    write_zarr(whole(), "x.zarr")
    table = read("x.zarr")
    assert isinstance(table.matrix, sparse.csr_array)
    np.testing.assert_array_equal(table.matrix.toarray(), X)
    assert (table.name, table.ids, table.features) == ("x", IDS, ("g0", "g1", "g2"))
    frame = read("x.zarr:frame")
    assert frame.features == ("u",)
    np.testing.assert_array_equal(frame.matrix, [[1], [2], [3], [4]])
    if version == 2:
        np.testing.assert_array_equal(read("x.zarr:counts").matrix, X + 1)
        with pytest.raises(ValueError, match=r"x.zarr has no key 'umap'; expected one of 'X', "):
            read("x.zarr:umap")


def test_modalities(folder, version):
    modalities = {"rna": whole(), "adt": annotated(X[2:0:-1, :2], ("c", "b"), "p")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = mudata.MuData(modalities)
    write_zarr(data, "x.zarr")
    assert [table.name for table in read_views(["x.zarr"])] == ["rna", "adt"]
    table = read("x.zarr:adt")
    assert table.ids == ("c", "b")
    np.testing.assert_array_equal(table.matrix, X[2:0:-1, :2])


def test_links_in_a_store(folder):
    write_zarr(annotated(), "x.zarr")
    write_zarr(annotated(X + 1), "y.zarr")
    shutil.rmtree("x.zarr/X")
    os.symlink(folder / "y.zarr" / "X", "x.zarr/X")
    with pytest.raises(
        ValueError, match=r"x.zarr: 'X' is a link; expected all files in the folder"
    ):
        read("x.zarr")


class Trap:
    def __reduce__(self):
        return os.mkdir, ("opened",)


@pytest.mark.parametrize("part", ["obs/_index", "X"])
def test_pickles_in_a_store_are_not_opened(folder, part):
    """Version 2 of the format allows for them."""
    write_zarr(annotated(), "x.zarr")
    for meta in Path("x.zarr").rglob("zarr.json"):
        pytest.skip(f"{meta} is of version 3")
    from numcodecs import Pickle

    own = Path("x.zarr") / part
    about = json.loads((own / ".zarray").read_text())
    chunk = ".".join(["0"] * len(about["shape"]))
    (own / chunk).write_bytes(Pickle().encode(np.array([Trap()] * 4, dtype=object)))
    changed = {"dtype": "|O", "compressor": None, "filters": [{"id": "pickle"}], "fill_value": 0}
    (own / ".zarray").write_text(json.dumps({**about, **changed}))
    shutil.copytree("x.zarr", "before.zarr")
    with pytest.raises(ValueError, match=r"x.zarr: not a readable Zarr file"):
        read("x.zarr")
    assert sorted(os.listdir()) == ["before.zarr", "x.zarr"]


def test_names_that_lead_out_of_a_store(folder):
    write_zarr(annotated(), "y.zarr")
    write_zarr(annotated(), "x.zarr")
    (meta,) = [
        own for own in (Path("x.zarr/obs/.zattrs"), Path("x.zarr/obs/zarr.json")) if own.exists()
    ]
    text = meta.read_text()
    assert '"_index"' in text
    meta.write_text(text.replace('"_index": "_index"', '"_index": "../../y.zarr/obs/_index"'))
    assert meta.read_text() != text
    with pytest.raises(ValueError, match=r"x.zarr: not a readable Zarr file"):
        read("x.zarr")


def test_damaged_members_of_a_store(folder, version, rng):
    """Tables, or one line that names the store."""
    write_zarr(annotated(sparse.csr_matrix(X)), "x.zarr")
    files = sorted(own for own in Path("x.zarr").rglob("*") if own.is_file())
    files = [own for own in files if own.parts[1] in ("X", "obs", "zarr.json", ".zgroup")]
    for own in rng.choice(files, 3, replace=False):
        content = own.read_bytes()
        own.write_bytes(content[: len(content) // 2])
        message = complaint("x.zarr") or "x.zarr"
        assert message.startswith("x.zarr")
        assert "\n" not in message
        own.write_bytes(content)


def test_sizes_that_a_store_declares(folder):
    write_zarr(annotated(), "x.zarr")
    (meta,) = [
        own for own in (Path("x.zarr/X/.zarray"), Path("x.zarr/X/zarr.json")) if own.exists()
    ]
    about = json.loads(meta.read_text())
    meta.write_text(json.dumps({**about, "shape": [10**9, 10**9]}))
    with pytest.raises(ValueError, match=r"x.zarr: X: matrix of shape .* would take .* of memory"):
        read("x.zarr")
