"""Options that several commands share."""

import argparse
import shlex
from collections.abc import Sequence
from typing import Any

from manyview.cli._terminal import warn

_LISTED = 10  # columns on the terminal; summary.json has all
_DEFAULTS = {"decimal": ".", "encoding": "utf-8"}
# Options that all commands with views need to give the same result.
_REPEATED = (
    "id", "drop", "drop-non-numeric", "categorical", "impute", "na-values", "decimal", "encoding",
    "comment", "transpose", "clusters", "neighbors", "scaling", "seed", "output",
)  # fmt: skip


def add_input_options(parser: argparse.ArgumentParser, *, model: bool = False) -> None:
    """Options that say how files are read; a `model` knows which columns hold categories."""
    add = parser.add_argument_group("input").add_argument
    # fmt: off
    add("views", nargs="+", metavar="VIEW",
        help="a file or folder, or NAME=FILE to name the view: .csv, .tsv, .xlsx, .parquet, "
        ".feather, .npy, .npz, .mat, .mtx, .h5ad, .h5mu, .zarr, Cell Ranger's .h5 or folder; - is "
        "standard input (CSV); FILE:KEY selects one of several arrays or sheets, FILE:rna/X_pca "
        "one of a modality; FILE@COLUMN is --id of this file")
    add("--id", metavar="COLUMN",
        help="column with the ids of the samples: the rows of all files are joined by it, in any "
        "order, and samples may be missing from some files")
    add("--drop", nargs="+", action="extend", default=[], metavar="COLUMN",
        help="leave out these columns")
    add("--drop-non-numeric", action="store_true",
        help="leave out columns that are not numeric, and list them")
    whose = " in the training samples" if model else ""
    add("--impute", choices=["median"],
        help=f"fill empty cells with the median of their column{whose}; without it, rows with "
        "some empty cells are refused")
    add("--na-values", nargs="+", action="extend", default=[], metavar="TEXT",
        help="further texts that are empty cells, such as '?' or '<0.5' (text and "
        ".xlsx files)")
    add("--decimal", choices=[".", ","], default=".", metavar="SIGN",
        help="decimal sign of text files, . or , (default: %(default)s)")
    add("--encoding", default="utf-8", metavar="NAME",
        help="encoding of text files, such as latin-1 (default: %(default)s)")
    add("--comment", metavar="TEXT", help="skip lines of text files that start with this")
    add("--transpose", action="store_true",
        help="files have samples in columns: text, .xlsx, .parquet and .feather files with the ids "
        "in the header and the names of the features in the first column, also .npy, .npz, .mat "
        "and .mtx")
    if not model:
        add("--categorical", nargs="+", action="extend", default=[], metavar="COLUMN",
            help="columns of categories (text, codes): each becomes a column of 0 and 1 per "
            "category (text, .xlsx, .parquet and .feather files)")
    # fmt: on


def add_data_home(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-home", metavar="DIR", help="folder with the data files")


def read_tables(
    options: argparse.Namespace, other: str | None = None, *, on_dask: bool = False
) -> Any:
    """The views; with `on_dask`, Dask workers read Parquet files themselves.

    The options may also be for an `other` file.
    """
    how = read_options(options, options.categorical)
    if on_dask:
        from manyview.distributed import read_files

        return read_files(options.views, how)
    from manyview.inputs import align, prepared
    from manyview.inputs.files import read_tables as read

    tables = read(options.views, how, others=() if other is None else (other,))
    return align(prepared(tables, options.impute, options.categorical))


def read_options(options: argparse.Namespace, categorical: Sequence[str] = ()) -> Any:
    """How files are read."""
    from manyview.inputs.files import ReadOptions

    return ReadOptions(
        options.id, options.drop_non_numeric, options.transpose, tuple(options.drop),
        tuple(categorical), tuple(options.na_values), options.decimal, options.encoding,
        options.comment,
    )  # fmt: skip


def warn_of_dropped(tables: Any) -> None:
    """Say which columns were left out as they are not numeric, and why."""
    for name in tables.views:
        found = [one for one in tables.preparation(name).dropped if not one.was_asked_for]
        if not found:
            continue
        listed = "; ".join(map(str, found[:_LISTED]))
        more = f"; and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        below_numbers = any(one.row is not None and one.row > 1 for one in found)
        advice = ". Texts that stand for empty cells can be named by --na-values"
        warn(
            f"view '{name}': left out {len(found)} column(s) that are not numeric: {listed}{more}"
            f"{advice if below_numbers else ''}"
        )


def command_line(options: argparse.Namespace, *flags: str) -> str:
    """The command, with its views, settings, and those of the `flags` that have a value."""
    views = getattr(options, "views", ())
    words = ["manyview", options.command, *views]
    for flag in (*(_REPEATED if views else ()), *flags):
        value = getattr(options, flag.replace("-", "_"))
        if isinstance(value, list) and value:
            dashed = any(one.startswith("-") for one in value)
            words += [f"--{flag}={one}" for one in value] if dashed else [f"--{flag}", *value]
        elif value is True:
            words.append(f"--{flag}")
        elif value is not False and value not in (None, "", [], _DEFAULTS.get(flag)):
            words += [f"--{flag}", str(value)]
    return shlex.join(words)
