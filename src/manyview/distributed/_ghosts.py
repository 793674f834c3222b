"""Rows of other ranks that a rank looks up, in the columns of its own rows: its ghosts."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyview._typing import BoolArray, IntArray
from manyview.distributed._ranks import Ranks
from manyview.spectral import aligned_room


class Ghosts:
    """Which rows a rank sends to and receives from others, and its numbers of columns.

    Columns are numbered by their order in the whole graph: ghosts before the own rows, own rows,
    ghosts after. So sums over the edges of a row have the same order as on one machine.

    Parameters
    ----------
    wanted : the ghosts, in ascending order
    bounds : where the rows of the ranks begin
    """

    def __init__(self, ranks: Ranks, bounds: IntArray, wanted: IntArray) -> None:
        self._ranks = ranks
        self._bounds = bounds
        self._wanted = wanted
        self._start, self._stop = bounds[ranks.rank : ranks.rank + 2].tolist()
        self.n_own = self._stop - self._start
        self.n_columns = self.n_own + len(wanted)
        self.first = int(np.searchsorted(wanted, self._start))
        cuts = np.searchsorted(wanted, bounds)
        asked = ranks.exchange_all([wanted[a:b] for a, b in pairwise(cuts)])
        self._sent = {
            other: np.asarray(rows - self._start, dtype=np.intp)  # else `take` converts each time
            for other, rows in enumerate(asked)
            if len(rows)
        }
        places = cuts + np.where(np.arange(len(cuts)) > ranks.rank, self.n_own, 0)
        self._received = {
            other: slice(int(places[other]), int(places[other] + cuts[other + 1] - cuts[other]))
            for other in range(ranks.count)
            if cuts[other + 1] > cuts[other]
        }

    @property
    def own(self) -> slice:
        """The columns of the own rows."""
        return slice(self.first, self.first + self.n_own)

    def number(self, columns: IntArray) -> IntArray:
        """The numbers of columns of the whole graph."""
        found = np.searchsorted(self._wanted, columns) + np.where(
            columns >= self._stop, self.n_own, 0
        )
        is_own = (columns >= self._start) & (columns < self._stop)
        found[is_own] = columns[is_own] - self._start + self.first
        return found.astype(columns.dtype)

    def only(self, used: BoolArray) -> tuple["Ghosts", IntArray]:
        """Those of the columns that are used, and the new number of each column."""
        is_kept = used.copy()
        is_kept[self.own] = True
        kept = self._wanted[np.delete(used, self.own)]
        return Ghosts(self._ranks, self._bounds, kept), np.cumsum(is_kept) - 1

    def empty(self, own: NDArray[Any]) -> NDArray[Any]:
        """An array with a row per column; only those of the own rows are filled."""
        out = self.room(own)
        out[self.own] = own
        return out

    def room(self, own: NDArray[Any]) -> NDArray[Any]:
        """The same without values."""
        shape = (self.n_columns, *own.shape[1:])
        out: NDArray[Any] = aligned_room(shape, own.dtype.type)
        return out

    def fill(self, out: NDArray[Any]) -> NDArray[Any]:
        """Fetch the ghosts, in place."""
        own = out[self.own]
        sent = {other: own.take(rows, axis=0) for other, rows in self._sent.items()}
        for other, rows in self._ranks.exchange(sent, self._received).items():
            out[self._received[other]] = rows
        return out

    def joined_to(self, own: NDArray[Any]) -> NDArray[Any]:
        """A row per column, from the rows of all ranks."""
        return self.fill(self.empty(own))
