"""``manyview predict``"""

import argparse
import sys
from pathlib import Path

from manyview.cli._inputs import add_input_options, read_options, warn_of_dropped
from manyview.cli._terminal import activity, print_path, warn


def add_predict_options(parser: argparse.ArgumentParser) -> None:
    parser.usage = "%(prog)s MODEL VIEW [VIEW ...] [options]"
    parser.add_argument(
        "model", type=Path, metavar="MODEL", help="model.zip of 'manyview cluster --save-model'"
    )
    add_input_options(parser, model=True)
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
        tables = align(model.prepared(given, options.impute))
        show("predicting")
        found = model.predict(tables)
    warn_of_dropped(tables)
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
