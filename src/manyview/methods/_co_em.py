"""Co-EM for k-means: in turn, every view places its centres by the clusters that the other views
see, and then sees clusters of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array, hstack
from sklearn.cluster import kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning

from manyview._typing import FloatArray, IntArray
from manyview.graphs import FitSize, check_distinct, rows_in_order, warn_of_no_edges
from manyview.inputs import DenseRows, SparseRows, Views, canonical_order, count_distinct
from manyview.methods._memory_model import row_bytes, scaling_bytes
from manyview.runtime import Estimate, Run, warn
from manyview.spectral import TRIAL_SAMPLES, numbered_labels, some_samples, unit_rows

ViewRows: TypeAlias = DenseRows | SparseRows
# Rounds without a better objective in any view, after which clusters only swap samples.
PATIENCE = 5
# Share of a view's own distances in what it learns from: they decide where the others see nothing.
_OWN = 1e-9


@dataclass(frozen=True)
class Found:
    """What co-EM ended with."""

    centres: list[FloatArray]  # per view: (n_clusters, n_features)
    distances: list[FloatArray]  # per view: (n_samples, n_clusters), of samples to centres
    objective: float
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class CoEM:
    """Multi-view k-means; `is_spherical` for cosines between rows of length 1."""

    n_clusters: int
    is_spherical: bool
    n_init: int
    max_iter: int
    tol: float

    def best(self, views: Sequence[ViewRows], rng: np.random.Generator) -> Found:
        """The run with the best objective of several starts, which are compared on some samples."""
        n = views[0].n_samples
        some = some_samples(n, rng)
        few = list(views) if len(some) == n else [rows.take(some) for rows in views]
        runs = (self.run(few, start) for start in self._starts(few, rng))
        best = min(runs, key=lambda found: found.objective)
        return best if len(some) == n else self.run(views, best.centres)

    def _starts(
        self, views: Sequence[ViewRows], rng: np.random.Generator
    ) -> list[list[FloatArray]]:
        """Centres of all views, at samples that k-means++ finds in all features side by side."""
        parts = [_matrix(rows) for rows in views]
        dense = all(isinstance(part, np.ndarray) for part in parts)
        joint = np.hstack(parts) if dense else csr_array(hstack(parts, format="csr"))
        found = []
        for _ in range(self.n_init):
            seed = int(rng.integers(2**31))
            chosen = kmeans_plusplus(joint, self.n_clusters, random_state=seed)[1]
            found.append([self._centres(rows.take(chosen), None, None) for rows in views])
        return found

    def run(self, views: Sequence[ViewRows], start: Sequence[FloatArray]) -> Found:
        """Rounds from given centres until they stay, or no objective has improved for long."""
        centres = list(start)
        distances = [self.distances(*pair) for pair in zip(views, centres, strict=True)]
        best, stalled = np.full(len(views), np.inf), np.zeros(len(views), dtype=int)
        n_iter, converged = 0, False
        while not converged and n_iter < self.max_iter:
            n_iter, moved = n_iter + 1, False
            for v, rows in enumerate(views):
                labels = _seen_by_others(distances, v)
                placed = self._centres(rows, labels, centres[v])
                moved |= not np.array_equal(placed, centres[v])
                centres[v], distances[v] = placed, self.distances(rows, placed)
            now = np.array([own.min(axis=1).sum() for own in distances])
            better = now < (1 - self.tol) * best
            best, stalled = np.where(better, now, best), np.where(better, 0, stalled + 1)
            converged = not moved or bool(stalled.min() >= PATIENCE)
        return Found(centres, distances, float(best.sum()), n_iter, converged)

    def consensus(self, views: Sequence[ViewRows], found: Found) -> FloatArray:
        """(n_samples, n_clusters): mean distances, over the views, to the centres of the samples on
        which all views agree."""
        seen = np.array([own.argmin(axis=1) for own in found.distances])
        agreed = np.flatnonzero((seen == seen[0]).all(axis=0))
        total = np.zeros_like(found.distances[0])
        for rows, centres in zip(views, found.centres, strict=True):
            own = self._centres(rows.take(agreed), seen[0, agreed], centres)
            total += self.distances(rows, own)
        return total / len(views)

    def distances(self, rows: ViewRows, centres: FloatArray) -> FloatArray:
        """Of every sample to every centre."""
        found = rows.products(centres)
        if self.is_spherical:
            return np.subtract(1, found, out=found)
        found *= -2
        found += rows.sq_norms()[:, None] + (centres**2).sum(axis=1)
        return np.sqrt(np.maximum(found, 0, out=found), out=found)

    def _centres(
        self, rows: ViewRows, labels: IntArray | None, old: FloatArray | None
    ) -> FloatArray:
        """Means of clusters; empty ones keep the old centre. Without labels: the rows."""
        n = rows.n_samples
        labels = np.arange(n) if labels is None else labels
        sizes = np.bincount(labels, minlength=self.n_clusters)
        members = csr_array((np.ones(n), (labels, np.arange(n))), shape=(len(sizes), n))
        means = rows.combinations(members) / np.maximum(sizes, 1)[:, None]
        if old is not None:
            means[sizes == 0] = old[sizes == 0]
        return unit_rows(means) if self.is_spherical else means


def co_em_results(views: Views, model: CoEM, run: Run) -> dict[str, Any]:
    """Attributes of a fitted estimator."""
    order = canonical_order(views)
    rows = rows_in_order(views, order)
    for number, v in enumerate(order.views):
        rows[number] = _comparable(rows[number], model.is_spherical)
        if spread(rows[number]) == 0:
            warn_of_no_edges(views.names[v], "all samples are equal")
    with run.stage("co-EM"):
        found = model.best(rows, run.rng)
    if not found.converged:
        warn(
            f"co-EM still improved after max_iter={model.max_iter} rounds; expected a larger limit",
            ConvergenceWarning,
        )
    with run.stage("labels"):
        distances = model.consensus(rows, found)
        labels = distances.argmin(axis=1)
        if len(np.unique(labels)) < model.n_clusters:
            check_distinct(count_distinct(rows), order.n_samples, model.n_clusters)
            labels = _filled(distances)
        distances, labels = order.by_sample(distances), order.by_sample(labels)
        numbered = numbered_labels(labels, model.n_clusters)
    first = np.unique(numbered, return_index=True)[1]
    return {
        "labels_": numbered,
        "embedding_": distances[:, labels[first]],  # columns in the order of the new numbers
        "n_iter_": found.n_iter,
        "converged_": found.converged,
    }


def co_em_memory(size: FitSize, scaling: object) -> Estimate:
    """Rows of all views and one that is being scaled; then distances to the centres in every view
    and three more, and features side by side of the samples that starts are compared on."""
    n, rows = size.n_samples, sum(row_bytes(view, scaling) for view in size.views)
    # Sparse views have copies of values, columns and rows on the way.
    scaled = max(
        58 * view.n_values
        if view.is_sparse
        else scaling_bytes(view, scaling) - row_bytes(view, scaling)
        for view in size.views
    )
    distances = 8 * n * size.n_clusters * (len(size.views) + 3)
    trial = 2 * rows * min(1, TRIAL_SAMPLES / n)
    return Estimate({"rows": rows + scaled, "co-EM": round(rows + distances + trial)})


def _comparable(rows: ViewRows, is_spherical: bool) -> ViewRows:
    """Rows of length 1, or of a variance of 1 in all, so that no view outweighs the others."""
    if is_spherical:
        lengths = np.sqrt(rows.sq_norms())
        return rows.times(1 / np.where(lengths > 0, lengths, 1.0))
    return rows.times(np.full(rows.n_samples, 1 / (spread(rows) or 1.0)))


def spread(rows: ViewRows) -> float:
    """Root of the variances of all features together; 0 if that is rounding."""
    n = rows.n_samples
    mean = rows.combinations(csr_array(np.full((1, n), 1 / n)))[0]
    squares = float(rows.sq_norms().mean())
    variance = squares - float(mean @ mean)
    return float(np.sqrt(variance)) if variance > 1e-13 * squares else 0.0


def _seen_by_others(distances: Sequence[FloatArray], v: int) -> IntArray:
    """The nearest cluster of each sample by all views but one."""
    total = _OWN * distances[v]
    for w, other in enumerate(distances):
        if w != v:
            total += other
    return np.asarray(total.argmin(axis=1))


def _filled(distances: FloatArray) -> IntArray:
    """The nearest cluster of each sample; an empty one gets the sample that is farthest from its
    own centre and not alone there."""
    labels = distances.argmin(axis=1)
    sizes = np.bincount(labels, minlength=distances.shape[1])
    own = distances.min(axis=1)
    for empty in np.flatnonzero(sizes == 0):
        farthest = np.where(sizes[labels] > 1, own, -1.0).argmax()
        sizes[labels[farthest]] -= 1
        labels[farthest], sizes[empty] = empty, 1
    return np.asarray(labels)


def _matrix(rows: ViewRows) -> FloatArray | csr_array:
    """Rows to choose starts from. The shift of sparse rows would make them dense; a start can do
    without."""
    if isinstance(rows, DenseRows):
        return rows.data
    return csr_array(rows.matrix.multiply(rows.scale[:, None]))
