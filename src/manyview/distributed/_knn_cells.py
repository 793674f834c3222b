"""Approximate neighbours of samples that are spread: cells that workers own, and routes to them.

A coarse quantiser, made from a few samples, says which cell a row lies in. Every worker owns some
cells, near each other, and is sent the rows that lie in them. A sample asks the owners of the cells
nearest to it; most of them are its own worker's. How many cells that takes is measured on trial
samples, as on a single machine.
"""

from __future__ import annotations

import math
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
    concat_rows,
    concat_samples,
    merge_neighbors,
    nearest_in,
)
from manyview.graphs import (
    BLOCK,
    POINTS_PER_CELL,
    TARGET_RECALL,
    TRIALS,
    cell_centres,
    cell_index,
    cell_order,
    min_probed,
    n_cells_for,
    nearest_cells,
    rank_candidates,
    search_cells,
)
from manyview.inputs import DenseRows

# Which samples are taken is told by their numbers alone, whatever block they are in.
_TO_TRAIN, _TO_TRY = 0x6365_6C6C, 0x7472_6961


@dataclass(frozen=True)
class Quantiser:
    """Cells, told by their centres.

    Attributes
    ----------
    centre : subtracted from every row
    centres : of the cells
    rank : of every cell, in an order in which near ones are near each other
    trials : rows whose neighbours are looked for in all cells
    trial_samples : theirs
    """

    centre: FloatArray
    centres: NDArray[np.float32]
    rank: IntArray
    trials: FloatArray
    trial_samples: IntArray

    @property
    def n_cells(self) -> int:
        return len(self.centres)

    def centred(self, rows: FloatArray) -> NDArray[np.float32]:
        return np.asarray(rows - self.centre, dtype=np.float32)

    def nearest_cells(self, rows: FloatArray, count: int) -> IntArray:
        return nearest_cells(self.centres, self.centred(rows), count)


@dataclass
class Owned:
    """The samples in the cells of one worker; searched through an index that stays there."""

    share: SampleRows
    cells: IntArray
    quantiser: Quantiser
    _index: Any = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_index": None}

    @property
    def index(self) -> Any:
        if self._index is None:
            rows = self.quantiser.centred(dense(self.share))
            self._index = cell_index(self.quantiser.centres, rows)
        return self._index


@dataclass(frozen=True)
class CellSearch:
    """What a routed search found, and how.

    Attributes
    ----------
    found : a future of a `SampleNeighbors` for every worker
    order : a future for every worker: the numbers of its samples, cell by cell
    sizes : how many samples each has
    """

    found: list[Future]
    order: list[Future]
    sizes: IntArray
    recall: float
    n_cells: int
    n_probed: int


def cell_search(
    session: DaskSession, shares: Sequence[Future], n: int, m: int, seed: int
) -> CellSearch | None:
    """About the `m` nearest samples of each of n; None where too many cells would be searched."""
    n_blocks = len(shares)
    n_cells = n_cells_for(n)
    taken = session.map_blocks("cells", _sample, shares, [POINTS_PER_CELL * n_cells / n] * n_blocks)
    quantiser = session.submit("cells", _train, taken, n_cells, seed)
    cells = session.map_blocks("cells", _assign, shares, [quantiser] * n_blocks)
    counts = session.map_blocks(
        "cells", np.bincount, cells, [None] * n_blocks, [n_cells] * n_blocks
    )
    owner = session.submit("cells", _owners, quantiser, counts)
    shared = session.map_blocks(
        "cells", _shared_out, counts, [owner] * n_blocks, [n_blocks] * n_blocks
    )
    sizes = np.sum(session.gather(shared), axis=0)
    moved = [
        session.map_blocks("cells", _in_cells_of, shares, cells, [owner] * n_blocks, [g] * n_blocks)
        for g in range(n_blocks)
    ]
    owned = session.map_blocks("cells", _collect, moved, [quantiser] * n_blocks)
    del moved, cells
    tried = session.gather(session.map_blocks("cells", _try, owned, [m] * n_blocks))
    recall, n_probed = _widened(tried, m, n, n_cells)
    if 2 * n_probed > n_cells:
        return None
    asked = session.map_blocks(
        "routes", _asked, owned, [owner] * n_blocks, [n_blocks] * n_blocks, [n_probed] * n_blocks
    )
    found = _ask(session, owned, asked, n_probed, m)
    short = session.map_blocks("routes", _short, found)
    if sum(session.gather(session.map_blocks("routes", np.count_nonzero, short))):
        # Cells may have few samples: those that found too few ask everybody, for all they have.
        everybody = session.map_blocks("routes", _everybody, short, [n_blocks] * n_blocks)
        found = _ask(
            session, owned, everybody, 0, m, session.map_blocks("routes", _cleared, found, short)
        )
    order = session.map_blocks("cells", _cell_order, owned)
    return CellSearch(found, order, sizes, recall, n_cells, n_probed)


