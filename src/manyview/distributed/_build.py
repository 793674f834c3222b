"""From views that are spread to their graphs on one pattern, in row blocks on the workers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Future

from manyview import _kernels
from manyview._typing import IntArray
from manyview.distributed import _memory as memory
from manyview.distributed._bridges import spread_bridges
from manyview.distributed._client import Session, even_bounds, pieces_of
from manyview.distributed._knn import Share, exact_search, make_share
from manyview.distributed._knn_cells import Routed, routed_search
from manyview.distributed._laplacian import joined_pieces
from manyview.distributed._stack import BlockStack, make_stack
from manyview.distributed._views import SpreadViews, read_spread
from manyview.distributed._weights import rows_in_blocks, weighted
from manyview.graphs import Bridges, FitSize, NeighborSearch, ViewSize, add_bridges, choose_search
from manyview.inputs import CanonicalOrder, DenseRows, order_from_digests, row_digests
from manyview.runtime import Run


@dataclass(frozen=True)
class SpreadGraphs:
    """The graphs of the views in row blocks, in the order of the views.

    Attributes
    ----------
    graphs : a future of rows for every view and block
    bounds : where blocks begin
    numbers : the number, in the layout, of the sample in each row
    """

    graphs: list[list[Future]]
    bounds: IntArray
    numbers: IntArray


class Preparation:
    """What comes before the rounds of a fit.

    Attributes
    ----------
    need : what each worker is estimated to need, in words
    """

    def __init__(self, estimator: Any, session: Session, run: Run) -> None:
        self.estimator = estimator
        self.session = session
        self.run = run
        self.need = "an unknown amount"

    def _enter(self, stage: str) -> None:
        self.session.stage = stage

    def graphs_of(self, X: Any, present: Any) -> tuple[BlockStack, CanonicalOrder]:
        """The graphs of the views on one pattern."""
        run, session, estimator = self.run, self.session, self.estimator
        with run.stage("reading"):
            self._enter("reading")
            views = read_spread(X, present, session)
        estimator._check_samples(views)
        estimator._begin(views.names)
        estimator._views = estimator._checkpoint = None
        estimator._present = views.present
        estimator.n_features_in_ = sum(views.widths)
        if hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        run.log("%d samples in %d blocks", views.n_samples, len(views.bounds) - 1)
        self.need = memory.check(session, self._size(views), type(estimator).__name__)
        layout = order_from_digests(views.digests, views.present)
        with run.stage("neighbors"):
            self._enter("neighbors")
            shares = self._shares(views, layout)
            graphs = self._graphs(views, layout, shares)
        with run.stage("fusion"):
            self._enter("stack")
            stack = self._stack(views, layout, graphs)
        estimator._settle_n_clusters(lambda: stack, run)
        bridges = self._bridges(views, layout, graphs, shares)
        estimator.bridges_ = np.empty((0, 2), dtype=np.intp)
        if bridges is not None:
            estimator.bridges_ = layout.samples[bridges.pairs]
            stack = self._stack(views, layout, self._bridged(views, layout, graphs, bridges))
        return stack, layout

    def _size(self, views: SpreadViews) -> FitSize:
        sizes = [
            ViewSize(int(views.has(v).sum()), width, views.stored[v])
            for v, width in enumerate(views.widths)
        ]
        size: FitSize = self.estimator._size_of(views.n_samples, tuple(sizes))
        return size

    def _shares(self, views: SpreadViews, layout: CanonicalOrder) -> list[list[Future]]:
        """The samples of every view, normalised."""
        numbers = np.empty(views.n_samples, dtype=np.int64)
        numbers[layout.samples] = np.arange(views.n_samples)
        n_blocks = len(views.bounds) - 1
        numbered = self.session.each("rows", np.asarray, pieces_of(numbers, views.bounds))
        shares = []
        for v, name in enumerate(views.names):
            has: list[Any] = [None] * n_blocks
            if views.present is not None:
                has = pieces_of(views.present[:, v], views.bounds)
            same = (name, self.estimator.normalize, views.largest[v])
            shares.append(
                self.session.each(
                    "rows",
                    make_share,
                    views.blocks[v],
                    numbered,
                    has,
                    *([value] * n_blocks for value in same),
                )
            )
        return shares

    def _graphs(
        self, views: SpreadViews, layout: CanonicalOrder, shares: list[list[Future]]
    ) -> SpreadGraphs:
        """The graph of every view, rows where they belong."""
        session, n = self.session, views.n_samples
        bounds, places, numbers = even_bounds(n, len(views.bounds) - 1), None, np.arange(n)
        edges: dict[int, list[Future]] = {}
        searches: dict[int, NeighborSearch] = {}
        for v in layout.views.tolist():
            count = int(views.has(v).sum())
            if count < 3:  # nobody to be nearer to than to another
                self.estimator._warn_of_silence(views.names[v])
                continue
            found, searches[v], routed = self._search(views, v, count, shares[v])
            if routed is not None and places is None and count == n:
                # Samples that are near each other in this view go to the same worker for good.
                places = session.submit("cells", _places, routed.order, n)
                numbers = session.gather_rows(routed.order)
                bounds = np.concatenate([[0], np.cumsum(routed.sizes)])
            edges[v] = weighted(session, found, shares[v], self.estimator.graph, n)
            n_edges = sum(session.gather(session.each("weights", _n_edges, edges[v])))
            self.run.log("view '%s': a graph of %d edges, %s", views.names[v], n_edges, searches[v])
            if n_edges == 0:
                self.estimator._warn_of_silence(views.names[v])
        self.estimator.neighbor_search_ = [searches[v] for v in sorted(searches)]
        graphs = [
            rows_in_blocks(session, edges.get(v, []), places, bounds)
            for v in range(len(views.names))
        ]
        return SpreadGraphs(graphs, bounds, numbers)

    def _search(
        self, views: SpreadViews, v: int, count: int, shares: list[Future]
    ) -> tuple[list[Future], NeighborSearch, Routed | None]:
        started, estimator = time.perf_counter(), self.estimator
        m = estimator._number_of_neighbors(count, views.names[v]) + 1
        dense = views.stored[v] is None
        method, reason = choose_search(count, dense, estimator.neighbor_search)
        routed = None
        if method == "approximate":
            routed = routed_search(self.session, shares, count, m, self.run.seed)
            if routed is None:
                method, reason = "exact", "half of all cells would have to be searched"
        found = exact_search(self.session, shares, m) if routed is None else routed.found
        self.session.wait(found)
        seconds = time.perf_counter() - started
        if routed is None:
            return found, NeighborSearch(method, reason, 1.0, 0, 0, seconds), None
        how = NeighborSearch(
            method, reason, routed.recall, routed.n_cells, routed.n_probed, seconds
        )
        return found, how, routed

    def _stack(self, views: SpreadViews, layout: CanonicalOrder, graphs: SpreadGraphs) -> BlockStack:
        order = layout.samples[graphs.numbers]
        present = views.present
        if present is not None:
            present = present[order][:, layout.views]
        placed = [graphs.graphs[v] for v in layout.views]
        stack = make_stack(self.session, placed, graphs.bounds, order, present)
        self.session.wait(stack.blocks)
        return stack

    def _bridges(
        self,
        views: SpreadViews,
        layout: CanonicalOrder,
        graphs: SpreadGraphs,
        shares: list[list[Future]],
    ) -> Bridges | None:
        """Pairs, by their numbers, that join the graphs where they fall into too many pieces."""
        session, run, estimator = self.session, self.run, self.estimator
        whole = session.each(
            "components", _union, [list(own) for own in zip(*graphs.graphs, strict=True)]
        )
        found = joined_pieces(session, whole, graphs.bounds)
        n_pieces = int(found.max()) + 1
        if n_pieces <= estimator._C and n_pieces < views.n_samples:
            return None
        self._check_distinct(views, shares)
        if n_pieces <= estimator._C:
            return None
        with run.stage("bridges"):
            self._enter("bridges")
            run.log("joining %d pieces", n_pieces)
            pieces = np.empty_like(found)
            pieces[graphs.numbers] = found
            placed = [shares[v] for v in layout.views]
            bridges = spread_bridges(session, placed, pieces, 8 * sum(views.widths))
        estimator._warn_of_bridges(estimator._what(views.names), n_pieces)
        return bridges

    def _check_distinct(self, views: SpreadViews, shares: list[list[Future]]) -> None:
        """Refuse more clusters than there are samples that differ."""
        keys = np.zeros(views.n_samples, dtype=np.uint64)
        for own in shares:
            for numbers, digests in self.session.gather(
                [self.session.submit("bridges", _digests, share) for share in own]
            ):
                keys[numbers] = _kernels.mixed(keys[numbers] + digests)
        self.estimator._check_n_distinct(len(np.unique(keys)), views.n_samples)

    def _bridged(
        self, views: SpreadViews, layout: CanonicalOrder, graphs: SpreadGraphs, bridges: Bridges
    ) -> SpreadGraphs:
        rows = np.empty(views.n_samples, dtype=np.intp)
        rows[graphs.numbers] = np.arange(views.n_samples)
        n_blocks = len(graphs.bounds) - 1
        joined = []
        for v, own in enumerate(graphs.graphs):
            mine = bridges
            if views.present is not None:
                mine = bridges.between(views.present[layout.samples, v])
            placed = Bridges(rows[mine.pairs], mine.gaps)
            joined.append(
                self.session.each(
                    "bridges", add_bridges, own, [placed] * n_blocks, graphs.bounds[:-1].tolist()
                )
            )
        return SpreadGraphs(joined, graphs.bounds, graphs.numbers)


def _places(order: list[IntArray], n: int) -> IntArray:
    """The row of every number."""
    places: IntArray = np.empty(n, dtype=np.int32 if n < 2**31 else np.int64)
    places[np.concatenate(order)] = np.arange(n)
    return places


def _n_edges(edges: Any) -> int:
    return int(edges.graph.nnz)


def _union(graphs: list[Any]) -> Any:
    return sum(graphs[1:], graphs[0])


def _digests(share: Share) -> tuple[IntArray, Any]:
    """What tells normalised rows apart."""
    rows = share.rows
    if isinstance(rows, DenseRows):
        return share.numbers, row_digests(rows.data)
    scaled = rows.matrix.multiply(rows.scale[:, None]).tocsr()
    return share.numbers, row_digests(scaled) ^ row_digests(rows.shift[:, None])
