"""From what was found for shares of samples to rows of graphs, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from distributed import Future
from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray
from manyview.distributed._client import DaskSession
from manyview.distributed._knn import SampleNeighbors, SampleRows
from manyview.graphs import graph_from_neighbors, neighbor_weights, starts, untied_distances


@dataclass(frozen=True)
class Edges:
    """Rows of a graph between numbered samples, rows in any order."""

    samples: IntArray
    graph: csr_array


def weighted_edges(
    session: DaskSession,
    found: Sequence[Future],
    shares: Sequence[Future],
    weighting: str,
    n_samples: int,
) -> list[Future]:
    """The graph of the neighbours that were found: `Edges` for each part of it."""
    n = len(found)
    scale, norms = 1.0, None
    if weighting == "heat":
        sums = session.gather(session.map_blocks("weights", _sum_counted, found))
        total, count = np.sum(sums, axis=0)
        scale = float(total / count) if count else 1.0
    if weighting == "cosine":
        norms = session.submit("weights", _norms, list(shares), n_samples)
    return session.map_blocks(
        "weights", _weigh, found, [norms] * n, [weighting] * n, [scale] * n, [n_samples] * n
    )


def graph_in_blocks(
    session: DaskSession,
    edges: Sequence[Future],
    places: Future | None,
    bounds: IntArray,
) -> list[Future]:
    """Rows of a graph where they belong; `places` has the row of every number, None for itself."""
    n_blocks = len(bounds) - 1
    blocks = []
    for b in range(n_blocks):
        start, stop = int(bounds[b]), int(bounds[b + 1])
        moved = [
            session.submit("graph", _between, part, places, start, stop, block=g)
            for g, part in enumerate(edges)
        ]
        blocks.append(
            session.submit("graph", _collected, moved, start, stop, int(bounds[-1]), block=b)
        )
    return blocks


def _sum_counted(found: SampleNeighbors) -> tuple[float, int]:
    counted = np.sort(untied_distances(found.sq_distances))
    return float(counted.sum()), len(counted)


def _norms(shares: Sequence[SampleRows], n_samples: int) -> FloatArray:
    """Squared norms of all samples; 0 of those that the view lacks."""
    norms = np.zeros(n_samples)
    for share in shares:
        norms[share.samples] = share.rows.sq_norms()
    return norms


def _weigh(
    found: SampleNeighbors, norms: FloatArray | None, weighting: str, scale: float, n_samples: int
) -> Edges:
    columns = found.indices[:, :-1]
    pairs = None if norms is None else (norms[found.samples][:, None], norms[columns])
    weights = neighbor_weights(found.sq_distances, weighting, pairs, scale)
    kind = np.int32 if n_samples < 2**31 else np.int64
    return Edges(found.samples, graph_from_neighbors(columns.astype(kind), weights, n_samples))


def _between(edges: Edges, places: IntArray | None, start: int, stop: int) -> Edges:
    """The rows that belong to a block, rows and columns by their places."""
    rows = edges.samples if places is None else places[edges.samples]
    own = np.flatnonzero((rows >= start) & (rows < stop))
    graph = edges.graph[own]
    if places is not None:
        columns = places[graph.indices].astype(graph.indices.dtype)
        graph = csr_array((graph.data, columns, graph.indptr), shape=graph.shape)
    return Edges(rows[own], graph)


def _collected(parts: Sequence[Edges], start: int, stop: int, n_samples: int) -> csr_array:
    """Rows start..stop-1, columns sorted; those that nobody has are empty."""
    if not parts:
        return csr_array((stop - start, n_samples))
    rows = np.concatenate([part.samples for part in parts]) - start
    lengths = np.concatenate([np.diff(part.graph.indptr) for part in parts])
    columns = np.concatenate([part.graph.indices for part in parts])
    data = np.concatenate([part.graph.data for part in parts])
    entry_rows = np.repeat(rows, lengths)
    order = np.lexsort((columns, entry_rows))
    indptr = starts(np.bincount(entry_rows, minlength=stop - start))
    return csr_array((data[order], columns[order], indptr), shape=(stop - start, n_samples))
