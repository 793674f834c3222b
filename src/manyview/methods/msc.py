"""MSC: robust multi-view spectral clustering by a low-rank and sparse decomposition."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import svd
from sklearn.exceptions import ConvergenceWarning

from manyview._typing import FloatArray
from manyview.graphs import FitSize, view_kernels
from manyview.inputs import Scaling, ViewColumns
from manyview.methods._base import MultiViewClusterer
from manyview.methods._constraints import COMMON, KERNEL, integer, real
from manyview.methods._docs import shared_docs
from manyview.methods._memory_model import kernel_stages
from manyview.methods._predict_mixin import PredictMixin
from manyview.runtime import Estimate, logger, warn
from manyview.spectral import kmeans_labels, largest_eigenvectors, unit_rows

# The published schedule of the augmented Lagrangian's weight: start, growth, limit.
_MU, _GROWTH, _MU_LIMIT = 1e-3, 1.9, 1e10


@shared_docs
@dataclass(eq=False, repr=False)
class MSC(PredictMixin, MultiViewClusterer):
    """Spectral clustering of a low-rank transition matrix that all views share but for errors.

    Each view's kernel is a matrix of transition probabilities T_v = P + E_v; P has low rank, E_v is
    sparse: minimise ||P||_* + `sparsity` sum_v ||T_v - P||_1 over row-stochastic P >= 0 by an
    augmented Lagrangian, then cluster P's chain. Also known as RMSC.

    Needs dense N x N matrices and one singular value decomposition per round: O(V N^2) memory,
    O(N^3) time. At 20,000 samples and 3 views it would hold about 64 GB; with more than
    `max_dense_samples` samples `fit` raises.

    Parameters
    ----------
    {common}
    {kernel}
    sparsity : float or "auto", default="auto"
        lambda of the paper: the price of errors. Errors are counted over V N rows, rank is not, so
        a price that is too low for few samples leaves a matrix of rank one. "auto" is 0.005, or
        2.25 / (V N) where that is more.
    max_iter : int, default=100
        Maximum number of rounds; the published schedule needs about 30.
    tol : float, default=1e-6
        Stop when every row sum of abs(T_v - P - E_v) is below this.

    Attributes
    ----------
    {learned}
    transition_matrix_ : array of shape (n_samples, n_samples)
        P.
    bandwidths_ : array of shape (n_views,)
        sigma of every view's kernel; empty for precomputed ones.
    n_iter_ : int
    converged_ : bool
    stop_reason_ : {"residual", "max_iter"}

    See Also
    --------
    CoregSC : Also on dense kernels.
    CIGMVC : A split into parts that agree and errors, on sparse graphs.

    References
    ----------
    R. Xia, Y. Pan, L. Du and J. Yin, "Robust multi-view spectral clustering via low-rank and
    sparse decomposition", AAAI 2014.

    Examples
    --------
    >>> from manyview import MSC
    >>> from manyview.datasets import make_blob_views
    >>> model = MSC(5, random_state=0).fit(make_blob_views(100, random_state=0).views)
    >>> model.converged_
    True
    """

    _constraints = (
        COMMON
        | KERNEL
        | {
            "sparsity": real(0, "auto", above=True),
            "max_iter": integer(1),
            "tol": real(0, above=True),
        }
    )

    n_clusters: int = 8
    _: KW_ONLY
    sparsity: float | str = "auto"
    max_iter: int = 100
    tol: float = 1e-6
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
            T = [_row_stochastic(kernels.pop(0)) for _ in views.names]
            P = self._decompose(T)
            top = largest_eigenvectors(_symmetric_chain(P), self.n_clusters_)
            self.embedding_ = unit_rows(top)
            self.labels_ = kmeans_labels(self.embedding_, self.n_clusters_, run.seed)
        self.transition_matrix_ = P
        return self

    def _memory(self, size: FitSize) -> Estimate:
        """T, E and Y per view; Q, Z and P; nine for a singular value decomposition."""
        return kernel_stages(size, "decomposition", 3 * len(size.views) + 11)

    def _decompose(self, T: list[FloatArray]) -> FloatArray:
        """The augmented Lagrangian: P by row projections, E_v by thresholds, Q low rank = P.

        View by view, so that no more than 3 matrices per view are held.
        """
        n_views, n = len(T), len(T[0])
        Q, Z = np.zeros((n, n)), np.zeros((n, n))  # the low-rank copy of P and its multiplier
        E = [np.zeros((n, n)) for _ in T]  # the errors
        Y = [np.zeros((n, n)) for _ in T]  # and their multipliers
        price = (
            max(0.005, 2.25 / (n_views * n)) if self.sparsity == "auto" else float(self.sparsity)
        )
        mu = _MU
        for number in range(1, int(self.max_iter) + 1):
            P = Q - Z / mu
            for v in range(n_views):
                P += T[v] - E[v] + Y[v] / mu
            P = _project_rows(P / (n_views + 1))
            largest = 0.0
            for v in range(n_views):
                E[v] = _soften(T[v] - P + Y[v] / mu, price / mu)
                residual = T[v] - P - E[v]
                Y[v] += mu * residual
                largest = max(largest, float(np.abs(residual).sum(axis=1).max()))
            Q = _shrink(P + Z / mu, 1 / mu)
            Z += mu * (P - Q)
            mu = min(_GROWTH * mu, _MU_LIMIT)
            logger.info("round %d: residual %.2g", number, largest)
            if largest < self.tol:
                break
        self.n_iter_ = number
        self.converged_ = largest < self.tol
        self.stop_reason_ = "residual" if self.converged_ else "max_iter"
        if not self.converged_:
            warn(
                f"the decomposition ended after max_iter={self.max_iter} rounds with a residual of "
                f"{largest:.1e}; expected one below tol={self.tol:g}",
                ConvergenceWarning,
            )
        return P


def _row_stochastic(kernel: FloatArray) -> FloatArray:
    sums = kernel.sum(axis=1, keepdims=True)
    # A sample without any similarity goes anywhere.
    return np.where(sums > 0, kernel / np.where(sums > 0, sums, 1.0), 1 / len(kernel))


def _project_rows(Q: FloatArray) -> FloatArray:
    """Euclidean projection of every row on the probability simplex."""
    ordered = np.sort(Q, axis=1)[:, ::-1]
    levels = (np.cumsum(ordered, axis=1) - 1) / np.arange(1, Q.shape[1] + 1)
    last = (ordered > levels).sum(axis=1, keepdims=True) - 1
    return np.maximum(Q - np.take_along_axis(levels, last, axis=1), 0.0)


def _soften(X: FloatArray, threshold: float) -> FloatArray:
    return np.asarray(np.sign(X) * np.maximum(np.abs(X) - threshold, 0.0))


def _shrink(X: FloatArray, threshold: float) -> FloatArray:
    """Singular values down by `threshold`, those below it to 0."""
    if np.linalg.norm(X) <= threshold:  # then so is the largest of them
        return np.zeros_like(X)
    u, s, vt = svd(X, full_matrices=False, overwrite_a=True, check_finite=False)
    kept = int((s > threshold).sum())
    return np.asarray((u[:, :kept] * (s[:kept] - threshold)) @ vt[:kept])


def _symmetric_chain(P: FloatArray) -> FloatArray:
    """(pi^1/2 P pi^-1/2 + its transpose) / 2 with pi the stationary distribution of P."""
    n = len(P)
    # pi (P - I) = 0 and sum pi = 1 in one system; least squares, as P may fall apart.
    system = np.vstack([P.T - np.eye(n), np.ones((1, n))])
    pi = np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0]
    root = np.sqrt(np.maximum(pi, 1e-6 / n))
    chain = root[:, None] * P / root
    return np.asarray((chain + chain.T) / 2)
