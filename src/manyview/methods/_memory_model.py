"""How much memory a fit will need: what each stage allocates, counted before anything is.

The arrays of a fit follow from its sizes. Each stage is counted from the code of that stage: what
it holds at its worst moment, on top of what earlier stages left. Three things depend on the data
and show only later; they are taken so:

- edges of the views' graphs never coincide, unless `FitSize.different` says that some do;
- a graph taken both ways has half as many edges again (1.4 to 1.6 times as many on data tried);
- graphs don't have to be bridged, and the eigen-solver doesn't have to factorise.

`make bench-memory` compares it with what was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from manyview.graphs import (
    BLOCK,
    BLOCK_BYTES,
    POINTS_PER_CELL,
    SPARE_CANDIDATES,
    FitSize,
    ViewSize,
    rows_at_a_time,
)
from manyview.runtime import Estimate
from manyview.spectral import DENSE_LIMIT, DENSE_LIMIT_MANY, LOOKED_AT, SPARE_VECTORS, is_large

_FLOAT, _SINGLE, _INT, _LONG = 8, 4, 4, 8
#: An entry of a sparse matrix: value and column.
_EDGE = _FLOAT + _INT
#: Vectors in cells by faiss: each cell grows by doubling, so a part of it is empty.
_CELL_SLACK = 1.5


class _Ledger:
    """What is kept so far, and the most that each stage holds."""

    def __init__(self) -> None:
        self.kept = 0.0
        self.stages: dict[str, float] = {}

    def add(self, stage: str, *moments: float, keep: float = 0.0) -> None:
        """A stage that holds so much at its moments, and leaves `keep` of it."""
        peak = self.kept + max(*moments, keep)
        self.stages[stage] = max(self.stages.get(stage, 0.0), peak)
        self.kept += keep

    def estimate(self) -> Estimate:
        return Estimate({name: round(size) for name, size in self.stages.items()})


def fusion_memory(size: FitSize, *, splits: bool, angular: bool = False) -> Estimate:
    """GBS; CI-GMVC, which `splits` the graphs; and its `angular` variant."""
    ledger = _Ledger()
    _add_graphs(ledger, size)
    n, n_views, C, edges = size.n_samples, len(size.views), size.n_clusters, size.all_edges
    own = _EDGE * sum(size.graph_edges)
    _add_stack(ledger, size, n_views, edges, size.is_ordered)
    ledger.kept -= own  # the stack has all that they had
    U = _FLOAT * edges
    A = n_views * _FLOAT * edges if splits else 0
    F = _FLOAT * n * C
    vectors = _block(n, C)  # a start for the next round
    links = size.both_ways(edges)
    graph = links * (_INT + (_SINGLE if is_large(n) else _FLOAT))
    solve = graph + _solving(n, C, links, normalized=angular)
    # U with its squares and its mirror image, before there is an A; later the last U and the next.
    ledger.add("fusion", 5 * U + F + vectors, 2 * U + A + 2 * F + vectors)
    ledger.add("eigenvectors", U + A + 2 * F + vectors + solve)
    # What a user sees: S_v, A_v, E_v and U as matrices of their own, from a row at a time.
    results = _EDGE * edges + own * (3 if splits else 2)
    ledger.add("results", U + A + 2 * F + vectors + results + 2 * _FLOAT * edges)
    return ledger.estimate()


def spectral_memory(size: FitSize) -> Estimate:
    """SpectralAverage; SpectralView with the one view."""
    ledger = _Ledger()
    _add_graphs(ledger, size)
    _add_mean_spectrum(ledger, size)
    return ledger.estimate()


def concat_memory(size: FitSize) -> Estimate:
    """All features side by side."""
    ledger = _Ledger()
    n, views = size.n_samples, size.views
    rows = sum(_rows(view) for view in views)
    dense = not any(view.is_sparse for view in views)
    # Side by side they are copied once more; before that, each from the samples in their order.
    ledger.add("neighbors", 2 * rows if dense else rows + max(map(_rows, views)), keep=rows)
    whole = ViewSize(n, sum(view.width for view in views))
    joined = replace(size, views=(whole,), different=1.0)  # there is one graph
    search = _search(joined, joined.views[0]) - rows if dense else _blockwise(joined)
    ledger.add("neighbors", search, keep=_EDGE * joined.all_edges)
    _add_number(ledger, joined)
    ledger.add("pieces", _pieces(joined.graph_edges))
    ledger.kept -= rows
    _add_mean_spectrum(ledger, joined)
    return ledger.estimate()


def mgl_memory(size: FitSize) -> Estimate:
    ledger = _Ledger()
    _add_graphs(ledger, size)
    n, C = size.n_samples, size.n_clusters
    laplacians = [_EDGE * (size.both_ways(edges) + n) for edges in size.graph_edges]
    for matrix in laplacians:
        ledger.add("laplacians", 5 * matrix, keep=matrix)  # sum, half, L, and two products
    total = size.different * sum(laplacians)
    vectors = _block(n, C + 1)
    # The weighted sum of all: that of the round before, the sum so far with what is added, the new.
    ledger.add("fusion", vectors + 3 * total)
    solve = _solving(n, C + 1, total / _EDGE, normalized=False)
    ledger.add("eigenvectors", vectors + total + total * _SINGLE / _EDGE + solve)
    return ledger.estimate()


def mcgl_memory(size: FitSize) -> Estimate:
    ledger = _Ledger()
    _add_graphs(ledger, size)
    n, n_views, C = size.n_samples, len(size.views), size.n_clusters
    F = _FLOAT * n * C
    refined = [size.both_ways(edges) for edges in size.graph_edges]
    for own, links in zip(size.graph_edges, refined, strict=True):
        stack = _stack(n, 1, own)
        solve = 3 * _EDGE * links + _solving(n, C + 1, links, normalized=False)
        ledger.add("refinement", stack + 2 * _FLOAT * own + F + solve, keep=_EDGE * links)
    edges = min(size.different * sum(refined), n**2)
    _add_stack(ledger, size, n_views, edges, is_ordered=False)
    values = 3 * _FLOAT * edges  # S_0, the target and A
    solve = 3 * _EDGE * edges + _solving(n, C + 1, edges, normalized=False)
    ledger.add("eigenvectors", values + F + solve)
    # The mirrored weights, those of the views entry by entry, and their product.
    ledger.add("fusion", values + 2 * F + (3 * n_views + 1) * _FLOAT * edges)
    return ledger.estimate()


def coreg_memory(size: FitSize) -> Estimate:
    """CoregSC: a normalised kernel a view; a sum and LAPACK's copy of it come on top."""
    ledger = _Ledger()
    _add_kernels(ledger, size)
    matrix, n_views = _FLOAT * size.n_samples**2, len(size.views)
    F = _FLOAT * size.n_samples * size.n_clusters
    ledger.add("dense eigenvectors", 2 * matrix + 3 * n_views * F)
    return ledger.estimate()


