"""The number of clusters, suggested from the eigenvalues of the mean graph.

A graph of C groups has C small eigenvalues, followed by a gap and evenly spaced larger ones. So the
score of a gap is how much larger it is than the mean of the next few. If groups differ in size, the
largest gap is often among the small eigenvalues.
"""

from dataclasses import dataclass

import numpy as np

from manyview.graphs import MeanGraph, Stack
from manyview.spectral._spectrum import laplacian_spectrum

#: The largest number of clusters considered.
MAX_CLUSTERS = 20
# Gaps that a gap is compared with.
_N_FOLLOWING = 3


@dataclass(frozen=True)
class ClusterNumber:
    """A suggested number of clusters, with the scores of all candidates.

    Attributes
    ----------
    n_clusters : int
        The number with the highest score.
    candidates : tuple of int
        Numbers considered: from 2, or from the number of connected components, on.
    eigenvalues : tuple of float
        For each candidate c the c-th smallest eigenvalue: small if the graph has at least c groups.
    gaps : tuple of float
        The difference to the next eigenvalue.
    scores : tuple of float
        The gap minus the mean of the following three.
    """

    n_clusters: int
    candidates: tuple[int, ...]
    eigenvalues: tuple[float, ...]
    gaps: tuple[float, ...]
    scores: tuple[float, ...]

    def table(self) -> list[dict[str, float]]:
        """One row per candidate, for ``pandas.DataFrame(suggestion.table())``."""
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


def suggest_from_stack(
    stack: Stack, rng: np.random.Generator, max_clusters: int = MAX_CLUSTERS
) -> ClusterNumber:
    """Suggest a number of clusters from the eigenvalues of the mean of the stacked graphs."""
    n = stack.n_samples
    if n < 3:
        raise ValueError(f"n_samples={n}; expected at least 3 to suggest a number of clusters")
    largest = min(max_clusters, n - 1)
    n_eigenvalues = min(largest + _N_FOLLOWING, n - 1)
    fused = stack.symmetric(stack.edges(MeanGraph()))
    spectrum = laplacian_spectrum(fused, n_eigenvalues, rng, normalized=True)
    if spectrum.n_components > largest:
        raise ValueError(
            f"the graphs of the views together have {spectrum.n_components} connected components, "
            f"more than the {largest} clusters considered; expected a number of clusters, or a "
            "larger max_clusters"
        )
    differences = np.diff(spectrum.values)
    # Unconnected samples are never in the same cluster.
    candidates = np.arange(max(2, spectrum.n_components), largest + 1)
    following = np.array([differences[c : c + _N_FOLLOWING].sum() for c in candidates])
    following /= np.clip(len(differences) - candidates, 1, _N_FOLLOWING)
    gaps = differences[candidates - 1]
    scores = gaps - following
    return ClusterNumber(
        int(candidates[scores.argmax()]),
        tuple(candidates.tolist()),
        tuple(spectrum.values[candidates - 1].tolist()),
        tuple(gaps.tolist()),
        tuple(scores.tolist()),
    )
