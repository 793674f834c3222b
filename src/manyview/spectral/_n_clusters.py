"""How many clusters there are: from the eigenvalues of the fused graph.

A graph of C groups has C small eigenvalues, and then a step. What follows the step is nearly even,
so a step counts by how much it is larger than the next few: in a set of unequal groups the largest
step alone often lies among the groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview.graphs import stack_graphs
from manyview.spectral._spectrum import laplacian_spectrum

#: Numbers of clusters that are looked at.
MAX_CLUSTERS = 20
# Steps that a step is compared with.
_FOLLOWING = 3
#: Eigenvalues that are computed for it.
N_EIGENVALUES = MAX_CLUSTERS + _FOLLOWING


@dataclass(frozen=True)
class ClusterNumber:
    """A suggested number of clusters, and why.

    Attributes
    ----------
    n_clusters : int
        The number with the highest score.
    candidates : tuple of int
        Numbers looked at: from 2, or from the number of connected components, on.
    eigenvalues : tuple of float
        For each candidate the eigenvalue of that number, counted from the smallest: small where
        the graph has at least so many groups.
    gaps : tuple of float
        The step from it to the next eigenvalue.
    scores : tuple of float
        How much that step is larger than the mean of the following three.
    """

    n_clusters: int
    candidates: tuple[int, ...]
    eigenvalues: tuple[float, ...]
    gaps: tuple[float, ...]
    scores: tuple[float, ...]

    def table(self) -> list[dict[str, float]]:
        """One row a candidate; ``pandas.DataFrame(suggestion.table())`` makes a table of it."""
        columns = (self.candidates, self.eigenvalues, self.gaps, self.scores)
        names = ("n_clusters", "eigenvalue", "gap", "score")
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def __str__(self) -> str:
        lines = ["clusters  eigenvalue     gap   score"]
        for row in self.table():
            mark = "  <- suggested" if row["n_clusters"] == self.n_clusters else ""
            lines.append(
                f"{row['n_clusters']:8d}  {row['eigenvalue']:10.4f}  {row['gap']:6.4f}  "
                f"{row['score']:6.4f}{mark}"
            )
        return "\n".join(lines)


def suggest_from_graphs(
    graphs: Sequence[csr_array], rng: np.random.Generator, max_clusters: int = MAX_CLUSTERS
) -> ClusterNumber:
    """Suggest a number of clusters from the graphs of the views, rows summing to 1 or 0."""
    return suggest_from_stack(stack_graphs(graphs), rng, max_clusters)


def suggest_from_stack(
    stack: Any, rng: np.random.Generator, max_clusters: int = MAX_CLUSTERS
) -> ClusterNumber:
    """The same for graphs that lie on one pattern, wherever that is."""
    n = stack.n_samples
    if n < 3:
        raise ValueError(f"n_samples={n}; expected at least 3 to suggest a number of clusters")
    largest = min(max_clusters, n - 1)
    looked_at = min(largest + _FOLLOWING, n - 1)
    fused = stack.symmetric(stack.mean())
    spectrum = laplacian_spectrum(fused, looked_at, rng, normalized=True)
    if spectrum.n_components > largest:
        raise ValueError(
            f"the graphs of the views together have {spectrum.n_components} connected components, "
            f"more than the {largest} clusters looked at; expected a number of clusters, or a "
            "larger max_clusters"
        )
    steps = np.diff(spectrum.values)
    # Unconnected samples are never in the same cluster.
    candidates = np.arange(max(2, spectrum.n_components), largest + 1)
    following = np.array([np.append(steps[c : c + _FOLLOWING], 0.0).sum() for c in candidates])
    following /= np.clip(len(steps) - candidates, 1, _FOLLOWING)
    gaps = steps[candidates - 1]
    scores = gaps - following
    return ClusterNumber(
        int(candidates[scores.argmax()]),
        tuple(candidates.tolist()),
        tuple(spectrum.values[candidates - 1].tolist()),
        tuple(gaps.tolist()),
        tuple(scores.tolist()),
    )
