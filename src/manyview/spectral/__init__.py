"""Graphs -> Laplacian eigenvectors, the number of clusters, labels."""

from manyview.spectral._chebyshev import (
    PRODUCT,
    SPARE_VECTORS,
    Eigenpairs,
    Operator,
    Step,
    aligned_room,
    block_width,
    cache_aligned,
    chebyshev_steps,
)
from manyview.spectral._labels import (
    TRIAL_SAMPLES,
    kmeans_labels,
    kmeans_of_some,
    numbered_labels,
    relabel_by_first_sample,
    some_samples,
)
from manyview.spectral._laplacian import degrees_of, laplacian, laplacian_rows, null_vector
from manyview.spectral._leiden import leiden_labels
from manyview.spectral._n_clusters import (
    MAX_CLUSTERS,
    NO_STRUCTURE,
    ClusterNumber,
    suggest_from_stack,
)
from manyview.spectral._spectrum import (
    DENSE_LIMIT_MANY,
    ROUGH,
    SOFT,
    Spectrum,
    is_large,
    laplacian_spectrum,
    largest_eigenvectors,
    normalized_embedding,
    scaled_graph,
    smallest_eigenpairs,
    soft_embedding,
    unit_rows,
)
from manyview.spectral._stability import label_stability
from manyview.spectral._structureless import structureless_eigenvalues
