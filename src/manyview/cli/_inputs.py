"""Options that several commands share."""

import argparse
from typing import Any


def add_input_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "views", nargs="+", metavar="VIEW",
        help="a file, or NAME=FILE to name the view: .csv, .tsv, .parquet, .npy, .npz, .mat, .mtx, "
        ".h5ad or .h5mu; FILE:KEY selects one of several arrays",
    )  # fmt: skip
    parser.add_argument(
        "--id", dest="id_column", metavar="COLUMN",
        help="column with the ids of the samples: the rows of all files are joined by it, in any "
        "order, and samples may be missing from some files",
    )  # fmt: skip
    parser.add_argument(
        "--drop-non-numeric", action="store_true", help="leave out columns that are not numeric"
    )
    parser.add_argument(
        "--transpose", action="store_true",
        help=".npy, .npz, .mat and .mtx files have samples in columns",
    )  # fmt: skip


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
        "id_column": options.id_column,
        "drop_non_numeric": options.drop_non_numeric,
        "transpose": options.transpose,
    }
    if on_dask:
        from manyview.distributed import read_files

        return read_files(options.views, **settings)
    from manyview.inputs import align
    from manyview.inputs.files import read_views

    return align(read_views(options.views, **settings))


def input_words(options: argparse.Namespace) -> list[str]:
    """The same options as words of a command line."""
    words = list(options.views)
    words += ["--id", options.id_column] if options.id_column else []
    words += ["--drop-non-numeric"] if options.drop_non_numeric else []
    words += ["--transpose"] if options.transpose else []
    return words
