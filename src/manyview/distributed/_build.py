"""Distributed views -> one graph per view, in row blocks; as `manyview.graphs` on one machine."""

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from distributed import Future
from scipy.sparse import csr_array, vstack

from manyview import _kernels
from manyview._typing import BoolArray, IntArray
from manyview.distributed._bridges import distributed_bridges
from manyview.distributed._client import DaskSession, row_blocks, segment_bounds
from manyview.distributed._ghosts import Ghosts
from manyview.distributed._knn import SampleRows, exact_search, sample_rows
from manyview.distributed._knn_cells import CellSearch, cell_search
from manyview.distributed._laplacian import RankGraph
from manyview.distributed._ranks import Ranks, RankShare
from manyview.distributed._run_ranks import run_ranks
from manyview.distributed._stack import BlockStack
from manyview.distributed._views import DistributedViews
from manyview.distributed._weights import graph_in_blocks, weighted_edges
from manyview.graphs import (
    Bridges,
    GraphOptions,
    GraphStack,
    NeighborSearch,
    add_bridges,
    check_distinct,
    choose_search,
    edge_rules,
    graphs_in_words,
    stack_graphs,
    warn_of_bridges,
    warn_of_no_edges,
)
from manyview.inputs import CanonicalOrder, DenseRows, order_from_digests, row_digests
from manyview.runtime import Run
from manyview.spectral import is_large


@dataclass(frozen=True)
class DistributedGraphs:
    """One graph per view in row blocks on the workers."""

    session: DaskSession
    graphs: list[list[Future]]  # one future of rows per view and block, in the order of the views
    samples: list[list[Future]]  # the scaled samples of each view, one future per block
    bounds: IntArray  # where blocks begin
    numbers: IntArray  # the position, in canonical order, of the sample in each row
    order: CanonicalOrder  # the canonical order
    present: BoolArray | None  # (n_samples, V) in the order of the input; None if all have all
    what: str  # what the graphs are, for messages
    searches: tuple[NeighborSearch, ...]  # how the neighbours were found
    # Pairs of samples that had to be joined; usually none.
    bridges: IntArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))

    def stack(self) -> BlockStack | GraphStack:
        """The graphs on one pattern, views in canonical order; few samples come to the client."""
        self.session.stage = "stack"
        order, views = self.order.samples[self.numbers], self.order.views
        present = None if self.present is None else self.present[order][:, views]
        ordered = [self.graphs[v] for v in views]
        self.session.wait([block for blocks in ordered for block in blocks])
        if is_large(len(order)):
            return BlockStack(self.session, self.bounds, ordered, order, views, present)
        found = [vstack(self.session.gather(blocks), format="csr") for blocks in ordered]
        stack = stack_graphs([csr_array(graph) for graph in found], present=present)
        return replace(stack, order=order, view_order=views)


def distributed_graphs(
    views: DistributedViews, options: GraphOptions, session: DaskSession, run: Run
) -> DistributedGraphs:
    """The similarity graph of every view, not yet joined."""
    order = order_from_digests(views.digests, views.present)
    n = views.n_samples
    bounds, positions, numbers = segment_bounds(n, len(views.bounds) - 1), None, np.arange(n)
    edges: dict[int, list[Future]] = {}
    searches: dict[int, NeighborSearch] = {}
    with run.stage("neighbors"):
        session.stage = "neighbors"
        samples = _scaled_samples(views, order, session)
        for v in order.views.tolist():
            name, count = views.names[v], int(views.present_in(v).sum())
            if count < 3:  # no neighbour is nearer than another one
                warn_of_no_edges(name)
                continue
            m = options.of_view(v, views.names).neighbors_for(count, name) + 1
            dense = views.stored[v] is None
            method, reason = choose_search(count, dense, options.search)
            found, searches[v], cells = _search(
                session, samples[v], count, m, method, reason, run.seed
            )
            if cells is not None and positions is None and count == n:
                # Samples that are close in this view stay on the same worker from here on.
                positions = session.submit("cells", _positions, cells.order, n)
                numbers = session.gather_rows(cells.order)
                bounds = np.concatenate([[0], np.cumsum(cells.sizes)])
            rules = edge_rules(views.scalings[v])
            edges[v] = weighted_edges(session, found, samples[v], options.weighting, n, rules)
            n_edges = sum(session.gather(session.map_blocks("weights", _n_edges, edges[v])))
            run.log("view '%s': a graph of %d edges, %s", name, n_edges, searches[v])
            if n_edges == 0:
                warn_of_no_edges(name)
        graphs = [
            graph_in_blocks(session, edges.get(v, []), positions, bounds)
            for v in range(len(views.names))
        ]
    return DistributedGraphs(
        session, graphs, samples, bounds, numbers, order, views.present,
        graphs_in_words(views.names), tuple(searches[v] for v in sorted(searches)),
    )  # fmt: skip


