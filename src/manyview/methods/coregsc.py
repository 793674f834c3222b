"""CoregSC: co-regularised multi-view spectral clustering."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from manyview._typing import FloatArray
from manyview.graphs import FitSize, view_kernels
from manyview.inputs import Scaling, ViewColumns
from manyview.methods._base import MultiViewClusterer
from manyview.methods._constraints import COMMON, KERNEL, choice, integer, real
from manyview.methods._docs import shared_docs
from manyview.methods._memory_model import kernel_stages
from manyview.methods._predict_mixin import PredictMixin
from manyview.runtime import Estimate, logger
from manyview.spectral import kmeans_labels, largest_eigenvectors, unit_rows


@shared_docs
@dataclass(eq=False, repr=False)
class CoregSC(PredictMixin, MultiViewClusterer):
    """Co-regularised spectral clustering: each view's embedding is pulled towards the others'.

    Every view has an embedding of its own, the top eigenvectors of its normalised kernel plus
    `coupling` times the projections on the embeddings it should agree with: those of all other
    views ("pairwise"), or one in common ("centroid").

    Needs dense N x N matrices: O(V N^2) memory and O(V N^3) time per round. At 20,000 samples and
    3 views it would hold about 16 GB; with more than `max_dense_samples`
    samples `fit` raises.

    Parameters
    ----------
    {common}
    {kernel}
    scheme : {"pairwise", "centroid"}, default="pairwise"
    coupling : float, default=0.5
        lambda of the paper: how strongly embeddings are pulled together.
    max_iter : int, default=10
        Rounds; all are run.

    Attributes
    ----------
    {learned}
    view_embeddings_ : array of shape (n_views, n_samples, n_clusters)
        U_v, the embedding of every view.
    centroid_ : array of shape (n_samples, n_clusters)
        U*, with ``scheme="centroid"`` only.
    bandwidths_ : array of shape (n_views,)
        sigma of every view's kernel; empty for precomputed ones.
    n_iter_ : int

    See Also
    --------
    MSC : Also on dense kernels.
    MGL : One embedding for all views, on sparse graphs.

    References
    ----------
    A. Kumar, P. Rai and H. Daume III, "Co-regularized multi-view spectral clustering", NIPS 2011.

    Examples
    --------
    >>> from manyview import CoregSC
    >>> from manyview.datasets import make_blob_views
    >>> model = CoregSC(5, random_state=0).fit(make_blob_views(random_state=0).views)
    >>> int(model.labels_.max())
    4
    """

    _constraints = (
        COMMON
        | KERNEL
        | {"scheme": choice("pairwise", "centroid"), "coupling": real(0), "max_iter": integer(1)}
    )

    n_clusters: int = 8
    _: KW_ONLY
    scheme: str = "pairwise"
    coupling: float = 0.5
    max_iter: int = 10
    kernel: str = "gaussian"
    scaling: Scaling = "paper"
    views: ViewColumns = None
    max_dense_samples: int = 5000
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the samples; X is as in `CIGMVC.fit`, y is ignored."""
        with self._running() as run, self._backend(run) as backend:
            views = self._read(backend, X)
            self._check_dense(backend, views, self.max_dense_samples)
            kernels, self.bandwidths_ = view_kernels(views, self.kernel, self.n_clusters_)
            normalized = [_normalize(kernels.pop(0)) for _ in views.names]
            self.__dict__.pop("centroid_", None)  # of an earlier fit
            if self.scheme == "pairwise":
                embeddings = self._pairwise(normalized)
                chosen = embeddings[0]
            else:
                embeddings, chosen = self._centroid(normalized)
                self.centroid_ = chosen
            self.view_embeddings_ = np.array(embeddings)
            self.embedding_ = unit_rows(chosen)
            self.labels_ = kmeans_labels(self.embedding_, self.n_clusters_, run.seed)
        self.n_iter_ = self.max_iter
        return self

    def _memory(self, size: FitSize) -> Estimate:
        """A kernel per view, their sum, and the copy that LAPACK makes of it."""
        return kernel_stages(size, "dense eigenvectors", len(size.views) + 2.4)

    def _pairwise(self, normalized: list[FloatArray]) -> list[FloatArray]:
        """In each round update views 2, ..., V and then 1, each towards all others."""
        n_views = len(normalized)
        U = [self._top(L) for L in normalized]
        for number in range(1, int(self.max_iter) + 1):
            for v in [*range(1, n_views), 0]:
                others = np.hstack([U[w] for w in range(n_views) if w != v] or [U[v][:, :0]])
                U[v] = self._top(normalized[v] + self.coupling * others @ others.T)
            logger.info("round %d of %d", number, self.max_iter)
        return U

    def _centroid(self, normalized: list[FloatArray]) -> tuple[list[FloatArray], FloatArray]:
        """In each round the common embedding from all views', then theirs from it."""
        U = [self._top(L) for L in normalized]
        for number in range(1, int(self.max_iter) + 1):
            together = np.hstack(U)
            centroid = self._top(together @ together.T)
            U = [self._top(L + self.coupling * centroid @ centroid.T) for L in normalized]
            logger.info("round %d of %d", number, self.max_iter)
        return U, centroid

    def _top(self, matrix: FloatArray) -> FloatArray:
        return largest_eigenvectors(matrix, self.n_clusters_)


def _normalize(kernel: FloatArray) -> FloatArray:
    """D^-1/2 K D^-1/2."""
    degrees = kernel.sum(axis=1)
    root = 1 / np.sqrt(np.where(degrees > 0, degrees, 1.0))
    return root[:, None] * kernel * root
