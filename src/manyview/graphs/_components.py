"""Connected components of graphs."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from manyview._typing import IntArray

# Edges of each row that are looked at first: mostly enough to join nearly all that is connected.
_FEW = 3
# Up to so many samples scipy is fast enough, and needs no compiling.
_SMALL = 5_000


def component_labels(graph: csr_array) -> IntArray:
    """Each sample's connected component, numbered by first samples."""
    if graph.shape[0] <= _SMALL:
        return np.asarray(connected_components(graph)[1])
    roots = np.arange(graph.shape[0], dtype=np.int32)
    join_connected(graph, roots)
    return numbered_roots(roots)


def join_connected(graph: csr_array, roots: IntArray, first: int = 0) -> None:
    """Join the sets at both ends of every edge; the rows of the graph begin at column `first`.

    Sets are known by their roots, the first samples of each. After some edges of every row, only
    rows that have edges to other sets still count.
    """
    from manyview import _kernels

    pattern = graph.indptr, graph.indices, first
    _kernels.unite_edges(*pattern, np.arange(graph.shape[0]), _FEW, roots)
    rows = np.flatnonzero(_kernels.lead_elsewhere(*pattern, roots))
    _kernels.unite_edges(*pattern, rows, len(graph.indices) + 1, roots)


def numbered_roots(roots: IntArray) -> IntArray:
    """The sets, numbered in the order of their roots."""
    numbers = np.cumsum(roots == np.arange(len(roots)), dtype=np.int32)
    return np.asarray(numbers[roots] - 1)


def count_components(graph: csr_array) -> int:
    return int(component_labels(graph).max(initial=-1)) + 1


def breadth_first_depth(graph: csr_array) -> int:
    """Number of edges from sample 0 to the farthest sample connected to it."""
    from manyview import _kernels

    n = graph.shape[0]
    seen, queue = np.zeros(n, dtype=bool), np.empty(n, dtype=np.int32)
    return int(_kernels.breadth_first(graph.indptr, graph.indices, seen, queue))
