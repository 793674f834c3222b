"""CoTrainSC: co-training for multi-view spectral clustering."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from manyview._typing import FloatArray
from manyview.graphs import FitSize, view_kernels
from manyview.inputs import Scaling, ViewColumns
from manyview.methods._base import MultiViewClusterer
from manyview.methods._constraints import COMMON, KERNEL, integer
from manyview.methods._docs import shared_docs
from manyview.methods._memory_model import kernel_stages
from manyview.methods._predict_mixin import PredictMixin
from manyview.runtime import Estimate, logger
from manyview.spectral import kmeans_labels, largest_eigenvectors, unit_rows


@shared_docs
@dataclass(eq=False, repr=False)
class CoTrainSC(PredictMixin, MultiViewClusterer):
    """Co-trained spectral clustering: each view's kernel is projected on the eigenvectors of the
    other views.

    Every view has an embedding U_v, the top C eigenvectors of its normalised kernel. In a round all
    are replaced by those of S_v = sym(P_v K_v), normalised, with P_v the sum of the projections
    U_w U_w' of the other views as they were before the round. k-means clusters the embeddings of
    all views side by side, rows of each scaled to length 1.

    Views in which all samples are equal are left out; their embedding is 0.

    S_v has a rank of at most 2 (V - 1) C, so its eigenvectors come from a matrix of that size.

    Needs dense N x N matrices: O(V N^2) memory, O(V N^3) time once and O(V N^2 C) per round.
    With more than `max_dense_samples` samples `fit` raises.

    Parameters
    ----------
    {common}
    {kernel}
    max_iter : int, default=10
        Rounds; all are run.

    Attributes
    ----------
    {learned}
    view_embeddings_ : array of shape (n_views, n_samples, n_clusters)
        U_v, the embedding of every view.
    bandwidths_ : array of shape (n_views,)
        sigma of every view's kernel; empty for precomputed ones.
    n_iter_ : int

    See Also
    --------
    CoregSC : Pulls the embeddings together instead.
    MGL : One embedding for all views, on sparse graphs.

    References
    ----------
    A. Kumar and H. Daume III, "A co-training approach for multi-view spectral clustering", ICML
    2011.

    Examples
    --------
    >>> from manyview import CoTrainSC
    >>> from manyview.datasets import make_blob_views
    >>> model = CoTrainSC(5, random_state=0).fit(make_blob_views(random_state=0).views)
    >>> int(model.labels_.max())
    4
    """

    _constraints = COMMON | KERNEL | {"max_iter": integer(1)}

    n_clusters: int = 8
    _: KW_ONLY
    max_iter: int = 10
    kernel: str = "gaussian"
    scaling: Scaling = "auto"
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
            embeddings = self._co_trained(kernels)
            self.view_embeddings_ = np.array(embeddings)
            self.embedding_ = np.hstack([unit_rows(U) for U in embeddings])
            self.labels_ = kmeans_labels(self.embedding_, self.n_clusters_, run.seed)
        self.n_iter_ = self.max_iter
        return self

    def _memory(self, size: FitSize) -> Estimate:
        """A kernel per view, one normalised, and the copy that LAPACK makes of it."""
        return kernel_stages(size, "dense eigenvectors", len(size.views) + 2.4)

    def _co_trained(self, kernels: list[FloatArray]) -> list[FloatArray]:
        told = [kernel for kernel in kernels if np.ptp(kernel) > 0]
        U = [self._top(kernel) for kernel in told]
        for number in range(1, int(self.max_iter) + 1):
            if len(U) > 1:  # a single view has none to learn from
                others = [np.hstack([*U[:v], *U[v + 1 :]]) for v in range(len(U))]
                pairs = zip(told, others, strict=True)
                U = [_top_of_projected(kernel, W, self.n_clusters_) for kernel, W in pairs]
            logger.info("round %d of %d", number, self.max_iter)
        # Eigenvectors of a constant kernel are arbitrary, and others would learn from them.
        silent, found = np.zeros((len(kernels[0]), self.n_clusters_)), iter(U)
        return [next(found) if np.ptp(kernel) > 0 else silent for kernel in kernels]

    def _top(self, kernel: FloatArray) -> FloatArray:
        root = _inverse_root(kernel.sum(axis=1))
        return largest_eigenvectors(root[:, None] * kernel * root, self.n_clusters_)


def _top_of_projected(kernel: FloatArray, W: FloatArray, count: int) -> FloatArray:
    """Top eigenvectors of S = (W W' K + K W W') / 2, normalised by the sums of its rows.

    With B = K W, S is (W B' + B W') / 2. Where Q R = [W B], it is Q M Q' with a small M.
    """
    B = kernel @ W
    root = _inverse_root((W @ B.sum(axis=0) + B @ W.sum(axis=0)) / 2)[:, None]
    Q, R = np.linalg.qr(np.hstack([root * W, root * B]))
    left, right = np.hsplit(R, 2)
    small = left @ right.T
    return np.asarray(Q @ largest_eigenvectors((small + small.T) / 2, count))


def _inverse_root(sums: FloatArray) -> FloatArray:
    """1 / sqrt|d|; sums of projected kernels may be negative."""
    sizes = np.abs(sums)
    return np.asarray(1 / np.sqrt(np.where(sizes > 0, sizes, 1.0)))
