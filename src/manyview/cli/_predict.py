"""``manyview predict``"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manyview.cli._inputs import add_input_options, read_options
from manyview.cli._terminal import activity, print_path, warn


def add_predict_options(parser: argparse.ArgumentParser) -> None:
    parser.usage = "%(prog)s MODEL VIEW [VIEW ...] [options]"
    parser.add_argument(
        "model", type=Path, metavar="MODEL", help="model.zip of 'manyview cluster --save-model'"
    )
    add_input_options(parser, model=True)
    # Always: the model knows the columns that it needs.
    parser.set_defaults(drop_non_numeric=True)
    add = parser.add_argument_group("output").add_argument
    add("--output", type=Path, metavar="FILE", help="CSV file to write (default: standard output)")
    add("--force", action="store_true", help="overwrite that file")


def predict(options: argparse.Namespace) -> None:
    """Assign new samples to the clusters of a model: writes the id, cluster, confidence and novelty
    of each. Views must have the names they had when the model was made; some may be missing."""
    from manyview.inputs import align
    from manyview.inputs.files import read_tables
    from manyview.predict import load_model
    from manyview.result import csv_text
    from manyview.runtime import check_writable, write_file

    if options.output is not None:
        check_writable(options.output.parent, [options.output.name], force=options.force)
    model = load_model(options.model)
    with activity() as show:
        show("reading")
        given = read_tables(options.views, read_options(options, model.categorical))
        _refuse_unread_ids(given, model.about.get("id_name"))
        tables = align(model.prepared(given, options.impute))
        show("predicting")
        found = model.predict(tables)
    columns = (found.confidence, found.novelty)
    confidence, novelty = ([f"{value:.6g}" for value in values.tolist()] for values in columns)
    rows = zip(tables.ids, found.labels.tolist(), confidence, novelty, strict=True)
    head = ["cluster", "confidence", "novelty"]
    text = csv_text([["id" if tables.id_name in head else tables.id_name, *head], *rows])
    if found.n_outside:
        warn(
            f"{found.n_outside:,} of {len(found.labels):,} samples are unlike anything the model "
            "knows (novelty above 1): their clusters mean little"
        )
    if options.output is None:
        sys.stdout.write(text)
    else:
        write_file(options.output, text)
        print_path("Labels", options.output)


def _refuse_unread_ids(tables: Sequence[Any], id_name: Any) -> None:
    """Ignoring the column of ids would join the rows of the views by their order."""
    for table in tables:
        columns = [*table.feature_names, *(one.name for one in table.preparation.dropped)]
        if table.ids is None and id_name in columns:
            raise ValueError(
                f"view '{table.name}' has a column {id_name!r}, which had the ids when the model "
                f"was made; expected --id {id_name}"
            )