def _ask(
    session: DaskSession,
    owned: Sequence[Future],
    asked: Sequence[Future],
    n_probed: int,
    m: int,
    before: Sequence[Future] | None = None,
) -> list[Future]:
    """What the owners of other cells answer, with what was found before."""
    n_blocks = len(owned)
    answers: list[list[Future]] = [[] for _ in range(n_blocks)]
    for h in range(n_blocks):
        for g in range(n_blocks):
            rows = session.submit("routes", _questions, owned[g], asked[g], h, block=g)
            answers[g].append(
                session.submit("neighbors", _answer, owned[h], rows, n_probed, m, block=h)
            )
    before = before or session.map_blocks("routes", _nothing, owned, [m] * n_blocks)
    return session.map_blocks("neighbors", _merged, before, answers)


def dense(share: SampleRows) -> FloatArray:
    if not isinstance(share.rows, DenseRows):
        raise TypeError("sparse rows in cells; expected dense ones")
    return share.rows.data


def _chance(numbers: IntArray, salt: int) -> NDArray[np.uint64]:
    """A number for each number, as good as random."""
    salted: NDArray[np.uint64] = _kernels.hash_numbers(
        numbers.astype(np.uint64) + np.uint64(salt << 32)
    )
    return salted


def _sample(own: SampleRows, fraction: float) -> tuple[SampleRows, SampleRows]:
    """Rows to train with, and rows to try: the luckiest of these."""
    limit = np.uint64(min(fraction, 1.0) * (2**64 - 2**11))
    trained = own.select(_chance(own.samples, _TO_TRAIN) <= limit)
    return trained, _luckiest(own)


def _luckiest(share: SampleRows) -> SampleRows:
    return share.select(np.argsort(_chance(share.samples, _TO_TRY))[:TRIALS])


def _train(taken: Sequence[tuple[SampleRows, SampleRows]], n_cells: int, seed: int) -> Quantiser:
    sample = concat_samples([trained for trained, _ in taken])
    trials = _luckiest(concat_samples([tried for _, tried in taken]))
    rows = dense(sample)
    centre = rows.mean(axis=0)
    centres = cell_centres((rows - centre).astype(np.float32), n_cells, seed)
    rank = np.empty(len(centres), dtype=np.int64)
    rank[cell_order(centres, seed)] = np.arange(len(centres))
    return Quantiser(centre, centres, rank, dense(trials), trials.samples)


def _assign(own: SampleRows, quantiser: Quantiser) -> IntArray:
    return quantiser.nearest_cells(dense(own), 1)[:, 0]


