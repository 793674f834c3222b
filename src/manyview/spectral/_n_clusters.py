"""The number of clusters, suggested by how stable and how separate the clusters of each number are.

For every candidate the mean graph of the views is clustered. The stability S of these clusters
tells whether they are found again if samples are weighted at random, their modularity Q how many
more edges stay inside clusters than chance would give. The score is S Q^(1/2) (log C)^(1/3): of
two numbers of equally stable clusters the larger one tells more. The number with the highest score
is suggested. Few resamples measure the stability of all candidates, more that of those whose score
is near the highest: else chance would decide among them. docs/quality.md has what else was tried.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manyview._typing import FloatArray, IntArray
from manyview.graphs import ClusterWeightByView, Stack, WeightedMean
from manyview.runtime import Run
from manyview.spectral._labels import kmeans_of_some, relabel_by_first_sample, some_samples
from manyview.spectral._spectrum import (
    SOFT,
    Spectrum,
    is_large,
    laplacian_spectrum,
    leading,
    scaled_graph,
    soft_embedding,
)
from manyview.spectral._stability import label_stability

#: The largest number of clusters considered by default.
MAX_CLUSTERS = 30
# Up to this number every number is a candidate; beyond, each is larger than the last by this share.
_ALL_UP_TO, _STEP = 20, 0.1
# A candidate has at least so many samples per cluster, if there are enough samples.
_SAMPLES_PER_CLUSTER = 6
# Resamples of every candidate; and of those whose score is at least this share of the highest.
_RESAMPLES, _MORE_RESAMPLES, _NEAR = 10, 40, 0.8
_STARTS = 10
# Where no number of clusters is more stable than this, the data have no clusters that hold.
_UNSTABLE = 0.6
# Nor have they if no eigenvalue is less than this share of that of data without clusters.
_FAR_BELOW = 0.65
# Powers of modularity and log C in the score.
_MODULARITY, _LOG = 1 / 2, 1 / 3


@dataclass(frozen=True)
class ClusterNumber:
    """A suggested number of clusters, with the evidence for all candidates.

    Attributes
    ----------
    n_clusters : int
        The candidate with the highest score; if there is no structure, the more stable one of the
        first two candidates.
    candidates : tuple of int
        Numbers considered: from 2, or from the number of connected components, to `max_clusters` or
        n_samples // 6; above 20 in steps of about 10 %.
    stability : tuple of float
        For each candidate the mean stability of its clusters, from 0 (chance) to 1: over 10
        resamples, or 40 if its score is near the highest.
    modularity : tuple of float
        The share of edges inside clusters, beyond that of a random graph.
    eigenvalues : tuple of float
        For each candidate c the c-th smallest eigenvalue: small if the graph has at least c groups.
    scores : tuple of float
        stability * modularity^(1/2) * log(c)^(1/3).
    has_structure : bool
        Whether the clusters of some candidate have a stability of at least 0.6. If all views have
        at most 3 columns, also whether the eigenvalue of some candidate is below 0.65 of that of
        samples spread evenly over the same boxes (up to 20,000 samples, not on Dask).
    is_at_limit : bool
        Whether the suggestion is the largest number looked at, `max_clusters`.
    labels : tuple of arrays of shape (n_samples,)
        The clusters of each candidate.

    See Also
    --------
    manyview.suggest_n_clusters : Makes it.
    manyview.plotting.plot_cluster_number : Draws it.
    manyview.plotting.plot_splits : Draws how clusters split as their number grows.

    Examples
    --------
    >>> import manyview
    >>> data = manyview.datasets.make_blob_views(300, 4, random_state=0)
    >>> found = manyview.suggest_n_clusters(data.views, max_clusters=8)
    >>> found.n_clusters, found.has_structure, found.candidates
    (4, True, (2, 3, 4, 5, 6, 7, 8))
    """

    n_clusters: int
    candidates: tuple[int, ...]
    stability: tuple[float, ...]
    modularity: tuple[float, ...]
    eigenvalues: tuple[float, ...]
    scores: tuple[float, ...]
    has_structure: bool
    is_at_limit: bool
    labels: tuple[IntArray, ...] = field(repr=False, compare=False)

    def table(self) -> list[dict[str, float]]:
        """One row per candidate, for ``pandas.DataFrame(suggestion.table())``."""
        names = ("n_clusters", "stability", "modularity", "eigenvalue", "score")
        columns = (
            self.candidates, self.stability, self.modularity, self.eigenvalues, self.scores
        )  # fmt: skip
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def __str__(self) -> str:
        lines = ["clusters  stability  modularity  eigenvalue   score"]
        for row in self.table():
            mark = "  <- suggested" if row["n_clusters"] == self.n_clusters else ""
            lines.append(
                f"{row['n_clusters']:8d}  {row['stability']:9.2f}  {row['modularity']:10.3f}  "
                f"{row['eigenvalue']:10.4f}  {row['score']:6.3f}{mark}"
            )
        return "\n".join([*lines, self.doubt] if self.doubt else lines)

    @property
    def doubt(self) -> str:
        """Why the number should not be relied on; empty if there is no reason."""
        if not self.has_structure:
            return NO_STRUCTURE if max(self.stability) < _UNSTABLE else NO_GAPS
        if self.is_at_limit:
            return (
                f"{self.n_clusters} is the largest number of clusters that was looked at: there "
                "may be more; try larger ones, or a larger max_clusters of suggest_n_clusters in "
                "Python"
            )
        return ""


#: What is said of data without structure.
NO_STRUCTURE = (
    "no number of clusters is stable (all below 0.6): the data have probably no clusters, or none "
    "that these views and their scaling show"
)


#: What is said of narrow views that are cut at any number like data without clusters.
NO_GAPS = (
    "the views have few columns, and no gaps: samples spread evenly over them would make such "
    "clusters too. The data have probably no clusters, or none that these views and their scaling "
    "show"
)


def suggest_from_stack(
    stack: Stack,
    run: Run,
    max_clusters: int = MAX_CLUSTERS,
    structureless: FloatArray | None = None,
) -> ClusterNumber:
    """Suggest a number of clusters for the mean of the stacked graphs; `structureless` has the
    eigenvalues of data without clusters, where these are known."""
    n, share, seed = stack.n_samples, stack.share, run.seed
    if n < 3:
        raise ValueError(f"n_samples={n}; expected at least 3 to suggest a number of clusters")
    largest = min(max_clusters, max(n // _SAMPLES_PER_CLUSTER, 2))
    graph, spectrum = mean_spectrum(stack, run, 2 * largest)
    if spectrum.n_components > largest:
        raise ValueError(
            f"the graphs of the views together have {spectrum.n_components} connected components, "
            f"more than the {largest} clusters considered; expected a number of clusters, or a "
            "larger max_clusters of suggest_n_clusters in Python"
        )
    # Unconnected samples are never in the same cluster.
    candidates = _candidates(max(2, spectrum.n_components), largest)
    some = some_samples(n, np.random.default_rng(seed))
    found = [_clusters(stack, spectrum, c, some, seed) for c in candidates]
    exist = np.array([share.count(labels) for labels in found]) == candidates
    modularity = np.array([_modularity(stack, labels) for labels in found])
    factors = np.maximum(modularity, 0.0) ** _MODULARITY * np.log(candidates) ** _LOG
    stability, near = np.zeros(len(candidates)), exist
    for n_resamples in (_RESAMPLES, _MORE_RESAMPLES):
        for i in np.flatnonzero(near).tolist():
            own = leading(spectrum, 2 * candidates[i])
            by_sample = label_stability(graph, own, found[i], seed, n_resamples)
            stability[i] = share.sum(by_sample) / n
        scores = stability * factors
        near = exist & (scores >= _NEAR * scores.max())
    best = int(scores.argmax())
    values = spectrum.values[np.array(candidates) - 1]
    has_structure = bool(stability.max() >= _UNSTABLE)
    if structureless is not None:
        usual = structureless[np.array(candidates) - 1]
        has_structure &= bool((values < _FAR_BELOW * usual).any())
    if not has_structure:
        best = int(stability[:2].argmax())
    return ClusterNumber(
        n_clusters=candidates[best],
        candidates=tuple(candidates),
        stability=tuple(stability.tolist()),
        modularity=tuple(modularity.tolist()),
        eigenvalues=tuple(values.tolist()),
        scores=tuple(scores.tolist()),
        has_structure=has_structure,
        is_at_limit=has_structure and candidates[best] == max_clusters,
        labels=tuple(stack.by_sample(labels.astype(np.int32)) for labels in found),
    )


def mean_spectrum(stack: Stack, run: Run, count: int) -> tuple[Any, Spectrum]:
    """The mean graph of the views, and the beginning of its spectrum."""
    n = stack.n_samples
    mean = stack.edges(WeightedMean(np.ones(stack.n_views)))
    graph = scaled_graph(stack.symmetric(mean, np.float32 if is_large(n) else np.float64))
    del mean
    count = min(count, n - 1)
    return graph, laplacian_spectrum(graph, count, run.rng, normalized=True, soft_tolerance=SOFT)


def _candidates(first: int, last: int) -> list[int]:
    found = [first]
    while found[-1] < last:
        step = 1 if found[-1] < _ALL_UP_TO else max(round(_STEP * found[-1]), 1)
        found.append(min(found[-1] + step, last))
    return found


def _clusters(
    stack: Stack, spectrum: Spectrum, n_clusters: int, some: IntArray, seed: int
) -> IntArray:
    own = leading(spectrum, 2 * n_clusters)
    embedding = soft_embedding(own.embedding, own.values, n_clusters, stack.share)
    labels = kmeans_of_some(embedding, None, some, n_clusters, seed, _STARTS, stack.share)
    return relabel_by_first_sample(labels, stack.share)


def _modularity(stack: Stack, labels: IntArray) -> float:
    """The share of edge weight inside clusters, minus that in a random graph with their degrees."""
    by_view = stack.total(ClusterWeightByView(labels, stack.share.count(labels)))
    inside, touching = by_view.sum(axis=0).T
    total = touching.sum()
    return float(inside.sum() / total - ((touching / total) ** 2).sum()) if total > 0 else 0.0
