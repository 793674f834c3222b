"""Bridges: edges added to a graph with more connected components than clusters to find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import DisjointSet
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.graphs._components import join_connected, numbered_roots
from manyview.graphs._row_block import SINGLE_ABOVE
from manyview.graphs._weights import scale_rows
from manyview.inputs import Rows

_BLOCK_BYTES = 32 * 2**20
#: Digits of gaps that count. Further ones depend on how many inner products are computed at a time,
#: and must not decide which of equally near samples is joined.
GAP_DIGITS = 12


@dataclass(frozen=True)
class Bridges:
    """Pairs of samples to be joined, and the distance of each pair."""

    pairs: NDArray[np.intp]
    gaps: FloatArray

    def between(self, samples: BoolArray) -> Bridges:
        """The bridges with both ends among some samples."""
        kept = samples[self.pairs].all(axis=1)
        return Bridges(self.pairs[kept], self.gaps[kept])


def closest_bridges(
    components: IntArray, views: Sequence[Rows], present: BoolArray | None = None
) -> Bridges:
    """Pairs of samples that join all components into one: a minimum spanning tree between them.

    The distance between samples is the sum over views of their squared distance, divided by the
    view's mean squared norm, so that scale and number of features do not matter. If views lack
    samples, it is the mean over the views that have both.

    Parameters
    ----------
    components : array of shape (n_samples,)
        Each sample's connected component.
    views : the normalised rows of every view
    present : (n_samples, V), which samples each view has; None for all
    """
    norms = [rows.sq_norms() for rows in views]
    has = np.ones((len(components), len(views)), dtype=bool) if present is None else present
    scales = [float(norm[own].mean()) or 1.0 for norm, own in zip(norms, has.T, strict=True)]
    search = partial(_nearest_outside, views=views, norms=norms, scales=scales, present=present)
    return spanning_bridges(components, search)


def spanning_bridges(
    components: IntArray,
    nearest_outside: Callable[[IntArray, IntArray], tuple[FloatArray, IntArray]],
) -> Bridges:
    """The same by Boruvka's algorithm, from the nearest sample outside of each component.

    `nearest_outside(seekers, components)` returns, for each seeker, the distance of the nearest
    sample in another component, and that sample.
    """
    pairs: list[tuple[int, int]] = []
    gaps: list[float] = []
    while components.max() > 0:
        # The largest component need not search, as the others find it. That saves most of the work.
        sizes = np.bincount(components)
        seekers = np.flatnonzero(components != sizes.argmax())
        gap, partner = nearest_outside(seekers, components)
        if not np.isfinite(gap).all():
            _check_reachable(seekers, gap, components)
        order = np.lexsort((partner, gap, components[seekers]))
        first = order[np.unique(components[seekers][order], return_index=True)[1]]
        joined = DisjointSet(range(len(sizes)))
        for s in first[np.argsort(gap[first], kind="stable")].tolist():
            i, j = int(seekers[s]), int(partner[s])
            if joined.merge(int(components[i]), int(components[j])):
                pairs.append((i, j))
                gaps.append(float(gap[s]))
        roots = np.array([joined[component] for component in range(len(sizes))])
        components = np.unique(roots[components], return_inverse=True)[1]
    return Bridges(np.array(pairs, dtype=np.intp).reshape(-1, 2), np.array(gaps))


def add_bridges(graph: csr_array, bridges: Bridges, first: int = 0) -> csr_array:
    """Add each bridge in both directions to rows of a graph, from `first` on; they sum to 1.

    A bridge weighs at most as much as the mean neighbour of its row, and less the longer it is, so
    that the longest are cut first.
    """
    if len(bridges.pairs) == 0:
        return graph
    i, j = np.concatenate([bridges.pairs, bridges.pairs[:, ::-1]]).T
    strength = np.tile(1.0 / (1.0 + bridges.gaps / (bridges.gaps.mean() or 1.0)), 2)
    own = (i >= first) & (i < first + graph.shape[0])
    i, j, strength = i[own] - first, j[own], strength[own]
    weight = strength / np.maximum(np.diff(graph.indptr), 1)[i]
    return scale_rows(csr_array(graph + csr_array((weight, (i, j)), shape=graph.shape)))


def union_components(graphs: Sequence[csr_array]) -> tuple[int, IntArray]:
    """Number of connected components of all graphs together, and each sample's."""
    n = graphs[0].shape[0]
    if n <= SINGLE_ABOVE:
        n_components, components = connected_components(sum(graphs[1:], graphs[0]), directed=False)
        return int(n_components), components
    roots = np.arange(n, dtype=np.int32)  # the sum of large graphs would need much memory
    for graph in graphs:
        join_connected(graph, roots)
    components = numbered_roots(roots)
    return int(components.max()) + 1, components


def _check_reachable(seekers: IntArray, gap: FloatArray, components: IntArray) -> None:
    """Components whose samples share no view with any sample outside can't be joined."""
    reached = np.unique(components[seekers[np.isfinite(gap)]])
    alone = np.setdiff1d(components[seekers], reached)
    if len(alone):
        raise ValueError(
            f"{int(np.isin(components, alone).sum())} sample(s) have no view in common with the "
            "rest, so their distance to it is unknown; expected more clusters, or views that "
            "overlap"
        )


def _nearest_outside(
    seekers: IntArray,
    components: IntArray,
    views: Sequence[Rows],
    norms: list[FloatArray],
    scales: list[float],
    present: BoolArray | None,
) -> tuple[FloatArray, IntArray]:
    n = len(components)
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
        total[components[some, None] == components] = np.inf
        partner[own] = total.argmin(axis=1)
        gap[own] = total.min(axis=1)
    return gap, partner