def _owners(quantiser: Quantiser, counts: Sequence[IntArray]) -> IntArray:
    """Whose each cell is: near ones the same worker's, and about as many samples to each."""
    n_blocks, total = len(counts), np.sum(counts, axis=0)
    order = np.argsort(quantiser.rank)
    middle = np.cumsum(total[order]) - total[order] / 2
    owner = np.empty(len(order), dtype=np.int64)
    owner[order] = np.minimum(middle * n_blocks // max(total.sum(), 1), n_blocks - 1)
    return owner


def _shared_out(counts: IntArray, owner: IntArray, n_blocks: int) -> IntArray:
    """How many samples of a block go to each owner."""
    return np.bincount(owner, counts, minlength=n_blocks).astype(np.int64)


def _in_cells_of(
    own: SampleRows, cells: IntArray, owner: IntArray, g: int
) -> tuple[SampleRows, IntArray]:
    theirs = owner[cells] == g
    return own.select(theirs), cells[theirs]


def _collect(moved: Sequence[tuple[SampleRows, IntArray]], quantiser: Quantiser) -> Owned:
    numbers = np.concatenate([share.samples for share, _ in moved])
    cells = np.concatenate([cells for _, cells in moved])[np.argsort(numbers)]
    return Owned(concat_samples([share for share, _ in moved]), cells, quantiser)


def _cell_order(owned: Owned) -> IntArray:
    return owned.share.samples[np.argsort(owned.quantiser.rank[owned.cells], kind="stable")]


def _try(owned: Owned, m: int) -> tuple[FloatArray, IntArray]:
    """The nearest samples of the trial rows, and how near their cells are to each row."""
    quantiser = owned.quantiser
    trials = SampleRows(DenseRows(quantiser.trials), quantiser.trial_samples)
    found = nearest_in(trials, owned.share, m + 1)
    cells = quantiser.nearest_cells(quantiser.trials, quantiser.n_cells)
    nearness = np.empty_like(cells)
    np.put_along_axis(nearness, cells, np.arange(cells.shape[1])[None], axis=1)
    place = np.minimum(
        np.searchsorted(owned.share.samples, found.indices), max(len(owned.share) - 1, 0)
    )
    own_cells = owned.cells[place] if len(owned.share) else np.zeros_like(place)
    return found.sq_distances, np.take_along_axis(nearness, own_cells, axis=1)


def _widened(
    tried: Sequence[tuple[FloatArray, IntArray]], m: int, n: int, n_cells: int
) -> tuple[float, int]:
    """The recall of the narrowest search that is good enough, and how many cells it looks at."""
    distances = np.concatenate([found for found, _ in tried], axis=1)
    nearness = np.concatenate([near for _, near in tried], axis=1)
    # The first is the trial itself.
    order = np.argsort(distances, axis=1, kind="stable")[:, 1 : m + 1]
    needed = np.sort(np.take_along_axis(nearness, order, axis=1).ravel())
    n_probed = min(min_probed(n, n_cells), n_cells)
    enough = int(needed[math.ceil(TARGET_RECALL * len(needed)) - 1]) + 1
    n_probed = min(max(n_probed, enough), n_cells)
    return float((needed < n_probed).mean()), n_probed


def _asked(owned: Owned, owner: IntArray, n_blocks: int, n_probed: int) -> BoolArray:
    """(samples, workers): whose cells are among the nearest to a sample."""
    rows = dense(owned.share)
    out = np.zeros((len(rows), n_blocks), dtype=bool)
    for start in range(0, len(rows), BLOCK):
        some = slice(start, start + BLOCK)
        cells = owned.quantiser.nearest_cells(rows[some], n_probed)
        np.put_along_axis(out[some], owner[cells], True, axis=1)
    return out


def _everybody(short: BoolArray, n_blocks: int) -> BoolArray:
    return np.repeat(short[:, None], n_blocks, axis=1)


def _questions(owned: Owned, asked: BoolArray, h: int) -> tuple[SampleRows, IntArray]:
    """Samples with a question for a worker, and which of their own worker's they are."""
    places = np.flatnonzero(asked[:, h])
    return owned.share.select(places), places


def _answer(
    owned: Owned, questions: tuple[SampleRows, IntArray], n_probed: int, m: int
) -> tuple[SampleNeighbors, IntArray]:
    """The nearest samples in the nearest cells, as far as they are here; in all for 0 cells."""
    asking, places = questions
    if n_probed == 0:
        found = nearest_in(asking, owned.share, m + 1)
        return _without_itself(found), places
    if len(asking) == 0 or len(owned.share) == 0:
        none = (len(asking), 0)
        return SampleNeighbors(asking.samples, np.zeros(none, np.int64), np.zeros(none)), places
    parts = []
    rows = dense(asking)
    both = concat_rows([owned.share.rows, asking.rows])
    n_known = len(owned.share)
    for start in range(0, len(rows), BLOCK):
        some = rows[start : start + BLOCK]
        candidates = search_cells(owned.index, owned.quantiser.centred(some), m, n_probed)
        targets = n_known + np.arange(start, start + len(some))
        indices, distances = rank_candidates(both, targets, candidates, m + 1)
        numbers = owned.share.samples[indices]
        parts.append(
            _without_itself(
                SampleNeighbors(asking.samples[start : start + len(some)], numbers, distances)
            )
        )
    return (
        SampleNeighbors(
            asking.samples,
            np.concatenate([part.indices for part in parts]),
            np.concatenate([part.sq_distances for part in parts]),
        ),
        places,
    )


def _without_itself(found: SampleNeighbors) -> SampleNeighbors:
    found.sq_distances[found.indices == found.samples[:, None]] = np.inf
    return found


def _nothing(owned: Owned, m: int) -> SampleNeighbors:
    n = len(owned.share)
    return SampleNeighbors(owned.share.samples, np.zeros((n, m), np.int64), np.full((n, m), np.inf))


def _merged(
    before: SampleNeighbors, answers: Sequence[tuple[SampleNeighbors, IntArray]]
) -> SampleNeighbors:
    """What was found before, with all answers."""
    indices, distances = before.indices.copy(), before.sq_distances.copy()
    for answer, places in answers:
        own = SampleNeighbors(before.samples[places], indices[places], distances[places])
        nearer = merge_neighbors([own, answer])
        indices[places], distances[places] = nearer.indices, nearer.sq_distances
    return SampleNeighbors(before.samples, indices, distances)


def _cleared(found: SampleNeighbors, short: BoolArray) -> SampleNeighbors:
    distances = np.where(short[:, None], np.inf, found.sq_distances)
    return SampleNeighbors(found.samples, found.indices, distances)


def _short(found: SampleNeighbors) -> BoolArray:
    return np.isinf(found.sq_distances[:, -1])
