"""Building blocks of memory estimates, in bytes, from the sizes of a fit. Each method has a formula
of them, `_memory`.

A formula adds the large arrays that a stage holds at the same time, results of earlier stages
included. It assumes that no edge is in several views, that graphs need no bridges and that the
eigensolver needs no factorisation. `make bench-memory` compares estimates with measured peaks.
"""

from dataclasses import replace

from manyview.graphs import BLOCKWISE_ABOVE, SINGLE_ABOVE, FitSize, ViewSize
from manyview.inputs import BLOCK_BYTES, N_COMPONENTS, STATISTICS_BYTES, STATISTICS_SAMPLES
from manyview.runtime import Estimate, n_threads
from manyview.spectral import DENSE_LIMIT_MANY, SPARE_VECTORS, block_width, is_large

#: An edge of a sparse graph: value and column, in double precision.
EDGE = 12


def fusion_memory(size: FitSize, *, splits: bool) -> Estimate:
    """GBS, and CI-GMVC, which `splits` the graphs: stack, U, A_v, and graphs of the results."""
    U = size.weight_bytes * size.union_edges
    A = len(size.views) * U if splits else 0
    rounds = stack_bytes(size) + U + A + 3 * block_bytes(size)
    graphs = U + edge_bytes(size) * size.union_edges + (2 if splits else 1) * graph_bytes(size)
    eigenvectors = rounds + U + eigenvector_bytes(size)
    return graph_stages(size, eigenvectors=eigenvectors, results=rounds + graphs)


def consensus_memory(size: FitSize, n_vectors: int) -> Estimate:
    """ConsensusGraph: stack, the symmetric mean and its Laplacian with blocks of vectors; then
    U and the graphs of the results."""
    if size.n_samples > BLOCKWISE_ABOVE and size.edges is None:
        return _blockwise_memory(size, n_vectors)
    U, edges = size.weight_bytes * size.union_edges, size.symmetrised_edges
    block = block_bytes(replace(size, n_clusters=n_vectors))
    eigenvectors = 8 * edges + max(2 * U, 4 * edges + 10 * block)
    graphs = 2 * U + edge_bytes(size) * size.union_edges + graph_bytes(size) + 2 * block
    stack = stack_bytes(size)
    return graph_stages(size, eigenvectors=stack + eigenvectors, results=stack + graphs)


def _blockwise_memory(size: FitSize, n_vectors: int) -> Estimate:
    """The same for graphs that are stacked block by block: those of the views, their mean, the
    symmetric mean; four blocks of vectors; at the end each graph in two orders."""
    n, graphs = size.n_samples, graph_bytes(size)
    symmetric = edge_bytes(size) * size.symmetrised_edges
    block = 4 * n * block_width(n_vectors)
    spare = 100 * n  # about ten numbers per sample
    vectors = symmetric + 4 * block + 4 * n * n_vectors
    return graph_stages(
        size,
        eigenvectors=graphs + max(graphs + symmetric, vectors) + spare,
        results=4 * graphs + spare,
    )


def spectral_memory(size: FitSize) -> Estimate:
    """SpectralAverage, and SpectralView with one view: graphs, stack, and their mean."""
    mean = graph_bytes(size) + stack_bytes(size) + EDGE * size.symmetrised_edges
    eigenvectors = mean + block_bytes(size) + eigenvector_bytes(size)
    return graph_stages(size, eigenvectors=eigenvectors)


def candidate_stages(size: FitSize, reach: float, **others: float) -> Estimate:
    """The search for `reach` times as many candidates as neighbours, which all views keep, with a
    number each; and other stages."""
    n_candidates = min(int(reach * (size.n_neighbors or 0)), size.n_samples)
    kept = sum(16 * view.n_samples * (n_candidates + 1) for view in size.views)
    search = max(
        21 * view.n_values + 33 * view.n_samples * (n_candidates + 11) for view in size.views
    )
    stages = {"neighbors": kept + search, **others}
    return Estimate({name: round(n_bytes) for name, n_bytes in stages.items()})


