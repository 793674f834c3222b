"""Eigenpairs of graph Laplacians, and which solver computes them.

The Laplacian of a graph with several connected components is block diagonal. Components are solved
separately: each has the eigenvalue 0, so the multiple eigenvalue that is hardest for iterative
solvers need not be computed.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import eigsh
from sklearn.exceptions import ConvergenceWarning

from manyview._typing import FloatArray, IntArray
from manyview.graphs import breadth_first_depth, component_labels
from manyview.runtime import RowShare, some_eigenpairs, warn
from manyview.spectral._chebyshev import (
    EXACT,
    SPARE_VECTORS,
    Eigenpairs,
    NullSpace,
    Operator,
    chebyshev_eigenpairs,
)
from manyview.spectral._laplacian import (
    Graph,
    ScaledGraph,
    dense_laplacian,
    laplacian,
    laplacian_operator,
    null_vector,
    share_of,
)

#: Components of up to this many samples are solved densely by LAPACK, larger ones by Lanczos.
DENSE_LIMIT = 500
#: The same where more than one eigenvector in 20 is wanted: there LAPACK is faster for longer.
DENSE_LIMIT_MANY = 4000
#: Graphs of more samples than this go to the Chebyshev solver.
CHEBYSHEV_LIMIT = 5_000
# Residuals ||L x - w x|| above this share of the eigenvalues' bound mean no convergence.
_RESIDUAL = 1e-8
# Tolerance of the Chebyshev solver where its vectors are more than the start of the next round.
_FINE = 1e-6
#: The same for a soft embedding, and where only rough clusters are needed.
SOFT, ROUGH = 1e-3, 3e-3
# Up to this many samples, computing all eigenpairs is faster than computing some.
_SMALL = 64
# From exact eigenvectors of a similar graph: the first degree of the Chebyshev filter, and the
# product limit, beyond which a direct solver is faster.
_DEGREE_FROM_EXACT = 20
_PRODUCTS_FROM_EXACT = 240
# Power of the factors of the eigenvectors in a soft embedding.
_SOFTNESS = 0.75
# A gap is clear if eigenvalue C is less than this share of the next one. A group is tiny if it has
# less than this share of the mean size of a cluster, or two samples.
_GAP, _TINY = 0.25, 0.02


def is_large(n_samples: int) -> bool:
    """Whether graphs of so many samples go to the Chebyshev solver."""
    return n_samples > CHEBYSHEV_LIMIT


@dataclass(frozen=True)
class Spectrum:
    """The smallest eigenpairs of a graph Laplacian."""

    # (n_samples, C): F: eigenvectors of the C smallest eigenvalues. They are not unique if the
    # graph has more than C connected components; then those of the C largest components are given.
    embedding: FloatArray
    values: FloatArray  # (C + 1,): the smallest eigenvalues; the last is infinite for C = N
    n_components: int
    components: IntArray  # (n_samples,): each sample's connected component, numbered by first rows
    # The largest ||L f - w f|| in the embedding, as a share of the bound of the eigenvalues; 0 if
    # the solver works to machine precision.
    residual: float = 0.0
    converged: bool = True  # whether the embedding is as exact as requested
    warm_start: Eigenpairs | None = None  # a start for the next, similar problem
    share: RowShare | None = None  # the rows of embedding and components; None if all

    @property
    def rows(self) -> RowShare:
        """The rows of embedding and components."""
        return self.share or RowShare(len(self.embedding))

    @property
    def sum_c(self) -> float:
        """Sum of the C smallest eigenvalues."""
        return float(self.values[:-1].sum())

    @property
    def sum_c1(self) -> float:
        """Sum of the C + 1 smallest eigenvalues."""
        return float(self.values.sum())

    def warn_unless_converged(self) -> None:
        if not self.converged:
            warn(
                f"the eigenvectors did not converge (residual {self.residual:.1e}): their "
                "eigenvalues are too close to the following ones, as in a graph with fewer "
                "clusters than requested",
                ConvergenceWarning,
            )


def scaled_graph(graph: Graph) -> Graph:
    """A large graph on one machine as its normalised Laplacian, written over it; others stay."""
    if not isinstance(graph, csr_array) or not is_large(graph.shape[0]):
        return graph
    return ScaledGraph(*laplacian_operator(graph, True, np.float32, overwrite=True))


def laplacian_spectrum(
    graph: Graph,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    normalized: bool = False,
    start: Eigenpairs | None = None,
    soft_tolerance: float | None = None,
) -> Spectrum:
    """Eigenpairs of the Laplacian of a symmetric graph without stored zeros.

    `soft_tolerance` is that of large graphs if the eigenpairs are for a soft embedding.

    A distributed graph always goes to the Chebyshev solver: no machine has the memory for a
    factorisation.
    """
    is_csr = isinstance(graph, csr_array)
    is_local = is_csr or isinstance(graph, ScaledGraph)
    components = component_labels(graph) if is_csr else graph.components()
    problem = (graph, n_clusters, components, rng, normalized)
    if not is_local or is_large(len(components)):
        soft: dict[str, Any] = {}
        if soft_tolerance is not None:
            soft = {"tolerance": soft_tolerance, "is_soft": True}
        found = _chebyshev_spectrum(*problem, start, **soft)
        if found.converged or not is_local:
            return found
        if not is_csr:
            graph = graph.unscaled()
        if not _has_large_diameter(graph):
            return found
        problem = (graph.astype(np.float64), *problem[1:])
    elif start is not None and graph.shape[0] > DENSE_LIMIT and not start.is_hard:
        found = _chebyshev_spectrum(
            *problem, start, tolerance=EXACT, max_products=_PRODUCTS_FROM_EXACT
        )
        if found.converged:
            return found
    found = _direct_spectrum(*problem)
    if start is None or found.warm_start is None:
        return found
    return replace(found, warm_start=replace(found.warm_start, is_hard=True))


def _direct_spectrum(
    graph: csr_array,
    n_clusters: int,
    components: IntArray,
    rng: np.random.Generator,
    normalized: bool,
) -> Spectrum:
    """As `laplacian_spectrum`, component by component, by LAPACK or Lanczos."""
    n, sizes = len(components), np.bincount(components)
    members = np.split(np.argsort(components, kind="stable"), np.cumsum(sizes)[:-1])
    null = null_vector(np.asarray(graph.sum(axis=1)), normalized)[0]
    wanted = n_clusters + 1 - len(sizes)
    number = np.empty(n, dtype=np.intp)  # of each sample within its component
    eigenpairs = []
    for component in np.argsort(-sizes, kind="stable")[:n_clusters]:
        own = members[component]
        w, x = np.zeros(1), null[own, None] / np.linalg.norm(null[own, None])
        if wanted > 0 and len(own) > 1:
            count = min(wanted + 1 + SPARE_VECTORS, len(own))
            if len(own) <= DENSE_LIMIT:
                number[own] = np.arange(len(own))
                L = dense_laplacian(graph, own, number, normalized)
                w, x = _dense_eigenpairs(L, count)
            else:
                block = graph if len(sizes) == 1 else graph[own][:, own]
                w, x = smallest_eigenpairs(*laplacian(block, normalized), count, rng)
            w = np.concatenate([[0.0], np.maximum(w[1:], 0.0)])
        eigenpairs.append((own, w, x))
    return _merge(n_clusters, components, len(sizes), eigenpairs)


def _merge(
    n_clusters: int,
    components: IntArray,
    n_components: int,
    eigenpairs: list[tuple[IntArray, FloatArray, FloatArray]],
) -> Spectrum:
    """Sort samples, values and vectors of the components into one spectrum, smallest first."""
    values = np.concatenate([w for _, w, _ in eigenpairs])
    source = np.repeat(np.arange(len(eigenpairs)), [len(w) for _, w, _ in eigenpairs])
    column = np.concatenate([np.arange(len(w)) for _, w, _ in eigenpairs])
    order = np.lexsort((column, values))  # null vectors first
    lowest = np.zeros((len(components), min(n_clusters + 1 + SPARE_VECTORS, len(order))))
    for c, e in enumerate(order[: lowest.shape[1]]):
        own, _, x = eigenpairs[source[e]]
        lowest[own, c] = x[:, column[e]]
    embedding = lowest[:, :n_clusters].copy()
    start = None
    if n_components <= n_clusters < lowest.shape[1]:
        rest = values[order[n_components : lowest.shape[1]]]
        start = Eigenpairs(rest, lowest[:, n_components:], 0.0, True, 0, _DEGREE_FROM_EXACT)
    smallest = np.append(values[order], np.inf)[: n_clusters + 1]
    if n_components > n_clusters:  # the eigenvalue 0 of a component that was not solved
        smallest[-1] = 0.0
    return Spectrum(embedding, smallest, n_components, components, warm_start=start)


def _chebyshev_spectrum(
    graph: Graph,
    n_clusters: int,
    components: IntArray,
    rng: np.random.Generator,
    normalized: bool,
    start: Eigenpairs | None,
    **options: Any,
) -> Spectrum:
    """As `laplacian_spectrum`, by the Chebyshev solver; `options` are passed to it."""
    share = share_of(graph)
    n_components = share.count(components)
    dtype = np.float32 if is_large(share.n_samples) else np.float64
    operator, null = laplacian_operator(graph, normalized, dtype)
    embedding: Any = np.zeros((len(null), n_clusters), dtype)
    sizes = share.total(partial(np.bincount, minlength=n_components), components)
    squares = share.total(partial(np.bincount, minlength=n_components), components, null**2)
    for c, component in enumerate(np.argsort(-sizes, kind="stable")[:n_clusters]):
        own = components == component
        embedding[own, c] = null[own] / np.sqrt(squares[component])
    if n_components > n_clusters:
        zeros = np.zeros(n_clusters + 1)
        return Spectrum(embedding, zeros, n_components, components, share=share)
    wanted = n_clusters - n_components
    low = chebyshev_eigenpairs(operator, wanted, NullSpace(components, null), start, rng, **options)
    embedding[:, n_components:] = low.vectors[:, :wanted]
    values = np.concatenate([np.zeros(n_components), np.maximum(low.values[: wanted + 1], 0.0)])
    return Spectrum(
        embedding, values, n_components, components, low.residual, low.converged, low, share
    )


def normalized_embedding(graph: csr_array, n_clusters: int, rng: np.random.Generator) -> FloatArray:
    """Rows for k-means: eigenvectors of the normalised Laplacian, each row of length 1."""
    spectrum = laplacian_spectrum(graph, n_clusters, rng, normalized=True)
    spectrum.warn_unless_converged()
    return unit_rows(spectrum.embedding)


def leading(spectrum: Spectrum, count: int) -> Spectrum:
    """The spectrum with fewer eigenvectors."""
    count = min(count, spectrum.embedding.shape[1])
    values = spectrum.values[: count + 1]
    return replace(spectrum, embedding=spectrum.embedding[:, :count], values=values)


def soft_embedding(
    vectors: FloatArray, values: FloatArray, n_clusters: int, share: RowShare | None = None
) -> FloatArray:
    """Rows for k-means from more eigenvectors of the normalised Laplacian than clusters.

    `values` are their eigenvalues, and the next one, w. Eigenvector i is multiplied by
    (1 - w_i / w)^(3/4), and rows are scaled to length 1, so that small tight groups of samples do
    not take all vectors. Where a clear gap follows the first C eigenvalues, C the number of
    clusters, further vectors fade: else k-means would rather split a large cluster than tell small
    ones apart. They stay if the gap is due to tiny groups. `share` tells which rows of all are
    given; by default all.
    """
    share = share or RowShare(len(vectors))
    own, last = values[:-1], values[-1]
    part = own / last if 0 < last < np.inf else np.zeros_like(own)
    factors = np.maximum(1 - part, 0.0) ** _SOFTNESS
    has_rest = len(own) > n_clusters and own[n_clusters] > 0
    if has_rest and not _tiny_groups(vectors[:, :n_clusters], share):
        ratio = max(float(own[n_clusters - 1]), 0.0) / float(own[n_clusters])
        factors[n_clusters:] *= min(ratio / _GAP, 1.0)
    factors = factors.astype(vectors.dtype)
    return share.by_row(lambda rows: unit_rows(rows * factors), vectors)


def _tiny_groups(vectors: FloatArray, share: RowShare) -> bool:
    """Whether some eigenvectors belong to a few samples only.

    If every vector belongs to one cluster, the squares of a row add up to about 1 / the size of its
    cluster, whatever the basis.
    """
    n, n_clusters = share.n_samples, vectors.shape[1]
    squares = share.by_row(lambda rows: np.einsum("ij,ij->i", rows, rows), vectors)
    smallest = 1 / np.maximum(share.highest(squares), 1 / n)
    return bool(smallest < max(_TINY * n / n_clusters, 2.5))


def unit_rows(embedding: FloatArray) -> FloatArray:
    """Each row scaled to length 1; rows of zeros stay."""
    lengths = np.linalg.norm(embedding, axis=1, keepdims=True)
    return embedding / np.where(lengths > 0, lengths, 1.0)


def largest_eigenvectors(matrix: FloatArray, count: int) -> FloatArray:
    """Eigenvectors of the `count` largest eigenvalues of a dense symmetric matrix."""
    n = len(matrix)
    return some_eigenpairs(matrix, n - count, n - 1)[1]


def _dense_eigenpairs(matrix: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """The `count` smallest eigenpairs."""
    if len(matrix) <= _SMALL:
        w, x = np.linalg.eigh(matrix)
        return w[:count], x[:, :count]
    return some_eigenpairs(matrix, 0, count - 1)


def smallest_eigenpairs(
    matrix: csr_array, bound: float, count: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """The `count` smallest eigenpairs of a positive semi-definite matrix below `bound`."""
    n = matrix.shape[0]
    if n <= DENSE_LIMIT or (n <= DENSE_LIMIT_MANY and 20 * count > n):
        return _dense_eigenpairs(matrix.toarray(), count)
    long = _has_large_diameter(matrix)
    if is_large(n) and not long:
        weights = csr_array((-matrix.data.astype(np.float32), matrix.indices, matrix.indptr))
        operator = Operator(np.zeros(n), weights, bound)
        low = chebyshev_eigenpairs(operator, count, None, None, rng, tolerance=_FINE)
        if not low.converged:
            warn(
                f"the eigen-solver left a residual of {low.residual:.1e} on a graph of {n} samples",
                ConvergenceWarning,
            )
        return low.values[:count], low.vectors[:, :count]
    options: Any = {"tol": 0, "ncv": min(max(3 * count, 20), n), "v0": rng.standard_normal(n)}
    if long:  # eigenvalues are too close together for Lanczos, but the graph factorises well
        w, x = eigsh(matrix.tocsc(), count, sigma=-1e-6 * bound, which="LM", **options)
    else:
        # The smallest eigenvalues of L are the largest of bound I - L: no linear systems to solve.
        flipped = csr_array(diags_array(np.full(n, bound)) - matrix)
        w, x = eigsh(flipped, count, which="LA", **options)
        w, x = bound - w[::-1], x[:, ::-1]
    residual = np.linalg.norm(matrix @ x - w * x, axis=0).max()
    if residual > _RESIDUAL * bound:
        raise RuntimeError(
            f"the eigen-solver left a residual of {residual:.1e} on a graph of {n} samples"
        )
    return w, x


def _has_large_diameter(matrix: csr_array) -> bool:
    """Whether some sample is more edges away from the first than in a three-dimensional grid."""
    return bool(breadth_first_depth(matrix) > max(20, matrix.shape[0] ** (1 / 3)))
