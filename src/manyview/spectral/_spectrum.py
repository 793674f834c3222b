"""Laplacians of symmetric graphs: eigenpairs, embeddings, connected components.

The Laplacian of a graph in several pieces is block diagonal. Its pieces are solved one by one:
each gives the eigenvalue 0 for free, which also removes the multiple eigenvalue that iterative
solvers find hardest.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import eigsh
from sklearn.exceptions import ConvergenceWarning

from manyview._typing import FloatArray, IntArray
from manyview.graphs import component_labels
from manyview.spectral._chebyshev import (
    EXACT,
    MAX_PRODUCTS,
    SPARE_VECTORS,
    TOLERANCE,
    Eigenpairs,
    NullSpace,
    Operator,
    Symmetric,
    chebyshev_eigenpairs,
)

#: Pieces of up to this many samples are solved densely by LAPACK, larger ones by Lanczos.
DENSE_LIMIT = 500
#: Up to this many are still solved densely where more than one eigenvector in 20 is wanted: there
#: LAPACK is the faster one.
DENSE_LIMIT_MANY = 4000
#: Beyond this many samples `manyview.spectral._chebyshev` takes over.
CHEBYSHEV_LIMIT = 5_000
# Residuals ||L x - w x|| above this share of the eigenvalues' bound mean no convergence.
_RESIDUAL = 1e-8
# What is asked of the solver for many samples where its vectors are not just a round's start.
_FINE = 1e-6
# Up to this many samples all eigenpairs come faster than some.
_SMALL = 64
# A first degree for the filter that goes on from exact eigenvectors of a similar graph, and the
# products after which a direct solver is the faster way.
_DEGREE_FROM_EXACT = 20
_PRODUCTS_FROM_EXACT = 160


def is_large(n_samples: int) -> bool:
    """Whether embeddings of so many samples come from the solver for many."""
    return n_samples > CHEBYSHEV_LIMIT


@dataclass(frozen=True)
class Spectrum:
    """The low end of a graph Laplacian's spectrum.

    Attributes
    ----------
    embedding : array of shape (n_samples, C)
        F: eigenvectors of the C smallest eigenvalues. Where the graph has more than C components
        they are not determined; then those of the C largest components are given.
    values : array of shape (C + 1,)
        The smallest eigenvalues; the last is infinite for C = N.
    n_components : int
    components : array of shape (n_samples,)
        Number of each sample's component, in the order of first rows.
    residual : float
        The largest ||L f - w f|| in the embedding, as a share of the bound of the eigenvalues;
        0 where the solver works to machine precision.
    converged : bool
        Whether the embedding is as exact as the solver was asked for.
    warm_start : Eigenpairs, optional
        A start for the next, similar problem.
    """

    embedding: FloatArray
    values: FloatArray
    n_components: int
    components: IntArray
    residual: float = 0.0
    converged: bool = True
    warm_start: Eigenpairs | None = None

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
            warnings.warn(
                f"the eigenvectors did not converge (residual {self.residual:.1e}): their "
                "eigenvalues lie too close to those that follow, as they do where there are fewer "
                "clusters in the graph than asked for",
                ConvergenceWarning,
                stacklevel=4,
            )


class SymmetricGraph(Protocol):
    """A symmetric graph of many samples whose rows are not all in one place."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def components(self) -> IntArray:
        """Number of each sample's connected component, in the order of first samples."""

    def laplacian(self, normalized: bool) -> tuple[Symmetric, FloatArray]:
        """The Laplacian and its null vector."""


Graph: TypeAlias = Any  # csr_array, which has no type, or SymmetricGraph


