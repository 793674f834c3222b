"""MGL: one embedding for all views' graphs, weighted without parameters."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from manyview._typing import FloatArray
from manyview.graphs import FitSize, Neighbors
from manyview.inputs import Scaling, ViewColumns
from manyview.methods._base import MultiViewClusterer
from manyview.methods._constraints import COMMON, GRAPH, integer, real
from manyview.methods._docs import shared_docs
from manyview.methods._memory_model import (
    EDGE,
    block_bytes,
    eigenvector_bytes,
    graph_bytes,
    graph_stages,
)
from manyview.methods._predict_mixin import PredictMixin
from manyview.runtime import Estimate, logger, warn
from manyview.spectral import kmeans_labels, laplacian, relabel_by_first_sample, smallest_eigenpairs

# A view with Tr(F'L_v F) = 0 would get an infinite weight; smaller traces count as this share of C.
_LEAST_TRACE = 1e-6
# Such views get a warning if they have more than this share of all weight.
_ALL_WEIGHT = 0.9


@dataclass(frozen=True)
class MGLRound:
    """One round: sum_v sqrt(Tr(F'L_v F)) and the view weights after it."""

    round: int
    objective: float
    view_weights: tuple[float, ...]


@shared_docs
@dataclass(eq=False, repr=False)
class MGL(PredictMixin, MultiViewClusterer):
    """Parameter-free auto-weighted multiple graph learning: one embedding for all views.

    F minimises sum_v sqrt(Tr(F' L_v F)) over the normalised Laplacians L_v of the views' graphs,
    alternating with the weights alpha_v = 1 / (2 sqrt(Tr(F' L_v F))). K-means on F gives the
    labels. Also known as AMGL.

    The published program lets a view whose graph has many components, or none at all, take all
    weight or produce NaN. Here a view without edges gets no weight, weights are kept finite, and
    a warning names such views if they have nearly all weight.

    Works on sparse graphs: memory O(V k N), time O(V k N) for each product of the eigen-solver. At
    20,000 samples it takes seconds.

    Parameters
    ----------
    {common}
    {graph}
    max_iter : int, default=100
        Rounds at most.
    tol : float, default=1e-8
        Stop when the objective falls by less than this share of it.

    Attributes
    ----------
    {learned}
    view_graphs_ : list of csr_array
    view_weights_ : array of shape (n_views,)
        alpha_v.
    history_ : list of MGLRound
    n_iter_ : int
    converged_ : bool
    stop_reason_ : {"objective", "max_iter"}
    bridges_ : array of shape (n_bridges, 2)
        Pairs of samples joined because the graphs had too many components; usually none.

    See Also
    --------
    MCGL : Learns graphs rather than an embedding.
    SpectralAverage : Equal weights.

    References
    ----------
    F. Nie, J. Li and X. Li, "Parameter-free auto-weighted multiple graph learning: a framework for
    multiview clustering and semi-supervised classification", IJCAI 2016.

    Examples
    --------
    >>> from manyview import MGL
    >>> from manyview.datasets import make_blob_views
    >>> model = MGL(5, random_state=0).fit(make_blob_views(random_state=0).views)
    >>> model.converged_
    True
    """

    _constraints = COMMON | GRAPH | {"max_iter": integer(1), "tol": real(0, above=True)}

    n_clusters: int | str = 8
    _: KW_ONLY
    n_neighbors: Neighbors = "auto"
    graph: str = "adaptive"
    neighbor_search: str = "auto"
    scaling: Scaling = "paper"
    views: ViewColumns = None
    max_iter: int = 100
    tol: float = 1e-8
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the samples; X is as in `CIGMVC.fit`, y is ignored."""
        with self._running() as run, self._backend(run) as backend:
            graphs = self._graphs(backend, self._read(backend, X))
            laplacians = [
                laplacian(csr_array((graph + graph.T) / 2), normalized=True)[0]
                for graph in graphs.graphs
            ]
            embedding = self._alternate(laplacians, run.rng)
            labels = kmeans_labels(embedding, self.n_clusters_, run.seed)
            self.embedding_ = graphs.order.by_sample(embedding)
            self.labels_ = relabel_by_first_sample(graphs.order.by_sample(labels))
            self.view_graphs_ = [graphs.by_sample(graph) for graph in graphs.graphs]
        return self

    def _memory(self, size: FitSize) -> Estimate:
        """Graphs and Laplacians, and while these are summed four more of their sum."""
        total = EDGE * size.symmetrised_edges
        laplacians = min(1.5 * graph_bytes(size), len(size.views) * EDGE * size.n_samples**2)
        rounds = graph_bytes(size) + laplacians + block_bytes(size)
        eigenvectors = rounds + total + eigenvector_bytes(size)
        return graph_stages(size, fusion=rounds + 4 * total, eigenvectors=eigenvectors)

    def _alternate(self, laplacians: list[csr_array], rng: np.random.Generator) -> FloatArray:
        """Update embedding and weights alternately, from equal weights."""
        has_edges = np.array([L.nnz > 0 for L in laplacians])
        alpha = np.where(has_edges, 1 / len(laplacians), 0.0)
        least = _LEAST_TRACE * self.n_clusters_
        history: list[MGLRound] = []
        self.converged_ = False
        for number in range(1, int(self.max_iter) + 1):
            total = sum(a * L for a, L in zip(alpha, laplacians, strict=True))
            bound = 2.0 * float(alpha.sum())
            _, F = smallest_eigenpairs(csr_array(total), bound, self.n_clusters_, rng)
            traces = np.array([float((F * (L @ F)).sum()) for L in laplacians])
            roots = np.sqrt(np.maximum(traces, least))
            alpha = np.where(has_edges, 0.5 / roots, 0.0)
            objective = float(np.sqrt(np.maximum(traces, 0.0)).sum())
            history.append(MGLRound(number, objective, tuple(alpha.tolist())))
            logger.info("round %d: objective %.8g", number, objective)
            if number > 2:
                # Where all traces are 0, what is left of the objective is rounding.
                before = max(history[-2].objective, float(np.sqrt(least)) * len(laplacians))
                if history[-2].objective - objective <= self.tol * before:
                    self.converged_ = True
                    break
        self.view_weights_ = alpha
        self.history_ = history
        self.n_iter_ = number
        self.stop_reason_ = "objective" if self.converged_ else "max_iter"
        self._warn(has_edges & (traces <= 100 * least))
        return F

    def _warn(self, ignored: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        share = float(self.view_weights_[ignored].sum() / (self.view_weights_.sum() or 1.0))
        if 0 < ignored.sum() < (self.view_weights_ > 0).sum() and share > _ALL_WEIGHT:
            names = [name for name, out in zip(self.view_names_, ignored, strict=True) if out]
            warn(
                f"view(s) {', '.join(map(repr, names))} took {share:.1%} of the weight, because "
                "their graphs fall apart into about as many components as there are clusters; the "
                "other views hardly count",
            )
        if not self.converged_:
            warn(
                f"the objective still fell after max_iter={self.max_iter} rounds",
                ConvergenceWarning,
            )
