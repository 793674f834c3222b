"""Random graphs."""

import numpy as np
from scipy.sparse import csr_array


def random_graph(rng, n, degree=6):
    """A connected, symmetric graph."""
    G = np.where(rng.random((n, n)) < degree / n, rng.random((n, n)), 0)
    for i in range(n):  # a ring keeps it connected
        G[i, (i + 1) % n] = 0.1
    G = (G + G.T) / 2
    np.fill_diagonal(G, 0)
    return csr_array(G)
