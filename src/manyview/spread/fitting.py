"""A fit on a Dask cluster, from views to labels."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Client, Future
from distributed.scheduler import KilledWorker

from manyview import _kernels
from manyview._run import Run
from manyview._typing import IntArray
from manyview.bridging import Bridges, add_bridges
from manyview.cluster_number import from_stack
from manyview.layout import Layout, layout_of, row_digests
from manyview.memory.size import FitSize, ViewSize
from manyview.neighbors import NeighborSearch, choose_search
from manyview.scaling import DenseRows
from manyview.spread import memory
from manyview.spread.bridges import spread_bridges
from manyview.spread.cells import Routed, routed_search
from manyview.spread.graph import joined_pieces
from manyview.spread.graphs import rows_in_blocks, weighted
from manyview.spread.inputs import SpreadViews, read_spread
from manyview.spread.search import Share, exact_search, make_share
from manyview.spread.session import (
    NobodyWorksError,
    Session,
    WorkerLostError,
    even_bounds,
    pieces_of,
)
from manyview.spread.stack import BlockStack, make_stack

#: How often a fit begins again because workers are lost, before it gives up.
MOST_LOSSES = 5


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


def fit_spread(estimator: Any, X: Any, present: Any, client: Any, run: Run) -> None:
    """Fit an estimator of `GraphFusion` on the workers of a cluster.

    What Dask can't make again when a worker is lost is begun again here: the rounds from the
    graphs, or all of it where these are gone too. Either way the same numbers come of it.
    """
    if not isinstance(client, Client):
        raise ValueError(
            f"client is a {type(client).__name__}; expected a distributed.Client, such as "
            "Client(address)"
        )
    if client.asynchronous:
        raise ValueError("client is asynchronous; expected one made without asynchronous=True")
    if client.status != "running":
        raise ValueError(f"client is {client.status}; expected one that is connected")
    _check_estimator(estimator)
    session = Session(client)
    with client.as_current():
        try:
            _fit_until_done(_Fit(estimator, session, run), X, present)
        finally:
            session.let_go()


def _fit_until_done(fit: _Fit, X: Any, present: Any) -> None:
    """Go on after losses, but not for ever."""
    session = fit.session
    for losses in range(MOST_LOSSES + 1):
        try:
            fit.go_on(X, present)
            return
        except NobodyWorksError as error:
            what = "no worker is left, or all are short of memory,"
            raise memory.ClusterError(_what_went_wrong(what, fit)) from error
        except (WorkerLostError, KilledWorker) as error:
            fit.run.say("a worker was lost (%s); going on with those that are left", session.stage)
            session.look_for_workers()
            if losses == MOST_LOSSES or isinstance(error, KilledWorker) or not session.workers:
                what = "workers were lost again and again"
                raise memory.ClusterError(_what_went_wrong(what, fit)) from error


def _what_went_wrong(what: str, fit: _Fit) -> str:
    return (
        f"{what} during '{fit.session.stage}', where each is estimated to need {fit.need}; "
        "expected more workers, or workers with more memory"
    )


def _check_estimator(estimator: Any) -> None:
    for name, value in (("graph", "precomputed"), ("n_neighbors", "all")):
        if getattr(estimator, name) == value:
            raise ValueError(
                f"{name}={value!r} with a client; expected graphs of nearest neighbours"
            )
    if estimator.views is not None:
        raise ValueError(f"views={estimator.views!r} with a client; expected one table a view")


class _Fit:
    """One fit, and how far it has come."""

    def __init__(self, estimator: Any, session: Session, run: Run) -> None:
        self.estimator = estimator
        self.session = session
        self.run = run
        self.need = "an unknown amount"
        # What is begun again must draw the same random numbers.
        self._at_start = run.rng.bit_generator.state
        self._at_rounds = self._at_start
        self._ready: tuple[BlockStack, Layout] | None = None

    def go_on(self, X: Any, present: Any) -> None:
        """Fit from where the last attempt left off."""
        if self._ready is None or self._ready[0].is_lost():
            self.run.rng.bit_generator.state = self._at_start
            self._ready = None
            self._ready = self._prepare(X, present)
            self._at_rounds = self.run.rng.bit_generator.state
        self.run.rng.bit_generator.state = self._at_rounds
        self._enter("rounds")
        self.estimator._learn(*self._ready, self.run)

    def _enter(self, stage: str) -> None:
        self.session.stage = stage

    def _prepare(self, X: Any, present: Any) -> tuple[BlockStack, Layout]:
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
        run.say("%d samples in %d blocks", views.n_samples, len(views.bounds) - 1)
        self.need = memory.check(session, self._size(views), type(estimator).__name__)
        layout = layout_of(views.digests, views.present)
        with run.stage("neighbors"):
            self._enter("neighbors")
            shares = self._shares(views, layout)
            graphs = self._graphs(views, layout, shares)
        with run.stage("fusion"):
            self._enter("stack")
            stack = self._stack(views, layout, graphs)
        if estimator._finds_n_clusters:
            with run.stage("number of clusters"):
                estimator.cluster_number_ = from_stack(stack, run.rng)
            estimator.n_clusters_ = estimator.cluster_number_.n_clusters
            run.say("%d clusters suggested by the eigenvalues", estimator.n_clusters_)
        bridges = self._bridges(views, layout, graphs, shares)
        estimator.bridges_ = np.empty((0, 2), dtype=np.intp)
        if bridges is not None:
            estimator.bridges_ = layout.samples[bridges.pairs]
            stack = self._stack(views, layout, self._bridged(views, layout, graphs, bridges))
        return stack, layout

    def _size(self, views: SpreadViews) -> FitSize:
        estimator, n = self.estimator, views.n_samples
        automatic = estimator.n_neighbors == "auto"
        k = estimator._auto_neighbors if automatic else int(estimator.n_neighbors)
        return FitSize(
            n_samples=n,
            views=tuple(
                ViewSize(int(views.has(v).sum()), width, views.stored[v])
                for v, width in enumerate(views.widths)
            ),
            n_clusters=None if estimator._finds_n_clusters else int(estimator.n_clusters),
            n_neighbors=min(k, n),
            search=estimator.neighbor_search,
        )

    def _shares(self, views: SpreadViews, layout: Layout) -> list[list[Future]]:
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
        self, views: SpreadViews, layout: Layout, shares: list[list[Future]]
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
            self.run.say("view '%s': a graph of %d edges, %s", views.names[v], n_edges, searches[v])
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

    def _stack(self, views: SpreadViews, layout: Layout, graphs: SpreadGraphs) -> BlockStack:
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
        layout: Layout,
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
            run.say("joining %d pieces", n_pieces)
            pieces = np.empty_like(found)
            pieces[graphs.numbers] = found
            cells = sum(width for width in views.widths)
            placed = [shares[v] for v in layout.views]
            bridges = spread_bridges(session, placed, pieces, 8 * cells)
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
        n_distinct = len(np.unique(keys))
        if n_distinct < self.estimator._C:
            raise ValueError(
                f"n_clusters={self.estimator._C}, but only {n_distinct} sample(s) of "
                f"{views.n_samples} differ; expected 1 to {n_distinct}"
            )

    def _bridged(
        self, views: SpreadViews, layout: Layout, graphs: SpreadGraphs, bridges: Bridges
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
