"""Peak memory of reading CSV and Parquet files, over the size of the numbers in them.

Writes files of about 400 MB to a temporary folder and reads each in a process of its own. Ends
with exit code 1 if reading took more than 2.2 times the numbers (8 bytes per cell). Run it with
``make bench-readers``; about two minutes on 2 cores.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import harness

LIMIT = 2.2
MEGABYTE = 1e6
# Long, wide, and in one row group, which a reader is tempted to hold in memory as a whole.
FILES = {
    "long.csv": {"n_columns": 50},
    "wide.csv": {"n_columns": 10_000},
    "long.parquet": {"n_columns": 50},
    "wide.parquet": {"n_columns": 10_000},
}
CELL_BYTES = {".csv": 9.5, ".parquet": 8}  # of a file, about


def write(path, n_rows, n_columns):
    """A file of normal numbers with ids, block by block."""
    names = ["id", *(f"x{j}" for j in range(n_columns))]
    if Path(path).suffix == ".csv":
        _write_csv(path, names, n_rows, n_columns)
    else:
        _write_parquet(path, names, n_rows, n_columns)
    return {"bytes": Path(path).stat().st_size}


def _blocks(n_rows, n_columns):
    rng = np.random.default_rng(0)
    step = max(1, 1_000_000 // n_columns)
    for start in range(0, n_rows, step):
        yield start, rng.standard_normal((min(step, n_rows - start), n_columns))


def _write_csv(path, names, n_rows, n_columns):
    import pyarrow as pa
    from pyarrow import csv

    types = [pa.string(), *[pa.float32()] * n_columns]
    schema = pa.schema(list(zip(names, types, strict=True)))
    with csv.CSVWriter(path, schema) as writer:
        for start, block in _blocks(n_rows, n_columns):
            writer.write_batch(_batch(schema, start, block.round(6).astype(np.float32)))


def _write_parquet(path, names, n_rows, n_columns):
    import pyarrow as pa
    from pyarrow import parquet

    types = [pa.string(), *[pa.float64()] * n_columns]
    schema = pa.schema(list(zip(names, types, strict=True)))
    batches = [_batch(schema, start, block) for start, block in _blocks(n_rows, n_columns)]
    parquet.write_table(pa.Table.from_batches(batches), path, row_group_size=n_rows)


def _batch(schema, start, block):
    import pyarrow as pa

    ids = pa.array([f"s{start + i}" for i in range(len(block))])
    columns = [pa.array(np.ascontiguousarray(column)) for column in block.T]
    return pa.RecordBatch.from_arrays([ids, *columns], schema=schema)


def read(path, warm_up):
    """Read one file, after another has paid for the libraries."""
    from manyview.inputs.files import read_views

    read_views([warm_up], id_column="id")
    tables, seconds, growth = harness.timed(lambda: read_views([path], id_column="id"))
    return {"seconds": seconds, "growth": growth, "numbers": tables[0].matrix.nbytes}


def measured(folder, name, n_columns, file_bytes):
    path = Path(folder, name)
    small = path.with_stem("small")
    n_rows = int(file_bytes / CELL_BYTES[path.suffix] / n_columns)
    harness.in_a_process(__file__, "write", path=str(small), n_rows=10, n_columns=2)
    written = harness.in_a_process(
        __file__, "write", path=str(path), n_rows=n_rows, n_columns=n_columns
    )
    result = harness.in_a_process(__file__, "read", path=str(path), warm_up=str(small))
    path.unlink()
    return {**result, **written, "n_rows": n_rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=400, help="size of each file")
    options = parser.parse_args()
    rows, worst = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, shape in FILES.items():
            result = measured(folder, name, **shape, file_bytes=options.megabytes * MEGABYTE)
            ratio = result["growth"] / result["numbers"]
            worst = max(worst, ratio)
            size = f"{result['n_rows']:,} x {shape['n_columns']:,}"
            megabytes = [
                f"{result[what] / MEGABYTE:.0f}" for what in ("bytes", "numbers", "growth")
            ]
            rows.append([name, size, *megabytes, f"{ratio:.2f}", f"{result['seconds']:.1f}"])
    head = ["file", "shape", "file, MB", "numbers, MB", "peak, MB", "peak / numbers", "seconds"]
    print(harness.machine(), "\n")
    print(harness.table(head, rows))
    if worst > LIMIT:
        print(f"\npeak is {worst:.2f} times the numbers; expected at most {LIMIT}")
        return 1
    return 0


if __name__ == "__main__":
    harness.answer_if_asked({"write": write, "read": read})
    sys.exit(main())
