"""Feature-barcode matrices of Cell Ranger (.h5) in the child process."""

from collections.abc import Iterator
from typing import Any

from manyview.inputs.files._child_hdf5 import member, texts
from manyview.inputs.files._child_messages import RefusedError, SentTable, encoded


def cell_ranger_tables(h5py: Any, *, path: str, **_: Any) -> Iterator[SentTable]:
    """One sparse matrix; its columns are barcodes, so it is sent as rows of its transpose."""
    with h5py.File(path, "r") as store:
        if "matrix" not in list(store):
            raise RefusedError(
                " has no group 'matrix'; expected a feature-barcode matrix of Cell Ranger 3 or "
                "later, or the extension .h5ad or .h5mu"
            )
        group, features = member(store, "matrix"), member(store, "matrix/features")
        n_features, n_barcodes = (int(n) for n in member(group, "shape")[:])
        arrays = {part: member(group, part) for part in ("data", "indices", "indptr")}
        arrays["rows"] = encoded(texts(member(group, "barcodes")))
        for part, name in (("ids", "id"), ("columns", "name"), ("types", "feature_type")):
            arrays[part] = encoded(texts(member(features, name)))
        yield {"name": "", "form": "csr", "shape": [n_barcodes, n_features]}, arrays
