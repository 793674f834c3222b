"""Warnings about results that can probably not be trusted."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview.runtime import warn

# A collapse: one cluster has more than this share of the samples, and at least so many times as
# many as another, which has less than this share of the mean size, or one or two samples.
_LARGE, _TIMES, _TINY, _FEWEST = 0.5, 10, 0.05, 3
# Views that share more of their edges tell the same.
_EQUAL = 0.9
# Where more of all pairs of samples are edges, views share many of them by chance.
_DENSE = 0.5
# A view with a larger inconsistent share of its graph has lost nearly all of its edges.
_FOREIGN = 0.9
# Fewer samples have edges to most others, of other clusters too.
_FEW = 50
# A lower mean stability means that other samples would give other clusters.
_UNSTABLE = 0.5
# A view that has no edges from more than this share of its samples tells little.
_SILENT = 0.5


def warn_of_sizes(labels: IntArray) -> None:
    """Warn of a giant cluster beside tiny ones."""
    sizes = np.sort(np.bincount(labels))[::-1]
    is_tiny = sizes[-1] < max(_TINY * sizes.mean(), _FEWEST)
    if sizes[0] > _LARGE * sizes.sum() and sizes[0] >= _TIMES * sizes[-1] and is_tiny:
        warn(
            f"{sizes[0]:,} of {sizes.sum():,} samples are in one of {len(sizes)} clusters, and the "
            f"smallest has {sizes[-1]}: they have probably collapsed; try fewer clusters, another "
            "method such as the default, or another scaling",
        )


def warn_of_separate_views(present: BoolArray, names: Sequence[str]) -> None:
    """Warn of views that have no sample in common with the others."""
    n_views = present.sum(axis=1)
    alone = [
        f"'{name}'"
        for name, own in zip(names, present.T, strict=True)
        if len(names) > 1 and not (n_views[own] > 1).any()
    ]
    if alone:
        views = f"views {', '.join(alone)} have" if len(alone) > 1 else f"view {alone[0]} has"
        warn(
            f"{views} no sample in common with the other views, so no cluster can join their "
            "samples with those of other views; check the ids",
        )


def warn_of_instability(stability: FloatArray) -> None:
    """Warn of clusters that do not hold together in resamples."""
    mean = float(stability.mean())
    if mean < _UNSTABLE:
        warn(
            f"the mean stability of the clusters is {mean:.2f} (0: chance, 1: always the same): "
            "with other samples of the same kind the clusters would probably differ; there may be "
            "no clusters, or another number of them; compare several numbers",
        )


def edge_counts(graphs: Sequence[csr_array]) -> tuple[IntArray, IntArray]:
    """(V, V): edges that two graphs share, or one has; (V,): rows with edges."""
    shared = np.diag([graph.nnz for graph in graphs])
    for (a, one), (b, other) in combinations(enumerate(graphs), 2):
        shared[a, b] = shared[b, a] = one.multiply(other).nnz
    return shared, np.array([(np.diff(graph.indptr) > 0).sum() for graph in graphs])


def warn_of_silent_views(
    n_edges: IntArray, n_rows: IntArray, names: Sequence[str], n_present: IntArray
) -> None:
    """Warn of views that have no edges from most of their samples; `n_rows` have edges."""
    for edges, rows, name, n in zip(n_edges, n_rows, names, n_present.tolist(), strict=True):
        silent = n - int(rows)
        if edges and silent > _SILENT * n:
            warn(
                f"view '{name}' has no nearest neighbours for {silent:,} of {n:,} samples: they "
                "have no features there, or are equally far from all others; the view counts "
                "little for them",
            )


def warn_of_equal_views(shared: IntArray, names: Sequence[str], n: int) -> None:
    """Warn of views with nearly the same neighbours, once of all that are alike."""
    alike = np.zeros((len(names), len(names)))
    for a, b in combinations(range(len(names)), 2):
        fewest, most = sorted([int(shared[a, a]), int(shared[b, b])])
        if fewest < 3 * n or most / (n * (n - 1)) > _DENSE:  # a few bridges
            continue
        alike[a, b] = shared[a, b] > _EQUAL * fewest
    group_of = connected_components(alike, directed=False)[1]
    for group in np.flatnonzero(np.bincount(group_of) > 1).tolist():
        *some, last = (f"'{name}'" for v, name in enumerate(names) if group_of[v] == group)
        warn(
            f"views {', '.join(some)} and {last} have nearly the same neighbours: what they tell "
            f"counts {len(some) + 1} times; leave out all but one, unless that is meant",
        )


def warn_of_foreign_views(by_view: FloatArray, by_sample: FloatArray, names: Sequence[str]) -> None:
    """Warn of views most of whose edges are inconsistent with the other views."""
    n_known = (~np.isnan(by_sample)).sum(axis=0)  # samples with edges
    for share, n, name in zip(by_view.tolist(), n_known.tolist(), names, strict=True):
        if share > _FOREIGN and n >= _FEW:
            warn(
                f"view '{name}' has hardly anything in common with the others: {share:.0%} of its "
                f"graph is inconsistent with them, more than {_FOREIGN:.0%}; it may be noise, need "
                "another scaling, or show clusters of its own",
            )
