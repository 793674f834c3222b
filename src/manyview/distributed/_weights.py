"""Neighbours of distributed samples -> rows of graphs, in row blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from distributed import Future
from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray
from manyview.distributed._client import DaskSession
from manyview.distributed._knn import SampleNeighbors, SampleRows
from manyview.graphs import (
    EdgeRules,
    graph_from_neighbors,
    neighbor_weights,
    untied_distances,
)


@dataclass(frozen=True)
class Edges:
    """Rows of a graph, in any order, and the sample of each row."""

    samples: IntArray
    graph: csr_array


def weighted_edges(
    session: DaskSession,
    found: list[Future],
    blocks: list[Future],
    weighting: str,
    n_samples: int,
    rules: EdgeRules,
) -> list[Future]:
    """The graph of the neighbours found: one future of `Edges` per block."""
    scale, norms = 1.0, None
    if weighting == "heat":
        sums = session.gather(session.map_blocks("weights", _sum_untied, found))
        total, count = np.sum(sums, axis=0)
        scale = float(total / count) if count else 1.0
    if weighting == "cosine":
        norms = session.submit("weights", _norms, blocks, n_samples)
    return session.map_blocks("weights", _weigh, found, norms, weighting, scale, n_samples, rules)


def graph_in_blocks(
    session: DaskSession, edges: Sequence[Future], positions: Future | None, bounds: IntArray
) -> list[Future]:
    """The rows of a graph in row blocks; `positions` has the row of each sample, if it differs."""
    blocks = []
    for b, (start, stop) in enumerate(pairwise(bounds.tolist())):
        moved = [
            session.submit("graph", _select, part, positions, start, stop, block=g)
            for g, part in enumerate(edges)
        ]
        blocks.append(
            session.submit("graph", _collect, moved, start, stop, int(bounds[-1]), block=b)
        )
    return blocks


def _sum_untied(found: SampleNeighbors) -> tuple[float, int]:
    distances = np.sort(untied_distances(found.sq_distances))
    return float(distances.sum()), len(distances)


def _norms(blocks: Sequence[SampleRows], n_samples: int) -> FloatArray:
    """Squared norms of all samples; 0 for those missing in the view."""
    norms = np.zeros(n_samples)
    for own in blocks:
        norms[own.samples] = own.rows.sq_norms()
    return norms


def _weigh(
    found: SampleNeighbors,
    norms: FloatArray | None,
    weighting: str,
    scale: float,
    n_samples: int,
    rules: EdgeRules,
) -> Edges:
    columns = found.indices[:, :-1]
    pairs = None if norms is None else (norms[found.samples][:, None], norms[columns])
    weights = neighbor_weights(found.sq_distances, weighting, pairs, scale)
    kind = np.int32 if n_samples < 2**31 else np.int64
    farthest = found.sq_distances[:, -1]
    graph = graph_from_neighbors(columns.astype(kind), weights, farthest, n_samples, rules)
    return Edges(found.samples, graph)


def _select(edges: Edges, positions: IntArray | None, start: int, stop: int) -> Edges:
    """Rows start..stop-1 among the edges, samples replaced by their positions."""
    rows = edges.samples if positions is None else positions[edges.samples]
    own = np.flatnonzero((rows >= start) & (rows < stop))
    graph = edges.graph[own]
    if positions is not None:
        columns = positions[graph.indices].astype(graph.indices.dtype)
        graph = csr_array((graph.data, columns, graph.indptr), shape=graph.shape)
    return Edges(rows[own], graph)


def _collect(parts: Sequence[Edges], start: int, stop: int, n_samples: int) -> csr_array:
    """Rows start..stop-1, columns sorted; rows of missing samples are empty."""
    if not parts:
        return csr_array((stop - start, n_samples))
    rows = np.concatenate([part.samples for part in parts]) - start
    lengths = np.concatenate([np.diff(part.graph.indptr) for part in parts])
    columns = np.concatenate([part.graph.indices for part in parts])
    data = np.concatenate([part.graph.data for part in parts])
    places = np.repeat(rows, lengths), columns
    found = csr_array((data, places), shape=(stop - start, n_samples))
    found.sort_indices()
    return found
