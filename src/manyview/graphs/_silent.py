"""Samples that no view tells anything of: zeros alone, and no edge in any graph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyview._typing import IntArray
from manyview.inputs import Views
from manyview.runtime import warn

if TYPE_CHECKING:
    from manyview.graphs._build import ViewGraphs


def without_silent(separate: ViewGraphs, views: Views, n_least: int) -> ViewGraphs:
    """The graphs of the other samples, if these are at least `n_least`.

    Silent samples are all alike, so they would become a cluster of their own.
    """
    silent = _silent_rows(separate, views)
    kept = np.setdiff1d(np.arange(len(separate.order.samples)), silent)
    if len(silent) == 0 or len(kept) < n_least:
        return separate
    warn(
        f"{len(silent):,} of {views.n_samples:,} samples have no features in any view (zeros "
        "alone): nothing tells their cluster, and they are put into the largest one, with a "
        "stability of 0; leave them out"
    )
    rows = separate.row_order
    return replace(
        separate,
        graphs=tuple(graph[kept][:, kept] for graph in separate.graphs),
        order=replace(separate.order, samples=separate.order.samples[kept]),
        row_order=None if rows is None else np.searchsorted(kept, rows[~np.isin(rows, silent)]),
        present=None if separate.present is None else separate.present[kept],
    )


def expand_rows(rows: NDArray[Any], samples: IntArray, n: int, fill: float) -> NDArray[Any]:
    """One row per sample from those of some samples, given in ascending order."""
    out = np.full((n, *rows.shape[1:]), fill, dtype=rows.dtype)
    out[samples] = rows
    return out


def _silent_rows(separate: ViewGraphs, views: Views) -> IntArray:
    """Rows of the graphs that have neither edges nor features."""
    order = separate.order.samples
    has_edges = np.zeros(len(order), dtype=bool)
    for graph in separate.graphs:
        has_edges |= np.diff(graph.indptr) > 0
        has_edges[graph.indices] = True
    rows = np.flatnonzero(~has_edges)
    for v, matrix in enumerate(views.matrices):
        stored = np.asarray((matrix[order[rows]] != 0).sum(axis=1)).ravel()
        absent = False if views.present is None else ~views.present[order[rows], v]
        rows = rows[(stored == 0) | absent]
    return rows
