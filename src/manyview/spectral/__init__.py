"""Graphs -> Laplacian eigenvectors, the number of clusters, labels."""

from manyview.spectral._chebyshev import (
    PRODUCT,
    SPARE_VECTORS,
    LowEnd,
    Operator,
    Step,
    cache_aligned,
    chebyshev_steps,
)
from manyview.spectral._labels import in_order_of_first, kmeans_labels
from manyview.spectral._n_clusters import (
    LOOKED_AT,
    MAX_CLUSTERS,
    ClusterNumber,
    from_graphs,
    from_stack,
)
from manyview.spectral._spectrum import (
    DENSE_LIMIT,
    DENSE_LIMIT_MANY,
    Spectrum,
    degrees_of,
    is_large,
    laplacian,
    laplacian_rows,
    laplacian_spectrum,
    largest_eigenvectors,
    normalized_embedding,
    null_vector,
    smallest_eigenpairs,
    unit_rows,
)

__all__ = [
    "DENSE_LIMIT",
    "DENSE_LIMIT_MANY",
    "LOOKED_AT",
    "MAX_CLUSTERS",
    "PRODUCT",
    "SPARE_VECTORS",
    "ClusterNumber",
    "LowEnd",
    "Operator",
    "Spectrum",
    "Step",
    "cache_aligned",
    "chebyshev_steps",
    "degrees_of",
    "from_graphs",
    "from_stack",
    "in_order_of_first",
    "is_large",
    "kmeans_labels",
    "laplacian",
    "laplacian_rows",
    "laplacian_spectrum",
    "largest_eigenvectors",
    "normalized_embedding",
    "null_vector",
    "smallest_eigenpairs",
    "unit_rows",
]
