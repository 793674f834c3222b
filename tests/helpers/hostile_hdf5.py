"""h5ad files that would fill the memory; see `hostile_files`."""

import zlib

import numpy as np
import pytest

from tests.helpers.hostile_limits import LIMIT, MANY, MEMORY, MILLION
from tests.helpers.table_files import annotated

h5py = pytest.importorskip("h5py")


def changed(change):
    annotated().write_h5ad("x.h5ad")
    with h5py.File("x.h5ad", "r+") as store:
        change(store)
    return "x.h5ad"


def with_x(**options):
    def change(store):
        attributes = dict(store["X"].attrs)
        del store["X"]
        store.create_dataset("X", dtype="f8", **options).attrs.update(attributes)

    return changed(change)


def nothing_of_huge_shape():
    return with_x(shape=(10**9, 10**9), chunks=(100, 100)), "tables", MEMORY


def nothing_in_huge_chunks():
    return with_x(shape=(10**4, 10**4), chunks=(10**4, 10**4)), "tables", MEMORY


def many_chunks():
    """None of them is stored, and each is looked for.

    The HDF5 of h5py 3.11 needs little for that; then the shape is refused.
    """
    message = f"{LIMIT}|did not finish|crashed|shape .3000, 3000., but names for 4 rows"
    return with_x(shape=(3000, 3000), chunks=(1, 1)), "tables", message


def sparse_hdf5_of_many_columns():
    def change(store):
        del store["X"]
        group = store.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0"})
        group.attrs["shape"] = [4, 10**10]
        group.update({"data": np.ones(1), "indices": [0], "indptr": [0, 1, 1, 1, 1]})

    return changed(change), "tables", MEMORY


def many_names():
    def change(store):
        del store["obs/_index"]
        store.create_dataset("obs/_index", (10**10,), h5py.string_dtype(), chunks=(1000,))

    return changed(change), "tables", LIMIT


def long_names():
    def change(store):
        del store["obs/_index"]
        names = store.create_dataset("obs/_index", (2000,), h5py.string_dtype())
        names[:] = "a" * 10**5

    return changed(change), "tables", LIMIT


def unfolding_chunk():
    """A chunk of 32 bytes, by its declaration, that decompresses into many millions."""

    def change(store):
        dataset = store["X"]
        unfolding = zlib.compressobj(1)
        pieces = [unfolding.compress(bytes(MILLION)) for _ in range(MANY)]
        dataset.id.write_direct_chunk((0, 0), b"".join([*pieces, unfolding.flush()]))

    with_x(shape=(4, 3), chunks=(4, 3), compression="gzip")
    try:
        with h5py.File("x.h5ad", "r+") as store:
            change(store)
    except OSError as error:
        pytest.skip(f"this version of HDF5 doesn't write such a file: {error}")
    return "x.h5ad", "tables", "not a readable h5ad file"
