"""Approximate neighbours of distributed samples: every worker owns some cells.

Cells are those of `manyview.graphs._cell_index`; their centres come from a sample of the rows.
Every worker owns cells close to each other and receives the rows in them. Neighbours of a row are
searched by the owners of the cells nearest to it, mostly its own worker. How many cells are
searched is measured on trial samples, as on one machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from distributed import Future
from numpy.typing import NDArray

from manyview import _kernels
from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.distributed._client import DaskSession
from manyview.distributed._knn import (
    SampleNeighbors,
    SampleRows,
    concat_samples,
    merge_neighbors,
    nearest_in,
    no_neighbors,
)
from manyview.graphs import (
    POINTS_PER_CELL,
    SPARE_CANDIDATES,
    TARGET_RECALL,
    TRIALS,
    Cells,
    CentreIndex,
    cell_centres,
    cell_ranks,
    index_centres,
    min_probed,
    n_cells_for,
    n_probed_for,
    near_cells,
    rank_dense,
    sorted_cells,
)
from manyview.inputs import DenseRows

# Samples are drawn by hashes of their positions, so that blocks do not matter.
_TRAINING_SALT, _TRIAL_SALT = 0x6365_6C6C, 0x7472_6961


@dataclass(frozen=True)
class Quantiser:
    """The centres of the cells."""

    centre: FloatArray  # subtracted from every row
    index: CentreIndex
    trials: SampleRows  # samples whose neighbours are searched in all cells

    @property
    def centres(self) -> NDArray[np.float32]:
        return self.index.centres

    def centred(self, rows: FloatArray) -> NDArray[np.float32]:
        return np.asarray(rows - self.centre, dtype=np.float32)


@dataclass
class CellBlock:
    """The samples in the cells of one worker, and the cell of each.

    They are sorted into the cells on first use; that is not sent to other workers.
    """

    own: SampleRows
    cells: IntArray
    quantiser: Quantiser
    _sorted: Cells | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.own)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_sorted": None}

    def sorted(self, n_probed: int) -> Cells:
        if self._sorted is None:
            centres, rows = self.quantiser.centres, self.quantiser.centred(_dense(self.own))
            near = near_cells(centres, n_probed)
            self._sorted = sorted_cells(centres, rows, self.cells, near)
        return self._sorted


@dataclass(frozen=True)
class Routes:
    """What the rows of a worker ask others."""

    asks: BoolArray  # (rows, workers), whether a row asks a worker; or (rows,) for all or none
    probed: IntArray  # (rows, n_probed), the cells to search


@dataclass(frozen=True)
class CellSearch:
    """The result of an approximate search."""

    found: list[Future]  # one future of `SampleNeighbors` per worker
    order: list[Future]  # one future per worker: its samples, cell by cell
    sizes: IntArray  # number of samples per worker
    recall: float
    n_cells: int
    n_probed: int


def cell_search(
    session: DaskSession, blocks: list[Future], n: int, m: int, seed: int
) -> CellSearch | None:
    """About the `m` nearest samples of each of n; None if too many cells would be searched."""
    n_blocks, n_cells = len(blocks), n_cells_for(n)
    drawn = session.map_blocks("cells", _draw, blocks, POINTS_PER_CELL * n_cells / n)
    quantiser = session.submit("cells", _train, drawn, n_cells, seed)
    cells = session.map_blocks("cells", _assign, blocks, quantiser)
    counts = session.map_blocks("cells", np.bincount, cells, None, n_cells)
    owner = session.submit("cells", _owners, counts)
    moved = [
        session.map_blocks("cells", _rows_of_owner, blocks, cells, owner, g)
        for g in range(n_blocks)
    ]
    blocks = session.map_blocks("cells", _collect, moved, quantiser)
    del moved, cells
    sizes = np.array(session.gather(session.map_blocks("cells", len, blocks)))
    trials = session.gather(session.map_blocks("cells", _search_trials, blocks, m))
    recall, n_probed = _measure(trials, m, n, n_cells)
    if 2 * n_probed > n_cells:
        return None
    routes = session.map_blocks("routes", _routes, blocks, owner, n_blocks, n_probed)
    found = _ask(session, blocks, routes, m, n_probed)
    short = session.map_blocks("routes", _is_short, found)
    if sum(session.gather(session.map_blocks("routes", np.count_nonzero, short))):
        # Cells may have few samples: rows with too few neighbours ask all workers for all cells.
        found = _ask(session, blocks, session.map_blocks("routes", _to_all, short), m, 0, found)
    order = session.map_blocks("cells", _samples_by_cell, blocks)
    return CellSearch(found, order, sizes, recall, n_cells, n_probed)


def _ask(
    session: DaskSession,
    blocks: list[Future],
    routes: list[Future],
    m: int,
    n_probed: int,
    before: list[Future] | None = None,
) -> list[Future]:
    """The nearest of what the workers asked find; else what was found before.

    `routes` has one future of `Routes` per worker.
    """
    answers: list[list[Future]] = [[] for _ in blocks]
    for h, other in enumerate(blocks):
        for g, block in enumerate(blocks):
            asking = session.submit("routes", _rows_asking, block, routes[g], h, block=g)
            answer = session.submit("neighbors", _answer, other, asking, n_probed, m, block=h)
            answers[g].append(answer)
    return session.map_blocks("neighbors", _merge, blocks, answers, m, before)


def _dense(own: SampleRows) -> FloatArray:
    if not isinstance(own.rows, DenseRows):
        raise TypeError("sparse rows in cells; expected dense ones")
    return own.rows.data


def _hashes(samples: IntArray, salt: int) -> NDArray[np.uint64]:
    salted = samples.astype(np.uint64) + np.uint64(salt << 32)
    return np.asarray(_kernels.hash_numbers(salted))


def _draw(own: SampleRows, fraction: float) -> tuple[SampleRows, SampleRows]:
    """Samples to train with, and candidates for the trials."""
    limit = np.uint64(min(fraction, 1.0) * (2**64 - 2**11))
    return own.select(_hashes(own.samples, _TRAINING_SALT) <= limit), _draw_trials(own)


def _draw_trials(own: SampleRows) -> SampleRows:
    return own.select(np.argsort(_hashes(own.samples, _TRIAL_SALT))[:TRIALS])


def _train(drawn: Sequence[tuple[SampleRows, SampleRows]], n_cells: int, seed: int) -> Quantiser:
    rows = _dense(concat_samples([training for training, _ in drawn]))
    trials = _draw_trials(concat_samples([trials for _, trials in drawn]))
    centre = rows.mean(axis=0)
    centres = cell_centres((rows - centre).astype(np.float32), n_cells, seed)
    return Quantiser(centre, index_centres(centres, seed), trials)


def _assign(own: SampleRows, quantiser: Quantiser) -> IntArray:
    return quantiser.index.nearest(quantiser.centred(_dense(own)))


def _owners(counts: Sequence[IntArray]) -> IntArray:
    """The worker of each cell: close cells go to the same one, about as many samples to each."""
    n_blocks, total = len(counts), np.sum(counts, axis=0)
    middle = np.cumsum(total) - total / 2
    owner = np.minimum(middle * n_blocks // max(int(total.sum()), 1), n_blocks - 1)
    return np.asarray(owner, dtype=np.int64)


def _rows_of_owner(
    own: SampleRows, cells: IntArray, owner: IntArray, g: int
) -> tuple[SampleRows, IntArray]:
    theirs = owner[cells] == g
    return own.select(theirs), cells[theirs]


def _collect(moved: Sequence[tuple[SampleRows, IntArray]], quantiser: Quantiser) -> CellBlock:
    samples = np.concatenate([own.samples for own, _ in moved])
    cells = np.concatenate([cells for _, cells in moved])[np.argsort(samples)]
    return CellBlock(concat_samples([own for own, _ in moved]), cells, quantiser)


def _samples_by_cell(block: CellBlock) -> IntArray:
    return block.own.samples[np.argsort(block.cells, kind="stable")]


def _search_trials(block: CellBlock, m: int) -> tuple[FloatArray, IntArray]:
    """Distances of the samples nearest to the trials; ranks of their cells, nearest cell 0."""
    own, quantiser = block.own, block.quantiser
    found = nearest_in(quantiser.trials, own, m + 1)
    found_in = np.zeros_like(found.indices)
    if len(own):
        found_in = block.cells[np.searchsorted(own.samples, found.indices)]
    rows = quantiser.centred(_dense(quantiser.trials))
    return found.sq_distances, cell_ranks(quantiser.centres, rows, found_in)


def _measure(
    trials: Sequence[tuple[FloatArray, IntArray]], m: int, n: int, n_cells: int
) -> tuple[float, int]:
    """The recall on the trials, and how many cells to search for at least the target recall."""
    distances = np.concatenate([found for found, _ in trials], axis=1)
    ranks = np.concatenate([rank for _, rank in trials], axis=1)
    # The first is the trial itself.
    order = np.argsort(distances, axis=1, kind="stable")[:, 1 : m + 1]
    needed = np.take_along_axis(ranks, order, axis=1)
    enough = n_probed_for(needed, TARGET_RECALL)
    n_probed = min(max(min_probed(n, n_cells), enough), n_cells)
    return float((needed < n_probed).mean()), n_probed


def _routes(block: CellBlock, owner: IntArray, n_blocks: int, n_probed: int) -> Routes:
    """To the owners of the cells nearest to each row."""
    rows = block.quantiser.centred(_dense(block.own))
    order = np.argsort(block.cells, kind="stable")
    probed = np.empty((len(rows), n_probed), dtype=np.int32)
    probed[order] = block.sorted(n_probed).probed(rows[order], block.cells[order], n_probed)
    asks = np.zeros((len(rows), n_blocks), dtype=bool)
    asks[np.arange(len(rows))[:, None], owner[probed]] = True
    return Routes(asks, probed)


def _to_all(asks: BoolArray) -> Routes:
    """To all workers for all cells, of some rows."""
    return Routes(asks, np.empty((len(asks), 0), dtype=np.int32))


def _rows_asking(
    block: CellBlock, routes: Routes, h: int
) -> tuple[SampleRows, IntArray, IntArray, IntArray]:
    """The samples that ask worker h, their cells, those that they search, and their rows here."""
    asks = routes.asks
    rows = np.flatnonzero(asks if asks.ndim == 1 else asks[:, h])
    return block.own.select(rows), block.cells[rows], routes.probed[rows], rows


def _answer(
    block: CellBlock, asking: tuple[SampleRows, IntArray, IntArray, IntArray], n_probed: int, m: int
) -> tuple[SampleNeighbors, IntArray]:
    """The nearest samples here, in the nearest `n_probed` of all cells; in all of them for 0."""
    (new, cells, probed, rows), own = asking, block.own
    if n_probed == 0 or len(new) == 0 or len(own) == 0:
        found = nearest_in(new, own, m + 1)
    else:
        found = no_neighbors(new.samples, min(m + 1, len(own)))
        both = DenseRows(np.concatenate([_dense(own), _dense(new)]))
        data = block.quantiser.centred(_dense(new))
        norms, targets = both.sq_norms(), len(own) + np.arange(len(new))
        wanted = min(m + 1 + SPARE_CANDIDATES, len(own))

        def take(some: IntArray, candidates: IntArray) -> None:
            ranked = rank_dense(both, targets[some], candidates, m + 1, norms)
            found.indices[some], found.sq_distances[some] = own.samples[ranked[0]], ranked[1]

        block.sorted(n_probed).search_into(take, data, cells, n_probed, wanted, probed)
    found.sq_distances[found.indices == new.samples[:, None]] = np.inf  # not its own neighbour
    return found, rows


def _merge(
    block: CellBlock,
    answers: Sequence[tuple[SampleNeighbors, IntArray]],
    m: int,
    before: SampleNeighbors | None,
) -> SampleNeighbors:
    found = no_neighbors(block.own.samples, m)
    if before is not None:
        kept = ~_is_short(before)
        found.indices[kept] = before.indices[kept]
        found.sq_distances[kept] = before.sq_distances[kept]
    for answer, rows in answers:
        own = SampleNeighbors(found.samples[rows], found.indices[rows], found.sq_distances[rows])
        nearer = merge_neighbors([own, answer])
        found.indices[rows], found.sq_distances[rows] = nearer.indices, nearer.sq_distances
    return found


def _is_short(found: SampleNeighbors) -> BoolArray:
    """Whether a row has fewer neighbours than wanted."""
    return np.isinf(found.sq_distances[:, -1])