def laplacian_spectrum(
    graph: Graph,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    normalized: bool = False,
    start: Eigenpairs | None = None,
) -> Spectrum:
    """Eigenpairs of D - M, or of I - D^-1/2 M D^-1/2, for a symmetric M without stored zeros.

    A graph that is spread must be large.
    """
    n = graph.shape[0]
    components = component_labels(graph) if isinstance(graph, csr_array) else graph.components()
    n_components = int(components.max(initial=-1)) + 1
    if not isinstance(graph, csr_array):
        # No place would have room for what a direct solver makes of it.
        return _filtered_spectrum(graph, n_clusters, components, rng, normalized, start)
    if is_large(n):
        found = _filtered_spectrum(graph, n_clusters, components, rng, normalized, start)
        if found.converged or not _is_long(graph):
            return found
        graph = graph.astype(np.float64)
    elif start is not None and n > DENSE_LIMIT and not start.is_hard:
        found = _filtered_spectrum(
            graph, n_clusters, components, rng, normalized, start,
            tolerance=EXACT, max_products=_PRODUCTS_FROM_EXACT,
        )  # fmt: skip
        if found.converged:
            return found
    sizes = np.bincount(components)
    members = np.split(np.argsort(components, kind="stable"), np.cumsum(sizes)[:-1])
    largest = np.argsort(-sizes, kind="stable")[:n_clusters]
    null = np.sqrt(_positive(graph.sum(axis=1))) if normalized else np.ones(n)
    values = [np.zeros(1) for _ in largest]
    vectors = [(members[p], _unit(null[members[p], None])) for p in largest]
    wanted = n_clusters + 1 - n_components
    if wanted > 0:
        number = np.empty(n, dtype=np.intp)  # of each sample within its piece
        for place, piece in enumerate(largest):
            own = members[piece]
            if len(own) > 1:
                count = min(wanted + 1 + SPARE_VECTORS, len(own))
                if len(own) <= DENSE_LIMIT:
                    number[own] = np.arange(len(own))
                    L = _dense_laplacian(graph, own, number, normalized)
                    w, x = _dense_eigenpairs(L, count)
                else:
                    block = graph if n_components == 1 else graph[own][:, own]
                    w, x = smallest_eigenpairs(*laplacian(block, normalized), count, rng)
                values[place] = np.concatenate([[0.0], np.maximum(w[1:], 0.0)])
                vectors[place] = (own, x)
    found = _assemble(n, n_clusters, n_components, components, values, vectors)
    if start is None or found.warm_start is None:
        return found
    return replace(found, warm_start=replace(found.warm_start, is_hard=True))


def _dense_laplacian(
    graph: csr_array, own: IntArray, number: IntArray, normalized: bool
) -> FloatArray:
    """The Laplacian of one piece; slicing sparse matrices would take longer than solving it."""
    starts, stops = graph.indptr[own], graph.indptr[own + 1]
    places = np.concatenate([np.arange(a, b) for a, b in zip(starts, stops, strict=True)])
    L = np.zeros((len(own), len(own)))
    rows = np.repeat(np.arange(len(own)), stops - starts)
    L[rows, number[graph.indices[places]]] = -graph.data[places]
    degrees = -L.sum(axis=1)
    L[np.diag_indices(len(own))] += degrees
    if normalized:
        root = 1 / np.sqrt(_positive(degrees))
        L *= root[:, None]  # one after the other: the product of two may be too large
        L *= root
    return L


def _filtered_spectrum(
    graph: Graph,
    n_clusters: int,
    components: IntArray,
    rng: np.random.Generator,
    normalized: bool,
    start: Eigenpairs | None,
    *,
    tolerance: float = TOLERANCE,
    max_products: int = MAX_PRODUCTS,
) -> Spectrum:
    """As `laplacian_spectrum`, for many samples: the components' null vectors come for free."""
    n_components = int(components.max()) + 1
    operator, null = _laplacian_operator(graph, normalized)
    embedding = np.zeros((len(null), n_clusters))
    sizes = np.bincount(components)
    for c, piece in enumerate(np.argsort(-sizes, kind="stable")[:n_clusters]):
        own = components == piece
        embedding[own, c] = null[own] / np.linalg.norm(null[own])
    if n_components > n_clusters:
        return Spectrum(embedding, np.zeros(n_clusters + 1), n_components, components)
    wanted = n_clusters - n_components
    low = chebyshev_eigenpairs(
        operator, wanted, NullSpace(components, null), start, rng,
        tolerance=tolerance, max_products=max_products,
    )  # fmt: skip
    embedding[:, n_components:] = low.vectors[:, :wanted]
    values = np.concatenate([np.zeros(n_components), np.maximum(low.values[: wanted + 1], 0.0)])
    return Spectrum(embedding, values, n_components, components, low.residual, low.converged, low)


