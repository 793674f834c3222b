"""Joining a graph that falls into more pieces than there are clusters to find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import DisjointSet
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.inputs import Rows

_BLOCK_BYTES = 32 * 2**20
#: Digits of gaps that count: the others come of how inner products are rounded, which depends on
#: how many are computed at a time, and would say which of equally near samples is joined.
GAP_DIGITS = 12


@dataclass(frozen=True)
class Bridges:
    """Pairs of samples to be joined, and how far apart each pair is."""

    pairs: NDArray[np.intp]
    gaps: FloatArray

    def between(self, samples: BoolArray) -> Bridges:
        """Those with both ends among some samples."""
        kept = samples[self.pairs].all(axis=1)
        return Bridges(self.pairs[kept], self.gaps[kept])


def closest_bridges(
    pieces: IntArray, views: Sequence[Rows], present: BoolArray | None = None
) -> Bridges:
    """Pairs of samples that join all pieces into one: a shortest spanning tree between them.

    The distance between samples is the sum over views of their squared distance there, in units
    of the view's mean squared norm, so that no view counts more for its scale or width; where
    views lack samples, the mean over those that have both.

    Parameters
    ----------
    pieces : array of shape (n_samples,)
        Number of each sample's piece.
    views : the normalised rows of every view
    present : (n_samples, V), which samples each view has; None for all
    """
    norms = [rows.sq_norms() for rows in views]
    if present is None:
        scales = [float(norm.mean()) or 1.0 for norm in norms]
    else:
        scales = [
            float(norm[has].mean()) or 1.0 for norm, has in zip(norms, present.T, strict=True)
        ]

    def look(seekers: IntArray, pieces: IntArray) -> tuple[FloatArray, IntArray]:
        return _nearest_outside(seekers, pieces, views, norms, scales, present)

    return spanning_bridges(pieces, look)


def spanning_bridges(
    pieces: IntArray, look: Callable[[IntArray, IntArray], tuple[FloatArray, IntArray]]
) -> Bridges:
    """The same where `look` tells, for some samples and the pieces so far, how far the nearest
    sample of another piece is, and which."""
    pairs: list[tuple[int, int]] = []
    gaps: list[float] = []
    while pieces.max() > 0:
        # Boruvka: every piece reaches for its nearest other piece. The largest need not: the
        # others reach for it, and what is not searched from there is most of the work.
        sizes = np.bincount(pieces)
        seekers = np.flatnonzero(pieces != sizes.argmax())
        gap, partner = look(seekers, pieces)
        if not np.isfinite(gap).all():
            _check_reachable(seekers, gap, pieces)
        order = np.lexsort((partner, gap, pieces[seekers]))
        first = order[np.unique(pieces[seekers][order], return_index=True)[1]]
        joined = DisjointSet(range(len(sizes)))
        for s in first[np.argsort(gap[first], kind="stable")].tolist():
            i, j = int(seekers[s]), int(partner[s])
            if joined.merge(int(pieces[i]), int(pieces[j])):
                pairs.append((i, j))
                gaps.append(float(gap[s]))
        roots = np.array([joined[piece] for piece in range(len(sizes))])
        pieces = np.unique(roots[pieces], return_inverse=True)[1]
    return Bridges(np.array(pairs, dtype=np.intp).reshape(-1, 2), np.array(gaps))


def add_bridges(graph: csr_array, bridges: Bridges, first: int = 0) -> csr_array:
    """Add each bridge, both ways, to rows of a graph, from `first` on, and scale them to sum 1.

    A bridge weighs at most as much as the mean neighbour of its row, and less the longer it is, so
    that the longest are the first to be cut.
    """
    if len(bridges.pairs) == 0:
        return graph
    i, j = np.concatenate([bridges.pairs, bridges.pairs[:, ::-1]]).T
    strength = np.tile(1.0 / (1.0 + bridges.gaps / (bridges.gaps.mean() or 1.0)), 2)
    own = (i >= first) & (i < first + graph.shape[0])
    i, j, strength = i[own] - first, j[own], strength[own]
    weight = strength / np.maximum(np.diff(graph.indptr), 1)[i]
    bridged = csr_array(graph + csr_array((weight, (i, j)), shape=graph.shape))
    sums = bridged.sum(axis=1)
    bridged.data /= np.repeat(np.where(sums > 0, sums, 1.0), np.diff(bridged.indptr))
    bridged.sort_indices()
    return bridged


def union_components(graphs: Sequence[csr_array]) -> tuple[int, IntArray]:
    """Number of connected components of all graphs together, and each sample's."""
    n_pieces, pieces = connected_components(sum(graphs[1:], graphs[0]), directed=False)
    return int(n_pieces), pieces


def _check_reachable(seekers: IntArray, gap: FloatArray, pieces: IntArray) -> None:
    """Pieces whose samples share no view with any sample outside can't be joined."""
    reached = np.unique(pieces[seekers[np.isfinite(gap)]])
    alone = np.setdiff1d(pieces[seekers], reached)
    if len(alone):
        raise ValueError(
            f"{int(np.isin(pieces, alone).sum())} sample(s) have no view in common with the rest, "
            "so that nothing tells how far they are from them; expected more clusters, or views "
            "that overlap"
        )


def _nearest_outside(
    seekers: IntArray,
    pieces: IntArray,
    views: Sequence[Rows],
    norms: list[FloatArray],
    scales: list[float],
    present: BoolArray | None,
) -> tuple[FloatArray, IntArray]:
    """Each seeker's distance to the nearest sample of another piece, and which that is."""
    n = len(pieces)
    gap, partner = np.empty(len(seekers)), np.empty(len(seekers), dtype=np.intp)
    step = max(1, _BLOCK_BYTES // (8 * n))
    for start in range(0, len(seekers), step):
        own = slice(start, start + step)
        some = seekers[own]
        total = np.zeros((len(some), n))
        shared = np.zeros((len(some), n), dtype=np.int64)
        for v, (rows, norm, scale) in enumerate(zip(views, norms, scales, strict=True)):
            block = norm[some, None] + norm - 2 * rows.inner_products(some)
            block = np.maximum(block, 0.0) / scale
            if present is not None:
                both = present[some, v, None] & present[:, v]
                block[~both] = 0.0
                shared += both
            total += block
        if present is not None:
            total *= len(views) / np.maximum(shared, 1)
            total[shared == 0] = np.inf
        total = np.round(total, GAP_DIGITS)
        total[pieces[some, None] == pieces] = np.inf
        partner[own] = total.argmin(axis=1)
        gap[own] = total.min(axis=1)
    return gap, partner
