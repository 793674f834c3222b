"""Blocks of rows: large tables are looked at and scaled some rows after the other."""

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np

#: Bytes of a block's numbers, in double precision: few, so that several copies of them fit into the
#: cache.
BLOCK_BYTES = 4 * 2**20


def row_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """The rows of a dense table, in blocks."""
    n, width = shape
    step = max(BLOCK_BYTES // (8 * max(width, 1)), 1)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def let_go(matrix: Any) -> None:
    """Drop what was read of a file that is mapped into memory: it counts as memory of the process
    until the system needs it."""
    is_read_only = False
    while isinstance(matrix, np.ndarray):
        is_read_only = getattr(matrix, "mode", None) == "r"
        matrix = matrix.base
    if is_read_only and isinstance(matrix, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        matrix.madvise(mmap.MADV_DONTNEED)
