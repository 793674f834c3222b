"""How many clusters views of the same samples have, before any method is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from manyview.methods import SpectralAverage
from manyview.runtime._checks import check_integer
from manyview.spectral._n_clusters import MAX_CLUSTERS, ClusterNumber, from_graphs


def suggest_n_clusters(
    X: Any,
    *,
    max_clusters: int = MAX_CLUSTERS,
    n_neighbors: int | str = "auto",
    graph: str = "adaptive",
    neighbor_search: str = "auto",
    normalize: str | None = "auto",
    views: Sequence[int] | None = None,
    random_state: Any = None,
) -> ClusterNumber:
    """Suggest a number of clusters, at least 2, for views of the same samples.

    Parameters
    ----------
    X : list, tuple or dict of 2-D tables, or one 2-D table
        As in `CIGMVC.fit`.
    max_clusters : int, default=20
        The largest number looked at.
    n_neighbors, graph, neighbor_search, normalize, views, random_state
        As in `CIGMVC`.

    Returns
    -------
    ClusterNumber
        The number, with the eigenvalues it was read from: print it, or call `plot` or `table`.

    Examples
    --------
    >>> from manyview import suggest_n_clusters
    >>> from manyview.datasets import make_blob_views
    >>> suggest_n_clusters(make_blob_views(300, 4, random_state=0).views).n_clusters
    4
    """
    check_integer("max_clusters", max_clusters, 2)
    reader = SpectralAverage(
        2,
        n_neighbors=n_neighbors,
        graph=graph,
        neighbor_search=neighbor_search,
        normalize=normalize,
        views=views,
        random_state=random_state,
    )
    with reader._running() as run:
        separate = reader._separate_graphs(reader._read_views(X), run)
        graphs = [separate.graphs[v] for v in separate.layout.views]
        return from_graphs(graphs, run.rng, max_clusters)
