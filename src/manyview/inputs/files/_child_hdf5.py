"""Members of HDF5 files, and of Zarr stores, in the child process."""

from typing import Any

from manyview.inputs.files._child_messages import RefusedError


def member(group: Any, path: str) -> Any:
    """A member that is stored in this file; links are refused before they are followed."""
    found = group
    for name in path.split("/"):
        is_elsewhere = _is_hdf5(found) and found.id.links.get_info(name.encode()).type != 0
        if not is_elsewhere:
            found = found[name]
            is_elsewhere = (
                _is_hdf5(found) and is_array(found) and bool(found.external or found.is_virtual)
            )
        if is_elsewhere:
            raise RefusedError(
                f": {name!r} is a link, or its numbers are in another file; "
                "expected them in this one"
            )
    return found


def _is_hdf5(stored: Any) -> bool:
    return hasattr(stored, "id")


def is_array(stored: Any) -> bool:
    return hasattr(stored, "shape")


def texts(dataset: Any) -> list[str]:
    decoded = dataset.asstr() if _is_hdf5(dataset) and dataset.dtype.kind in "OS" else dataset
    return [str(text, "utf-8") if isinstance(text, bytes) else str(text) for text in decoded[:]]
