"""Compiled loops over raw arrays, and nothing else.

Every row is computed by one thread, in index order, so results do not depend on the number of
threads. Most kernels have a serial and a parallel version (`_compile.py`).
`tests/helpers/oracle.py` has a plain NumPy version of each kernel.
"""

from manyview._kernels._blocks import (
    chebyshev_step,
    divide_edges,
    filter_step,
    row_products,
    subtract_projections,
)
from manyview._kernels._cells import find_near_cells, search_cells
from manyview._kernels._content import dense_row_digests, hash_numbers, sparse_row_digests
from manyview._kernels._diffusion import diffuse
from manyview._kernels._distances import (
    dense_sq_distances,
    differences,
    keep_nearest,
    nearest_one,
    none_found,
    rank_dense,
    sparse_candidates,
    sparse_sq_distances,
)
from manyview._kernels._patterns import (
    align_weights,
    breadth_first,
    count_nonzero,
    fill_symmetric,
    find_mirrors,
    gather,
    lead_elsewhere,
    merge_columns,
    merged_row_lengths,
    permute,
    symmetric_row_lengths,
    unite_edges,
)
from manyview._kernels._updates import (
    cluster_weights,
    row_inconsistency_products,
    row_misfits,
    row_variations,
    split_exact,
    split_linear,
    unify,
)