def msc_memory(size: FitSize) -> Estimate:
    """MSC: three matrices a view, and a singular value decomposition of another."""
    ledger = _Ledger()
    _add_kernels(ledger, size)
    matrix, n_views = _FLOAT * size.n_samples**2, len(size.views)
    # E_v and Y_v beside T_v; Q, Z and P; what is decomposed, its copy and the two factors of it,
    # and the room that LAPACK's divide and conquer asks for, four matrices.
    ledger.add("decomposition", (2 * n_views + 3 + 4 + 4) * matrix)
    return ledger.estimate()


def _add_graphs(ledger: _Ledger, size: FitSize) -> None:
    """The views' graphs one by one, and whether they hang together."""
    n = size.n_samples
    for view, edges in zip(size.views, size.graph_edges, strict=True):
        graph = _EDGE * edges + _INT * n
        if size.edges is not None:
            ledger.add("graphs", _given(view, edges), keep=graph)
        elif size.n_neighbors is None:
            ledger.add("graphs", _complete(view), keep=graph)
        else:
            order = _LONG * n if size.is_approximate(view) else 0
            ledger.add("neighbors", _search(size, view), keep=graph + order)
    _add_number(ledger, size)
    ledger.add("pieces", size.different * _pieces(size.graph_edges))


def _rows(view: ViewSize) -> float:
    """The normalised samples of a view."""
    return (_EDGE if view.is_sparse else _FLOAT) * view.cells


def _search(size: FitSize, view: ViewSize) -> float:
    """The nearest neighbours of a view's samples, and its graph from them."""
    n, m, rows = view.n_samples, (size.n_neighbors or 0) + 1, _rows(view)
    found = 2 * _LONG * n * m  # which, and how far
    graph = rows + found + (_EDGE + _FLOAT) * n * m
    if size.is_approximate(view):
        return max(graph, _by_cells(view, found))
    proposed = n * (m + SPARE_CANDIDATES)
    # Candidates, their distances, and in turn two arrays as large: norms and sums, or an order.
    compared = rows + 4 * _LONG * proposed + proposed
    if view.is_sparse:
        # First samples in their order, scaled, shifted, and squared with columns of their own;
        # then a slice of the rows and the same by columns.
        made = 2 * rows + 2 * _FLOAT * view.cells + _EDGE * view.cells
        return max(made, rows + 2 * _EDGE * view.cells + _LONG * proposed, compared, graph)
    step = min(rows_at_a_time(n), n)
    # Rows, the same around their centre, and those searched for in one go.
    centred = 2 * rows + _FLOAT * step * view.width
    heaps = 3 * _LONG * step * (m + SPARE_CANDIDATES)
    return max(centred + _LONG * proposed + heaps, compared, graph)


def _by_cells(view: ViewSize, found: float) -> float:
    """A search by faiss: rows in double and single precision, and once more in cells."""
    n, width = view.n_samples, view.width
    double, single = _FLOAT * view.cells, _SINGLE * view.cells
    cells = _CELL_SLACK * (single + _LONG * n)
    trained = _SINGLE * width * min(n, POINTS_PER_CELL * int(4 * n**0.5))
    block = _SINGLE * width * min(n, BLOCK)
    return double + single + max(double, trained, cells + 2 * _LONG * n + found + block)


