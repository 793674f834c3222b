"""The graph of a view in a checkpoint."""

from dataclasses import asdict, dataclass

from scipy.sparse import csr_array

from manyview._typing import IntArray
from manyview.graphs._knn import NeighborSearch
from manyview.runtime import Checkpoint


@dataclass(frozen=True)
class ViewGraph:
    """A view's graph, rows in an order in which neighbours are close if the search found one, and
    how the search went."""

    graph: csr_array
    rows: IntArray | None
    search: NeighborSearch | None


def save_graph(checkpoint: Checkpoint, v: int, made: ViewGraph) -> None:
    graph = made.graph
    arrays = {"data": graph.data, "indices": graph.indices, "indptr": graph.indptr}
    if made.rows is not None:
        arrays["cells"] = made.rows
    search = None if made.search is None else asdict(made.search)
    about = {"n_samples": graph.shape[0], "n_edges": graph.nnz, "search": search}
    checkpoint.save(f"graph{v}", arrays, about)


def load_graph(checkpoint: Checkpoint, v: int) -> ViewGraph | None:
    saved = checkpoint.load(f"graph{v}")
    if saved is None:
        return None
    about = saved.manifest
    n, nnz, search = about["n_samples"], about["n_edges"], about["search"]
    values = (saved.array("data", "f", (nnz,)), saved.array("indices", "i", (nnz,)))
    graph = csr_array((*values, saved.array("indptr", "i", (n + 1,))), shape=(n, n))
    rows = saved.array("cells", "i", (n,)) if "cells.npy" in saved.members else None
    return ViewGraph(graph, rows, None if search is None else NeighborSearch(**search))