def _laplacian_operator(graph: Graph, normalized: bool) -> tuple[Symmetric, FloatArray]:
    """The Laplacian, and the vector whose parts on the pieces it sends to 0."""
    if not isinstance(graph, csr_array):
        spread: SymmetricGraph = graph
        return spread.laplacian(normalized)
    kind = np.float32 if is_large(graph.shape[0]) else np.float64
    links = graph.astype(kind, copy=normalized)
    degrees = degrees_of(links)
    null, bound = null_vector(degrees, normalized)
    return laplacian_rows(links, degrees, null if normalized else None, bound, 0), null


def null_vector(degrees: FloatArray, normalized: bool) -> tuple[FloatArray, float]:
    """What the Laplacian of a connected graph sends to 0, and a bound of its eigenvalues."""
    if not normalized:
        return np.ones(len(degrees)), 2.0 * float(degrees.max())
    return np.sqrt(_positive(degrees)), 2.0


def degrees_of(rows: csr_array) -> FloatArray:
    return np.asarray(rows.sum(axis=1, dtype=np.float64))


def laplacian_rows(
    links: csr_array, degrees: FloatArray, null: FloatArray | None, bound: float, first: int
) -> Operator:
    """Rows of the Laplacian, from `first` on. With its null vector given it is the normalised one,
    and the links are written over."""
    if null is None:
        return Operator(degrees, links, bound, first)
    own = null[first : first + links.shape[0]]
    links.data /= np.repeat(own, np.diff(links.indptr)) * null[links.indices]
    return Operator(np.asarray(links @ null) / own, links, bound, first)


def normalized_embedding(graph: csr_array, n_clusters: int, rng: np.random.Generator) -> FloatArray:
    """Rows for k-means: eigenvectors of the normalised Laplacian, each row of length 1."""
    spectrum = laplacian_spectrum(graph, n_clusters, rng, normalized=True)
    spectrum.warn_unless_converged()
    return unit_rows(spectrum.embedding)