def distributed_joined(
    separate: DistributedGraphs, views: DistributedViews, n_clusters: int, run: Run
) -> DistributedGraphs:
    """The graphs with bridges between components, if their union has more than `n_clusters`."""
    session, order, n = separate.session, separate.order, views.n_samples
    union = session.map_blocks(
        "components", _union, [list(own) for own in zip(*separate.graphs, strict=True)]
    )
    same = [[graph] for graph in union]
    found = np.concatenate(run_ranks(session, _components, same, separate.bounds))
    n_components = int(found.max()) + 1
    if n_components <= n_clusters and n_components < n:
        return separate
    check_distinct(_count_distinct(separate), n, n_clusters)
    if n_components <= n_clusters:
        return separate
    with run.stage("bridges"):
        session.stage = "bridges"
        run.log("joining %d components", n_components)
        components = np.empty_like(found)
        components[separate.numbers] = found
        ordered = [separate.samples[v] for v in order.views]
        bridges = distributed_bridges(session, ordered, components, 8 * sum(views.widths))
    warn_of_bridges(separate.what, n_components, n_clusters)
    rows = np.empty(n, dtype=np.intp)
    rows[separate.numbers] = np.arange(n)
    n_blocks = len(separate.bounds) - 1
    joined = []
    for v, graph in enumerate(separate.graphs):
        own = bridges
        if views.present is not None:
            own = bridges.between(views.present[order.samples, v])
        by_row = Bridges(rows[own.pairs], own.gaps)
        starts = separate.bounds[:-1].tolist()
        joined.append(
            session.map_blocks("bridges", add_bridges, graph, [by_row] * n_blocks, starts)
        )
    return replace(separate, graphs=joined, bridges=order.samples[bridges.pairs])


def _components(ranks: Ranks, graph: csr_array, bounds: IntArray) -> IntArray:
    """The components of the rows of one rank; edges may be stored in one direction only."""
    share = RankShare(ranks, bounds)
    columns = np.unique(graph.indices)
    is_own = (columns >= share.start) & (columns < share.stop)
    ghosts = Ghosts(ranks, bounds, columns[~is_own])
    shape = (len(share), ghosts.n_columns)
    rows = csr_array((graph.data, ghosts.number(graph.indices), graph.indptr), shape=shape)
    return RankGraph(rows, ghosts, share).components()


def _scaled_samples(
    views: DistributedViews, order: CanonicalOrder, session: DaskSession
) -> list[list[Future]]:
    """`SampleRows` of every view and block."""
    numbers = np.empty(views.n_samples, dtype=np.int64)
    numbers[order.samples] = np.arange(views.n_samples)
    n_blocks = len(views.bounds) - 1
    numbered = session.map_blocks("rows", np.asarray, row_blocks(numbers, views.bounds))
    found = []
    for v, scaler in enumerate(views.scalers):
        present: list[Any] = [None] * n_blocks
        if views.present is not None:
            present = row_blocks(views.present[:, v], views.bounds)
        same = [scaler] * n_blocks
        found.append(
            session.map_blocks("rows", sample_rows, views.blocks[v], numbered, present, same)
        )
    return found


def _search(
    session: DaskSession,
    samples: list[Future],
    count: int,
    m: int,
    method: str,
    reason: str,
    seed: int,
) -> tuple[list[Future], NeighborSearch, CellSearch | None]:
    """The m nearest neighbours of every sample, how they were found, and the cells if there are."""
    started = time.perf_counter()
    cells = None
    if method == "approximate":
        cells = cell_search(session, samples, count, m, seed)
        if cells is None:
            method, reason = "exact", "half of all cells would have to be searched"
    found = exact_search(session, samples, m) if cells is None else cells.found
    session.wait(found)
    quality = (1.0, 0, 0) if cells is None else (cells.recall, cells.n_cells, cells.n_probed)
    how = NeighborSearch(method, reason, *quality, time.perf_counter() - started)
    return found, how, cells


def _count_distinct(graphs: DistributedGraphs) -> int:
    """How many samples differ in some view."""
    session, keys = graphs.session, np.zeros(len(graphs.numbers), dtype=np.uint64)
    for view in graphs.samples:
        tasks = [session.submit("bridges", _digests, block) for block in view]
        for numbers, digests in session.gather(tasks):
            keys[numbers] = _kernels.hash_numbers(keys[numbers] + digests)
    return len(np.unique(keys))


def _positions(order: list[IntArray], n: int) -> IntArray:
    """The row of every number."""
    positions: IntArray = np.empty(n, dtype=np.int32 if n < 2**31 else np.int64)
    positions[np.concatenate(order)] = np.arange(n)
    return positions


def _n_edges(edges: Any) -> int:
    return int(edges.graph.nnz)


def _union(graphs: list[Any]) -> Any:
    return sum(graphs[1:], graphs[0])


def _digests(share: SampleRows) -> tuple[IntArray, Any]:
    """One number per normalised row, equal for equal rows."""
    rows = share.rows
    if isinstance(rows, DenseRows):
        return share.samples, row_digests(rows.data)
    scaled = rows.matrix.multiply(rows.scale[:, None]).tocsr()
    return share.samples, row_digests(scaled) ^ row_digests(rows.shift[:, None])
