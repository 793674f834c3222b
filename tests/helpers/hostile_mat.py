"""MAT files that would fill the memory; see `hostile_files`."""

import struct
import zlib

import numpy as np

from tests.helpers.damaged_files import MAT_HEADER
from tests.helpers.hostile_limits import LIMIT, MANY, MEMORY, MILLION
from tests.helpers.table_files import write


def _element(kind, content):
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def _matrix(kind, shape, content=b"", name=b"x"):
    start = _element(6, struct.pack("<II", kind, 0)) + _element(5, struct.pack("<2i", *shape))
    return _element(14, start + _element(1, name) + content)


def _mat(kind, shape, content=b""):
    return write("x.mat", MAT_HEADER + _matrix(kind, shape, content))


def many_cells():
    """SciPy 1.17 needs 8 GB and a minute to find that nothing is there."""
    return _mat(1, (2**15, 2**15)), "tables", LIMIT


def cells_in_cells():
    inner = _matrix(1, (2**15, 2**15), name=b"")
    return _mat(1, (1, 1), inner), "tables", LIMIT


def deep_cells():
    content = _matrix(6, (1, 1), _element(9, bytes(8)), b"")
    for _ in range(1000):
        content = _matrix(1, (1, 1), content, b"")
    return _mat(1, (1, 1), content), "tables", "cannot be told from labels"


def many_structures():
    """Their number does not matter: only their kind and shape are looked at."""
    fields = _element(5, struct.pack("<i", 8)) + _element(1, b"a".ljust(8, b"\0"))
    return _mat(2, (2**15, 2**15), fields), "tables", "cannot be told from labels"


def many_numbers():
    content = struct.pack("<II", 9, 2**32 - 8)
    return _mat(6, (2**15, 2**14), content), "tables", LIMIT


def many_letters():
    return _mat(4, (2**15, 2**15), _element(16, b"a")), "tables", "cannot be told from labels"


def sparse_mat_of_many_rows():
    parts = _element(5, struct.pack("<i", 0)), _element(5, struct.pack("<3i", 0, 1, 1))
    content = b"".join(parts) + _element(9, struct.pack("<d", 1.0))
    return _mat(5, (10**9, 2), content), "tables", MEMORY


def unfolding_mat():
    n = MANY * MILLION
    start = _matrix(6, (n // 800, 100), struct.pack("<II", 9, n))
    start = struct.pack("<II", 14, len(start) - 8 + n) + start[8:]
    unfolding = zlib.compressobj(1)
    pieces = [unfolding.compress(start)]
    pieces += [unfolding.compress(bytes(MILLION)) for _ in range(MANY)]
    packed = b"".join([*pieces, unfolding.flush()])
    write("x.mat", MAT_HEADER + struct.pack("<II", 15, len(packed)) + packed)
    return "x.mat", "tables", f"{LIMIT}|{MEMORY}"


def old_mat():
    content = struct.pack("<5i", 0, 2**15, 2**15, 0, 2) + b"x\0" + bytes(80)
    return write("x.mat", content), "tables", f"not a readable MAT|{LIMIT}"


def old_sparse_mat():
    triples = np.array([[1.0, 1, 5], [10**9, 10**9, 0]])
    content = struct.pack("<5i", 2, 2, 3, 0, 2) + b"x\0" + triples.T.tobytes()
    return write("x.mat", content), "tables", LIMIT
