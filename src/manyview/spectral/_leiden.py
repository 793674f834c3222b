"""Clusters of a graph by the Leiden algorithm, whose number follows from a resolution."""

import random
from typing import Any

import numpy as np
from scipy.sparse import csr_array, triu

from manyview._typing import FloatArray, IntArray
from manyview.runtime import require_extra
from manyview.spectral._labels import relabel_by_first_sample


def leiden_labels(
    graph: csr_array, resolution: float, seed: int, weights: FloatArray | None = None
) -> IntArray:
    """Leiden clusters. A higher resolution gives more of them.

    With `weights` an edge counts by the weights of both its samples.
    """
    with require_extra("resolution", "leiden"):
        import igraph
    half: Any = triu(graph, k=1, format="coo")
    values = half.data.astype(np.float64)
    if weights is not None:
        values = values * weights[half.row] * weights[half.col]
    network = igraph.Graph(graph.shape[0], np.column_stack([half.row, half.col]).tolist())
    igraph.set_random_number_generator(random.Random(seed))
    try:
        found = network.community_leiden(
            objective_function="modularity", weights=values, resolution=resolution, n_iterations=-1
        )
    finally:
        igraph.set_random_number_generator(random)
    return relabel_by_first_sample(np.array(found.membership, dtype=np.intp))
