"""Arrow and Feather files in the child process: checked, and sent on as Parquet."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from manyview.inputs.files._child_messages import SentTable

_FILE = b"ARROW1"  # streams start otherwise
_OLD = b"FEA1"


def arrow_tables(pa: Any, *, path: str, **_: Any) -> Iterator[SentTable]:
    import pyarrow.parquet as parquet

    pa.set_memory_pool(pa.system_memory_pool())  # others reserve more memory than this process has
    with pa.memory_map(path) as source:
        start = source.read(len(_FILE))
        if start.startswith(_OLD):
            raise ValueError("of Feather version 1, which was replaced in 2020")
        source.seek(0)
        opened = pa.ipc.open_file if start == _FILE else pa.ipc.open_stream
        with opened(source, options=pa.ipc.IpcReadOptions(use_threads=False)) as reader:
            table = reader.read_all()
        # Offsets and codes that lead out of the file are found by this alone.
        table.validate(full=True)
        stored = pa.BufferOutputStream()
        parquet.write_table(table, stored, compression="none", use_dictionary=False)
    yield {"name": ""}, {"parquet": np.frombuffer(stored.getvalue(), np.uint8)}
