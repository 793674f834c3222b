"""Samples without clusters, of the shape of narrow views: what eigenvalues do they have?

Pieces of a square or cube are stable, so stability does not tell clusters in few columns from
noise. The eigenvalues do: with C clusters, the C-th one is far below that of samples spread evenly
over the same box.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from manyview._typing import FloatArray, Matrix
from manyview.graphs import SINGLE_ABOVE, GraphOptions, view_graphs
from manyview.inputs import Views, canonical_order, view_rows
from manyview.runtime import Run
from manyview.spectral._n_clusters import mean_spectrum

# Wider views need no comparison: noise in them is not stable.
_NARROW = 3
_DRAWS = 3
# Scalings after which samples are where their columns say; others put them on a sphere.
_IN_SPACE = ("none", "standard", "logratio")


def structureless_eigenvalues(
    views: Views, options: GraphOptions, seed: int, max_clusters: int
) -> FloatArray | None:
    """Smallest eigenvalues of the mean graph of even samples, as a mean over draws; None if a view
    is not narrow, or if there are so many samples that it would take long."""
    if max(views.widths) > _NARROW or views.n_samples > SINGLE_ABOVE:
        return None
    found = []
    for draw in range(_DRAWS):
        run = Run(seed + draw)
        matrices, scalings = list(views.matrices), list(views.scalings)
        for v in canonical_order(views).views:
            matrices[v], scalings[v] = _even(views, v, run.rng)
        even = replace(views, matrices=tuple(matrices), scalings=tuple(scalings))
        stack = view_graphs(even, options, run).stack()
        found.append(mean_spectrum(stack, run, max_clusters)[1].values)
    return np.asarray(np.mean(found, axis=0))


def _even(views: Views, v: int, rng: np.random.Generator) -> tuple[Matrix, str]:
    """Samples spread evenly over the box along a view's principal axes, and their scaling."""
    matrix, scaling = views.matrices[v], views.scalings[v]
    own = views.samples_of(v)
    dense: Any = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    if scaling in _IN_SPACE:
        rows: Any = view_rows(dense, scaling, own)
        points, scaling = rows.data, "none"
    else:
        points = dense if own is None else dense[own]
        points = points / max(np.abs(points).max(), np.finfo(float).tiny)
    centre = points.mean(axis=0)
    axes = np.linalg.svd(points - centre, full_matrices=False)[2]
    scores = (points - centre) @ axes.T
    even = np.zeros((views.n_samples, points.shape[1]))
    drawn = rng.uniform(scores.min(axis=0), scores.max(axis=0), scores.shape)
    even[slice(None) if own is None else own] = drawn @ axes + centre
    return even, scaling
