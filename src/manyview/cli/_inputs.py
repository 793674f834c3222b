"""Options that several commands share."""

import argparse
import shlex
from typing import Any


def add_input_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    # fmt: off
    add("views", nargs="+", metavar="VIEW",
        help="a file or folder, or NAME=FILE to name the view: .csv, .tsv, .xlsx, .parquet, "
        ".feather, .npy, .npz, .mat, .mtx, .h5ad, .h5mu, .zarr, Cell Ranger's .h5 or folder; - is "
        "standard input (CSV); FILE:KEY selects one of several arrays or sheets")
    add("--id", metavar="COLUMN",
        help="column with the ids of the samples: the rows of all files are joined by it, in any "
        "order, and samples may be missing from some files")
    add("--drop-non-numeric", action="store_true", help="leave out columns that are not numeric")
    add("--transpose", action="store_true",
        help=".npy, .npz, .mat and .mtx files have samples in columns")
    # fmt: on


def add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: %(default)s)")


def check_seed(seed: int) -> None:
    from manyview.runtime import check_integer

    check_integer("seed", seed, 0, 2**32 - 1)


def add_data_home(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-home", metavar="DIR", help="folder with the data files")


def read_tables(options: argparse.Namespace, *, on_dask: bool = False) -> Any:
    """The views; with `on_dask`, Dask workers read Parquet files themselves."""
    settings = {
        "id_column": options.id,
        "drop_non_numeric": options.drop_non_numeric,
        "transpose": options.transpose,
    }
    if on_dask:
        from manyview.distributed import read_files

        return read_files(options.views, **settings)
    from manyview.inputs import align
    from manyview.inputs.files import read_views

    return align(read_views(options.views, **settings))


def command_line(options: argparse.Namespace, *flags: str) -> str:
    """The command, with its views and those of the `flags` that have a value."""
    words = ["manyview", options.command, *getattr(options, "views", ())]
    for flag in flags:
        value = getattr(options, flag.replace("-", "_"))
        if isinstance(value, list):
            words += [f"--{flag}", *value]
        elif value is True:
            words.append(f"--{flag}")
        elif value is not False and value not in (None, ""):
            words += [f"--{flag}", str(value)]
    return shlex.join(words)
