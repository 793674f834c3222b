"""Connected components of symmetric graphs."""

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import IntArray


def component_labels(graph: csr_array) -> IntArray:
    """Each sample's connected component, numbered by first samples (faster than scipy)."""
    from manyview import _kernels

    found, queue = _unvisited(graph)
    _kernels.components(graph.indptr, graph.indices, found, queue)
    return found


def count_components(graph: csr_array) -> int:
    return int(component_labels(graph).max(initial=-1)) + 1


def breadth_first_depth(graph: csr_array) -> int:
    """Number of edges from sample 0 to the farthest sample connected to it."""
    from manyview import _kernels

    pattern = graph.indptr, graph.indices
    return int(_kernels.breadth_first(*pattern, 0, np.int64(0), *_unvisited(graph)))


def _unvisited(graph: csr_array) -> tuple[IntArray, IntArray]:
    """The samples visited, none so far, and the room for a queue."""
    n = graph.shape[0]
    return np.full(n, -1, dtype=np.int32), np.empty(n, dtype=np.int32)
