"""Blocks of rows: large tables are looked at and scaled some rows after the other."""

from collections.abc import Iterator

#: Bytes of a block's numbers, in double precision.
BLOCK_BYTES = 32 * 2**20


def row_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """The rows of a dense table, in blocks."""
    n, width = shape
    step = max(BLOCK_BYTES // (8 * max(width, 1)), 1)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
