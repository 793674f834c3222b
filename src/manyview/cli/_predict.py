"""``manyview predict``"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from pathlib import Path

from manyview.cli._inputs import add_input_options, read_tables
from manyview.cli._terminal import activity, print_path


def add_predict_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="model.zip of 'manyview cluster'")
    add_input_options(parser)
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="CSV file to write (default: standard output)"
    )
    parser.add_argument("--force", action="store_true", help="write over that file")


def predict(options: argparse.Namespace) -> None:
    """Put new samples into the clusters of a model: id, cluster and confidence of each. Views are
    known by the names they had when the model was made; some may be missing."""
    from manyview.predict import load_model
    from manyview.runtime import check_writable, write_file

    if options.output is not None:
        check_writable(options.output.parent, [options.output.name], force=options.force)
    model = load_model(options.model)
    with activity() as show:
        show("reading")
        tables = read_tables(options)
        show("predicting")
        found = model.predict(tables)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["id", "cluster", "confidence"])
    values = zip(tables.ids, found.labels.tolist(), found.confidence.tolist(), strict=True)
    writer.writerows([sample, label, f"{share:.6g}"] for sample, label, share in values)
    if options.output is None:
        sys.stdout.write(stream.getvalue())
    else:
        write_file(options.output, stream.getvalue())
        print_path("Labels", options.output)