def _blockwise(size: FitSize) -> float:
    """Dense and sparse rows side by side: scores of some rows with all, and their order."""
    n, m = size.n_samples, (size.n_neighbors or 0) + 1
    if size.n_neighbors is None:
        return _complete(ViewSize(n, 0))
    proposed = n * (m + SPARE_CANDIDATES)
    block = max(BLOCK_BYTES, _FLOAT * n)
    return max(_LONG * proposed + 4 * block, 4 * _LONG * proposed + proposed)


def _complete(view: ViewSize) -> float:
    """Products, distances and weights of all pairs, then where they are and what: 7 matrices."""
    return _FLOAT * view.cells + 7 * _FLOAT * view.n_samples**2


def _given(view: ViewSize, edges: int) -> float:
    """A copy, and another in order; of a dense matrix first where it isn't 0."""
    found = 0 if view.is_sparse else 2 * _LONG * edges + 2 * _INT * edges
    return max(found + _EDGE * edges, 2 * _EDGE * edges)


def _pieces(graph_edges: Sequence[int]) -> float:
    """The sum of all graphs, its transpose, and the sum before the last was added."""
    total = sum(graph_edges)
    before = total - graph_edges[-1] if len(graph_edges) > 2 else 0
    return _EDGE * (total * min(len(graph_edges), 2) + before)


def _add_number(ledger: _Ledger, size: FitSize) -> None:
    """A first look at the graphs for the number of clusters, where that is to be found."""
    if not size.finds_n_clusters:
        return
    n, edges = size.n_samples, size.all_edges
    links = size.both_ways(edges)
    looked_at = LOOKED_AT
    solve = _EDGE * links + _solving(n, looked_at, links, normalized=True)
    embedding = _FLOAT * n * looked_at
    ledger.add("number of clusters", _stack(n, len(size.views), edges) + solve + embedding)


def _stack(n: int, n_views: int, edges: float) -> float:
    """Weights of all views, columns, mirror image, and the pattern by columns with places."""
    return (n_views * _FLOAT + 4 * _INT) * edges + 2 * _INT * n


def _add_stack(
    ledger: _Ledger, size: FitSize, n_views: int, edges: float, is_ordered: bool
) -> None:
    stack = _stack(size.n_samples, n_views, edges)
    reordered = _EDGE * edges if is_ordered else 0
    ledger.add("stacking", stack + reordered + _INT * edges, keep=stack)


def _add_mean_spectrum(ledger: _Ledger, size: FitSize) -> None:
    """The mean of the graphs, taken both ways, and its eigenvectors."""
    n, C, edges = size.n_samples, size.n_clusters, size.all_edges
    links = size.both_ways(edges)
    _add_stack(ledger, size, len(size.views), edges, size.is_ordered)
    ledger.add("mean", 2 * _FLOAT * edges + _EDGE * links, keep=_EDGE * links)
    embedding = 2 * _FLOAT * n * C
    ledger.add("eigenvectors", embedding + _solving(n, C, links, normalized=True))
    ledger.add("results", embedding + _EDGE * sum(size.graph_edges))


def _block(n: int, n_clusters: int) -> float:
    """The vectors that the solver for many samples works with."""
    return _FLOAT * n * min(n, -8 * (-(n_clusters + SPARE_VECTORS) // 8))


def _solving(n: int, n_clusters: int, links: float, *, normalized: bool) -> float:
    """Eigenvectors of a graph of so many links, on top of it."""
    if is_large(n):
        own = (_SINGLE + _INT) * links if normalized else 0
        scaled = 3 * _FLOAT * links if normalized else 0
        # The block as it was and with columns of length 1; for a QR of that numpy makes a copy and
        # the result, and two or three more of them in LAPACK's order.
        return own + max(7 * _block(n, n_clusters), scaled)
    count = n_clusters + 1 + SPARE_VECTORS
    if n <= DENSE_LIMIT or (n <= DENSE_LIMIT_MANY and 20 * count > n):
        return 2 * _FLOAT * n**2 + _EDGE * links
    # The Laplacian, its two products with degrees or its mirror image; and Lanczos' vectors.
    return 3 * _EDGE * links + _FLOAT * n * max(3 * count, 20)


def _add_kernels(ledger: _Ledger, size: FitSize) -> None:
    """A dense kernel a view: distances, their roots and a copy for the median."""
    matrix = _FLOAT * size.n_samples**2
    rows = _FLOAT * sum(view.cells for view in size.views)
    ledger.add("kernels", rows, 2 * rows)  # equal samples are looked for among copies of all rows
    for view in size.views:
        product = _EDGE * size.n_samples**2 if view.is_sparse else 0
        ledger.add("kernels", rows + max(3 * matrix, 2 * matrix + product), keep=matrix)
