"""Connected components and Laplacian of a symmetric graph whose rows are on ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from manyview import _kernels
from manyview._typing import FloatArray, IntArray
from manyview.distributed._ghosts import Ghosts
from manyview.distributed._ranks import RankShare
from manyview.graphs import join_connected
from manyview.spectral import (
    PRODUCT,
    Operator,
    chebyshev_steps,
    degrees_of,
    laplacian_rows,
    null_vector,
)


@dataclass(frozen=True)
class RankGraph:
    """The rows of one rank; columns are those of `ghosts`."""

    rows: csr_array
    ghosts: Ghosts
    share: RankShare

    def components(self) -> IntArray:
        """The connected component of each row here, numbered by first rows of all."""
        ghosts, start = self.ghosts, self.share.start
        roots = np.arange(ghosts.n_columns, dtype=self.rows.indices.dtype)
        join_connected(self.rows, roots, ghosts.first)
        # Pieces here are known by their first row. Ghosts join pieces of different ranks.
        pieces, first, piece_of = np.unique(
            roots[ghosts.own], return_index=True, return_inverse=True
        )
        names = first + start
        name_of = ghosts.joined_to(names[piece_of])
        place = np.minimum(np.searchsorted(pieces, roots), max(len(pieces) - 1, 0))
        joined = np.flatnonzero(pieces[place] == roots) if len(pieces) else place[:0]
        # As single numbers: those are sorted many times faster than rows.
        n = self.share.n_samples
        pairs = np.column_stack(np.divmod(np.unique(names[place[joined]] * n + name_of[joined]), n))
        all_names, components = self.share.combine(_united, (np.sort(names), pairs))
        own = components[np.searchsorted(all_names, names)]
        return np.asarray(own[piece_of], dtype=np.int32)

    def laplacian(self, normalized: bool) -> tuple[RankOperator, FloatArray]:
        used = np.zeros(self.ghosts.n_columns, dtype=bool)
        used[self.rows.indices] = True
        ghosts, numbers = self.ghosts.only(used)
        indices = numbers[self.rows.indices].astype(self.rows.indices.dtype)
        data = self.rows.data.copy() if normalized else self.rows.data
        shape = (ghosts.n_own, ghosts.n_columns)
        weights = csr_array((data, indices, self.rows.indptr), shape=shape)
        degrees = degrees_of(weights)
        null, bound = null_vector(degrees, normalized)
        bound = float(self.share.highest(np.array([bound])))
        scaling = ghosts.joined_to(null) if normalized else None
        part = laplacian_rows(weights, degrees, scaling, bound, ghosts.first)
        return RankOperator(part, ghosts, self.share, bound), null


@dataclass(frozen=True)
class RankOperator:
    """Rows of a Laplacian, as a `SymmetricOperator`: blocks have the rows of one rank.

    In each step a rank computes its rows, and fetches the ghosts among the others.
    """

    part: Operator
    ghosts: Ghosts
    share: RankShare
    bound: float

    def times(self, block: FloatArray) -> FloatArray:
        block = np.ascontiguousarray(block)
        out = np.empty_like(block)
        self.part.step(PRODUCT, self.ghosts.joined_to(block), block, out)
        return out

    def filter(self, block: FloatArray, degree: int, edge: float, precision: type) -> FloatArray:
        ghosts, own = self.ghosts, self.ghosts.own
        before = now = ghosts.empty(np.asarray(block, dtype=precision))
        spare = [ghosts.room(now), ghosts.room(now)]
        for step in chebyshev_steps(degree, edge, self.bound):
            after = spare.pop()
            self.part.step(step, ghosts.fill(now), before[own], after[own], _kernels.filter_step)
            if before is not now:
                spare.append(before)
            before, now = now, after
        return np.asarray(now[own], dtype=block.dtype)


def _united(parts: Sequence[Any]) -> tuple[IntArray, IntArray]:
    """The names of all pieces, and the component of each."""
    names = np.concatenate([own for own, _ in parts])
    pairs = np.concatenate([own for _, own in parts])
    i, j = np.searchsorted(names, pairs).T
    graph = csr_array((np.ones(len(i)), (i, j)), shape=(len(names), len(names)))
    return names, connected_components(graph, directed=False)[1]
