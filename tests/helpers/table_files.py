"""Files of every format, for the tests of the readers."""

import bz2
import gzip
import io
import os
import warnings
import zipfile

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite, savemat
from scipy.sparse import csr_array

from manyview.inputs.files import read_views

pd = pytest.importorskip("pandas")
ad = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")
pa = pytest.importorskip("pyarrow")

X = np.array([[1.0, -2.5, 0.0], [0.0, 1e-3, 7.0], [3.0, 0.0, 1e300], [4.0, 5.0, 6.0]])
IDS = ("a", "b", "c", "d")


def write(name, content):
    with open(name, "wb") as stream:
        stream.write(content if isinstance(content, bytes) else content.encode())
    return name


def read(spec, **options):
    (table,) = read_views([spec], **options)
    return table


def dense(matrix):
    return matrix.toarray() if isinstance(matrix, csr_array) else matrix


def annotated(matrix=X, ids=IDS, prefix="g"):
    names = [f"{prefix}{j}" for j in range(matrix.shape[1])]
    return ad.AnnData(matrix, obs=pd.DataFrame(index=list(ids)), var=pd.DataFrame(index=names))


def write_h5mu(path, rna=None):
    modalities = {
        "rna": annotated() if rna is None else rna,
        "adt": annotated(X[2:0:-1, :2], ("c", "b"), "p"),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mudata's own, about its future
        mudata.MuData(modalities).write(path)


def zipped_member(content, name="in/table.csv"):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return stream.getvalue()


def zstd_compressed(content):
    stream = pa.BufferOutputStream()
    with pa.CompressedOutputStream(stream, "zstd") as compressed:
        compressed.write(content)
    return stream.getvalue().to_pybytes()


#: How text is compressed, by extension.
COMPRESS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": zstd_compressed,
    ".zip": zipped_member,
}


def write_any(path, matrix=X):
    """The matrix in the format that the extension names."""
    frame = pd.DataFrame(matrix, columns=["x", "y", "z"])
    plain, zipped = str(path).removesuffix(".gz"), str(path).endswith(".gz")
    match os.path.splitext(plain)[1]:
        case ".bz2" | ".zst" | ".zip" as end:
            mark = "\t" if ".tsv" in str(path) else ","
            write(path, COMPRESS[end](frame.to_csv(index=False, sep=mark).encode()))
        case ".feather" | ".arrow":
            frame.to_feather(path)
        case ".xlsx":
            frame.to_excel(path, index=False)
        case ".csv" | ".txt":
            frame.to_csv(path, index=False)
        case ".tsv" | ".tab":
            frame.to_csv(path, index=False, sep="\t")
        case ".parquet" | ".pq":
            frame.to_parquet(path)
        case ".npy":
            np.save(path, matrix)
        case ".npz":
            np.savez_compressed(path, x=matrix)
        case ".mat":
            savemat(path, {"x": matrix}, do_compression=True)
        case ".mtx":
            stream = io.BytesIO()
            mmwrite(stream, sparse.coo_array(matrix), precision=17)
            write(path, gzip.compress(stream.getvalue()) if zipped else stream.getvalue())
        case ".h5ad":
            annotated(matrix).write_h5ad(path)
        case ".h5mu":
            write_h5mu(path)
