"""What Cell Ranger writes: folders and .h5 files."""

import gzip
import io
import os

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite

from manyview.inputs import align
from manyview.inputs.files import _limits, read_views
from tests.helpers.table_files import read, write

h5py = pytest.importorskip("h5py")

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(0.7, (6, 5))  # cells x features
BARCODES = [f"{letters}-1" for letters in ("AAC", "AAG", "CCA", "GGT", "TTA", "TTC")]
FEATURES = [
    ("ENSG1", "CD3E", "Gene Expression"),
    ("CD3", "CD3", "Antibody Capture"),
    ("ENSG2", "TBCE", "Gene Expression"),
    ("ENSG3", "TBCE", "Gene Expression"),
    ("CD4", "CD4", "Antibody Capture"),
]
GENES, PROTEINS = [0, 2, 3], [1, 4]


def write_folder(folder, end=".gz", features="features.tsv", columns=3):
    os.makedirs(folder)
    stream = io.BytesIO()
    mmwrite(stream, sparse.coo_array(COUNTS.T))
    rows = "".join("\t".join(row[:columns]) + "\n" for row in FEATURES)
    for name, content in {
        "matrix.mtx": stream.getvalue(),
        "barcodes.tsv": "".join(f"{code}\n" for code in BARCODES).encode(),
        features: rows.encode(),
    }.items():
        write(f"{folder}/{name}{end}", gzip.compress(content) if end else content)
    return folder


def write_h5(path):
    matrix = sparse.csc_array(COUNTS.T)
    with h5py.File(path, "w") as store:
        group = store.create_group("matrix")
        for part in ("data", "indices", "indptr", "shape"):
            group[part] = getattr(matrix, part)
        group["barcodes"] = np.array(BARCODES, dtype="S")
        for name, values in zip(
            ("id", "name", "feature_type"), zip(*FEATURES, strict=True), strict=True
        ):
            group[f"features/{name}"] = np.array(values, dtype="S")
    return path


@pytest.mark.parametrize("write_it", [write_folder, write_h5])
def test_every_type_of_feature_is_a_view(folder, write_it):
    path = write_it("sample.1.h5")
    tables = read_views([path])
    assert [table.name for table in tables] == ["Gene Expression", "Antibody Capture"]
    aligned = align(tables)
    assert aligned.ids == tuple(BARCODES)
    assert aligned.present.all()
    for view, columns in zip(aligned.views.values(), (GENES, PROTEINS), strict=True):
        np.testing.assert_array_equal(view.toarray(), COUNTS[:, columns])
    assert aligned.features["Gene Expression"] == ("CD3E", "TBCE (ENSG2)", "TBCE (ENSG3)")
    assert aligned.features["Antibody Capture"] == ("CD3", "CD4")
    assert read(f"adt={path}:Antibody Capture").name == "adt"
    message = rf"{path} has no features 'Peaks'; expected one of 'Gene Expression', 'Antibody"
    with pytest.raises(ValueError, match=message):
        read(f"{path}:Peaks")


def test_folders_of_older_versions(folder):
    path = write_folder("hg19", end="", features="genes.tsv", columns=2)
    table = read(path)
    assert (table.name, table.ids) == ("hg19", tuple(BARCODES))
    np.testing.assert_array_equal(table.matrix.toarray(), COUNTS)


def test_folders_that_do_not_fit_together(folder, monkeypatch):
    path = write_folder("x", end="")
    write("x/barcodes.tsv", "AAC-1\n")
    with pytest.raises(ValueError, match=r"x has a matrix of 5 features and 6 barcodes, but names"):
        read(path)
    os.remove("x/barcodes.tsv")
    with pytest.raises(ValueError, match=r"x has no barcodes.tsv; expected it beside matrix.mtx"):
        read(path)
    write("x/barcodes.tsv.gz", gzip.compress(b"AAC-1\n" * 100)[:-20])
    with pytest.raises(ValueError, match=r"barcodes.tsv.gz: not a readable TSV"):
        read(path)
    write("x/barcodes.tsv.gz", gzip.compress(b"A\n" * 10**6))
    monkeypatch.setattr(_limits, "available_memory", lambda: 10**7)
    with pytest.raises(ValueError, match=r"barcodes.tsv.gz: .* names would take .* MB of memory"):
        read(path)


def test_other_hdf5_files(folder):
    with h5py.File("x.h5", "w") as store:
        store["x"] = COUNTS
    with pytest.raises(ValueError, match=r"x.h5 has no group 'matrix'; expected .* Cell Ranger 3"):
        read("x.h5")
    write_h5("y.h5")
    with h5py.File("y.h5", "r+") as store:
        del store["matrix/features"]
        store["matrix/features"] = h5py.ExternalLink("x.h5", "/x")
    with pytest.raises(ValueError, match=r"y.h5: 'features' is a link"):
        read("y.h5")
