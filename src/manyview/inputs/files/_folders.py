"""Folders that are one input: Parquet files, what Cell Ranger writes, or a Zarr store."""

from pathlib import Path


def folder_kind(path: Path) -> str:
    """The reader of a folder, by what is in it: .parquet, .zarr or 10x."""
    names = {own.name.lower() for own in path.iterdir()}
    if names & {"zarr.json", ".zgroup"}:
        return ".zarr"
    if names & {"matrix.mtx", "matrix.mtx.gz"}:
        return "10x"
    if any(name.endswith((".parquet", ".pq")) for name in names):
        return ".parquet"
    raise IsADirectoryError(
        f"{path} is a folder; expected a file, or a folder of Parquet files, of Cell Ranger "
        "(matrix.mtx, barcodes.tsv, features.tsv) or of Zarr"
    )