def unit_rows(embedding: FloatArray) -> FloatArray:
    """Each row scaled to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(embedding, axis=1, keepdims=True)
    return embedding / np.where(lengths > 0, lengths, 1.0)


def laplacian(graph: csr_array, normalized: bool) -> tuple[csr_array, float]:
    """The Laplacian of a symmetric graph and an upper bound of its eigenvalues.

    A sample without edges has a row of zeros in either kind: the graph says nothing about it.
    """
    degrees = np.asarray(graph.sum(axis=1))
    L = csr_array(diags_array(degrees) - graph)
    if not normalized:
        return L, 2.0 * float(abs(graph).sum(axis=1).max(initial=0.0))
    root = diags_array(1 / np.sqrt(_positive(degrees)))
    return csr_array(root @ L @ root), 2.0


def _positive(values: FloatArray) -> FloatArray:
    return np.where(values > 0, values, 1.0)


def _unit(column: FloatArray) -> FloatArray:
    return column / np.linalg.norm(column)


def largest_eigenvectors(matrix: FloatArray, count: int) -> FloatArray:
    """Eigenvectors of the `count` largest eigenvalues of a dense symmetric matrix."""
    n = len(matrix)
    return np.asarray(eigh(matrix, subset_by_index=(n - count, n - 1), check_finite=False)[1])


def _assemble(
    n: int,
    n_clusters: int,
    n_components: int,
    components: IntArray,
    values: list[FloatArray],
    vectors: list[tuple[IntArray, FloatArray]],
) -> Spectrum:
    """Merge the eigenpairs of the pieces, smallest first."""
    merged = np.concatenate(values)
    piece = np.repeat(np.arange(len(values)), [len(w) for w in values])
    column = np.concatenate([np.arange(len(w)) for w in values])
    order = np.lexsort((column, merged))  # the null vector of a piece before all else
    lowest = np.zeros((n, min(n_clusters + 1 + SPARE_VECTORS, len(order))))
    for c, e in enumerate(order[: lowest.shape[1]]):
        own, x = vectors[piece[e]]
        lowest[own, c] = x[:, column[e]]
    embedding = lowest[:, :n_clusters].copy()
    warm_start = None
    if n_components <= n_clusters < lowest.shape[1]:
        rest = order[n_components : lowest.shape[1]]
        warm_start = Eigenpairs(
            merged[rest], lowest[:, n_components:], 0.0, True, 0, _DEGREE_FROM_EXACT
        )
    smallest = np.append(merged[order], np.inf)[: n_clusters + 1]
    if n_components > n_clusters:  # one of those left out
        smallest[-1] = 0.0
    return Spectrum(embedding, smallest, n_components, components, warm_start=warm_start)


def _dense_eigenpairs(matrix: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """The `count` smallest eigenpairs; `matrix` is overwritten."""
    if len(matrix) <= _SMALL:  # all of them, sooner than scipy has looked at its arguments
        w, x = np.linalg.eigh(matrix)
        return w[:count], x[:, :count]
    lowest = (0, count - 1)
    w, x = eigh(matrix, subset_by_index=lowest, overwrite_a=True, check_finite=False)
    return w, x


def smallest_eigenpairs(
    matrix: csr_array,
    bound: float,
    count: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """The `count` smallest eigenpairs of a positive semi-definite matrix below `bound`."""
    n = matrix.shape[0]
    if n <= DENSE_LIMIT or (n <= DENSE_LIMIT_MANY and 20 * count > n):
        return _dense_eigenpairs(matrix.toarray(), count)
    long = _is_long(matrix)
    if is_large(n) and not long:
        links = csr_array((-matrix.data.astype(np.float32), matrix.indices, matrix.indptr))
        operator = Operator(np.zeros(n), links, bound)
        # Methods that stop when their objective does need more than a start for the next round.
        low = chebyshev_eigenpairs(operator, count, None, None, rng, tolerance=_FINE)
        if not low.converged:
            warnings.warn(
                f"the eigen-solver left a residual of {low.residual:.1e} on a graph of {n} samples",
                ConvergenceWarning,
                stacklevel=3,
            )
        return low.values[:count], low.vectors[:, :count]
    # The smallest eigenvalues of L are the largest of bound I - L: no linear systems to solve.
    # In a long graph they lie too close together for that, but a long graph factorises well.
    flipped = csr_array(diags_array(np.full(n, bound)) - matrix)
    options: Any = {"tol": 0, "ncv": min(max(3 * count, 20), n), "v0": rng.standard_normal(n)}
    if long:
        w, x = eigsh(matrix.tocsc(), count, sigma=-1e-6 * bound, which="LM", **options)
    else:
        w, x = eigsh(flipped, count, which="LA", **options)
        w, x = bound - w[::-1], x[:, ::-1]
    residual = np.linalg.norm(matrix @ x - w * x, axis=0).max()
    if residual > _RESIDUAL * bound:
        raise RuntimeError(
            f"the eigen-solver left a residual of {residual:.1e} on a graph of {n} samples"
        )
    return w, x


def _is_long(matrix: csr_array) -> bool:
    """Whether some sample is many steps away: more than a graph in three dimensions would have."""
    from manyview import _kernels

    n = matrix.shape[0]
    return bool(_kernels.breadth_first_depth(matrix.indptr, matrix.indices) > max(20, n ** (1 / 3)))
