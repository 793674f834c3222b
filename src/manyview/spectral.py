"""Laplacians of symmetric graphs: eigenpairs, embeddings, connected components.

The Laplacian of a graph in several pieces is block diagonal. Its pieces are solved one by one:
each gives the eigenvalue 0 for free, which also removes the multiple eigenvalue that iterative
solvers find hardest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh

from manyview._typing import FloatArray, IntArray

#: Pieces of up to this many samples are solved densely by LAPACK, larger ones by Lanczos.
DENSE_LIMIT = 500
#: Up to this many are still solved densely where more than one eigenvector in 20 is wanted: there
#: LAPACK is the faster one.
DENSE_LIMIT_MANY = 4000
#: Residuals ||L x - w x|| above this share of the largest degree are reported as not converged.
_RESIDUAL = 1e-8


@dataclass(frozen=True)
class Spectrum:
    """The low end of a graph Laplacian's spectrum.

    Attributes
    ----------
    embedding : array of shape (n_samples, C)
        F: eigenvectors of the C smallest eigenvalues. Where the graph has more than C components
        they are not determined; then those of the C largest components are given.
    sum_c, sum_c1 : float
        Sums of the C and of the C + 1 smallest eigenvalues; the latter is infinite for C = N.
    n_components : int
    components : array of shape (n_samples,)
        Number of each sample's component, in the order of first samples.
    """

    embedding: FloatArray
    sum_c: float
    sum_c1: float
    n_components: int
    components: IntArray


def laplacian_spectrum(
    graph: csr_array, n_clusters: int, rng: np.random.Generator, dense_limit: int = DENSE_LIMIT
) -> Spectrum:
    """Eigenpairs of D - M for a symmetric graph M without stored zeros."""
    n = graph.shape[0]
    n_components, components = connected_components(graph, directed=False)
    sizes = np.bincount(components)
    members = np.split(np.argsort(components, kind="stable"), np.cumsum(sizes)[:-1])
    largest = np.argsort(-sizes, kind="stable")[:n_clusters]
    values = [np.zeros(1) for _ in largest]
    vectors = [(members[p], np.full((sizes[p], 1), sizes[p] ** -0.5)) for p in largest]
    wanted = n_clusters + 1 - n_components
    if wanted > 0:
        vectors_too = wanted > 1  # else only the (C+1)-th eigenvalue is new
        for piece, own in enumerate(members):
            if sizes[piece] > 1:
                block = graph if n_components == 1 else graph[own][:, own]
                count = min(wanted + 1, sizes[piece])
                w, x = _smallest_eigenpairs(block, count, rng, dense_limit, vectors_too)
                place = int(np.flatnonzero(largest == piece)[0])
                values[place] = np.concatenate([[0.0], np.maximum(w[1:], 0.0)])
                vectors[place] = (own, x)
    return _assemble(n, n_clusters, n_components, components, values, vectors)


def laplacian_trace(graph: csr_array, embedding: FloatArray) -> float:
    """Tr(F'LF): how much an embedding varies along the edges of a graph."""
    degrees = np.asarray(graph.sum(axis=1))
    return float((embedding * (degrees[:, None] * embedding - graph @ embedding)).sum())


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
    embedding = np.zeros((n, n_clusters))
    for c, e in enumerate(order[:n_clusters]):
        own, x = vectors[piece[e]]
        embedding[own, c] = x[:, column[e]]
    sum_c = float(merged[order[:n_clusters]].sum())
    if n_components > n_clusters:
        following = 0.0
    else:
        following = float(merged[order[n_clusters]]) if len(merged) > n_clusters else np.inf
    return Spectrum(embedding, sum_c, sum_c + following, n_components, components)


def _smallest_eigenpairs(
    block: csr_array, count: int, rng: np.random.Generator, dense_limit: int, vectors: bool
) -> tuple[FloatArray, FloatArray]:
    """The `count` smallest eigenpairs of one connected piece's Laplacian."""
    n = block.shape[0]
    degrees = np.asarray(block.sum(axis=1))
    if n <= dense_limit or (n <= DENSE_LIMIT_MANY and 20 * count > n):
        dense = -block.toarray()
        dense[np.diag_indices(n)] += degrees
        kwargs = {"subset_by_index": (0, count - 1), "overwrite_a": True, "check_finite": False}
        if not vectors:
            return eigh(dense, eigvals_only=True, **kwargs), np.full((n, 1), n**-0.5)
        w, x = eigh(dense, **kwargs)
        return w, x
    # The smallest eigenvalues of L are the largest of shift I - L: no linear systems to solve.
    shift = 2.0 * float(degrees.max())
    flipped = csr_array(block + diags_array(shift - degrees))
    start = rng.standard_normal(n)
    w, x = eigsh(flipped, count, which="LA", tol=0, ncv=min(max(3 * count, 20), n), v0=start)
    w, x = shift - w[::-1], x[:, ::-1]
    residual = np.linalg.norm(shift * x - flipped @ x - w * x, axis=0).max()
    if residual > _RESIDUAL * shift:
        raise RuntimeError(
            f"the eigen-solver left a residual of {residual:.1e} on a graph of {n} samples"
        )
    return w, x
