"""Zarr stores of AnnData and MuData in the child process: laid out as their HDF5 files."""

import os
from collections.abc import Iterator
from typing import Any

from manyview.inputs.files._child_messages import RefusedError, SentTable
from manyview.inputs.files._sandbox_child import annotated_tables


def zarr_tables(zarr: Any, *, path: str, key: str | None, **_: Any) -> Iterator[SentTable]:
    from numcodecs.registry import codec_registry

    codec_registry.pop("pickle", None)  # would run what is in the store
    _refuse_links(path)
    options = {}
    if hasattr(zarr, "config"):  # from version 3 on
        zarr.config.set({"threading.max_workers": 1, "async.concurrency": 1})  # threads take memory
        options["use_consolidated"] = False  # what each member says of itself counts
    store = zarr.open_group(path, mode="r", **options)
    yield from annotated_tables(store, key, has_modalities="mod" in list(store))


def _refuse_links(path: str) -> None:
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            if os.path.islink(os.path.join(folder, name)):
                raise RefusedError(f": {name!r} is a link; expected all files in the folder itself")