def pair_stages(size: FitSize, stage: str, n_matrices: float) -> Estimate:
    """A stage that holds so many matrices of all pairs of samples, beside the views' rows."""
    rows = 8 * sum(view.n_values for view in size.views)
    return Estimate({stage: round(rows + 8 * n_matrices * size.n_samples**2)})


def graph_stages(size: FitSize, **others: float) -> Estimate:
    """The search for neighbours, if there is one, and other stages."""
    stages = dict(others)
    if size.n_neighbors is not None and size.n_samples > SINGLE_ABOVE:
        # Rows in double and in single precision, sorted by cell; neighbours and their distances.
        kept = graph_bytes(size) * (len(size.views) - 1) // len(size.views)
        stages["neighbors"] = kept + max(
            (45 if view.is_sparse else 16) * view.n_values
            + view.n_samples * (16 * (size.n_neighbors + 1) + 100)
            for view in size.views
        )
    elif size.n_neighbors is not None:
        stages["neighbors"] = graph_bytes(size) + max(
            # Normalised rows and copies of them; columns of their own if they are sparse.
            (45 if view.is_sparse else 21) * view.n_values + candidate_bytes(size, view.n_samples)
            for view in size.views
        )
    return Estimate({name: round(n_bytes) for name, n_bytes in stages.items()})


def kernel_stages(size: FitSize, stage: str, n_matrices: float) -> Estimate:
    """The kernels of all views, and a stage that holds so many matrices as large."""
    matrix = 8 * size.n_samples**2
    rows = 8 * sum(view.n_values for view in size.views)
    kernels = rows + max(rows, (len(size.views) + 2) * matrix)
    return Estimate({"kernels": kernels, stage: round(n_matrices * matrix)})


def row_bytes(view: ViewSize, scaling: object) -> int:
    """The scaled rows of a view: principal components of most dense ones if scaling is "auto"."""
    if view.is_sparse:
        return 12 * view.n_values
    width = min(view.width, N_COMPONENTS) if scaling == "auto" else view.width
    return 8 * view.n_samples * width


def scaling_bytes(view: ViewSize, scaling: object) -> int:
    """The view in canonical order; the sample that columns are judged by, with copies of it; then
    the scaled rows, and a block per thread with copies of it, two or three at a time."""
    ordered = 12 * view.n_values if view.is_sparse else 0
    if view.is_sparse or scaling != "auto":
        return ordered + row_bytes(view, scaling)
    judged = 4 * min(8 * view.width * min(view.n_samples, STATISTICS_SAMPLES), STATISTICS_BYTES)
    block = min(8 * view.n_values, n_threads() * BLOCK_BYTES)
    return ordered + max(judged, row_bytes(view, scaling) + 5 * block // 2)


def candidate_bytes(size: FitSize, n_samples: int) -> int:
    """Candidates of a search with their distances and order."""
    return 33 * n_samples * ((size.n_neighbors or 0) + 11)


def edge_bytes(size: FitSize) -> int:
    """Weight and column of an edge between neighbours."""
    return size.weight_bytes + 4


def graph_bytes(size: FitSize) -> int:
    return edge_bytes(size) * size.graph_edges


def stack_bytes(size: FitSize) -> int:
    """Weights per view, and four arrays of indices."""
    return (size.weight_bytes * len(size.views) + 16) * size.union_edges


def block_bytes(size: FitSize) -> int:
    """A block of vectors, as the eigensolver uses it; mostly in single precision if it is large."""
    number = 4 if is_large(size.n_samples) else 8
    return number * size.n_samples * (size.n_clusters + SPARE_VECTORS + 4)


def eigenvector_bytes(size: FitSize) -> float:
    """The symmetrised graph and its Laplacian; five blocks of vectors, or two dense matrices."""
    dense = min(size.n_samples, 20 * size.n_clusters, DENSE_LIMIT_MANY)
    return 12 * size.symmetrised_edges + max(5 * block_bytes(size), 16 * dense**2)
