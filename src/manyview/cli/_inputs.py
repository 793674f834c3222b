"""The arguments of commands that read users' tables."""

from __future__ import annotations

import argparse
from typing import Any


def add_input_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "views", nargs="+", metavar="VIEW",
        help="a file, or NAME=FILE to name the view: .csv, .tsv, .parquet, .npy, .npz, .mat, .mtx, "
        ".h5ad or .h5mu; FILE:KEY takes one array of several",
    )  # fmt: skip
    parser.add_argument(
        "--id", dest="id_column", metavar="COLUMN",
        help="column that names the samples: rows of all files are joined by it, in any order, and "
        "samples may be missing from some",
    )  # fmt: skip
    parser.add_argument(
        "--drop-non-numeric", action="store_true", help="leave out columns that are not numbers"
    )
    parser.add_argument(
        "--transpose", action="store_true",
        help=".npy, .npz, .mat and .mtx files have samples in columns",
    )  # fmt: skip


def read_tables(options: argparse.Namespace) -> Any:
    from manyview.inputs import align
    from manyview.inputs.files import read_views

    return align(read_views(options.views, **_how(options)))


def read_spread_tables(options: argparse.Namespace) -> Any:
    """The same for a cluster, whose workers read Parquet files themselves."""
    from manyview.distributed import read_files

    return read_files(options.views, **_how(options))


def _how(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "id_column": options.id_column,
        "drop_non_numeric": options.drop_non_numeric,
        "transpose": options.transpose,
    }


def input_words(options: argparse.Namespace) -> list[str]:
    """The same arguments again."""
    words = list(options.views)
    words += ["--id", options.id_column] if options.id_column else []
    words += ["--drop-non-numeric"] if options.drop_non_numeric else []
    words += ["--transpose"] if options.transpose else []
    return words
