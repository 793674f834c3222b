"""Compiled loops over raw arrays, and nothing else.

Rows are independent and every row is summed by one thread in index order, so results do not
depend on the number of threads. `tests/oracle.py` has a plain twin of each kernel.
"""

from manyview._kernels._blocks import filter_step, subtract_shares
from manyview._kernels._content import dense_row_digests, mixed, sparse_row_digests
from manyview._kernels._distances import dense_sq_distances, sparse_candidates, sparse_sq_distances
from manyview._kernels._patterns import (
    align_weights,
    components,
    count_nonzero,
    fill_symmetric,
    find_mirrors,
    gather,
    join_neighbors,
    join_pieces,
    merge_columns,
    merged_row_lengths,
    permute,
    steps_from_first,
    symmetric_row_lengths,
)
from manyview._kernels._updates import (
    row_inconsistency_products,
    row_misfits,
    row_variations,
    split_exact,
    split_linear,
    unify,
)

__all__ = [
    "align_weights",
    "components",
    "count_nonzero",
    "dense_row_digests",
    "dense_sq_distances",
    "fill_symmetric",
    "filter_step",
    "find_mirrors",
    "gather",
    "join_neighbors",
    "join_pieces",
    "merge_columns",
    "merged_row_lengths",
    "mixed",
    "permute",
    "row_inconsistency_products",
    "row_misfits",
    "row_variations",
    "sparse_candidates",
    "sparse_row_digests",
    "sparse_sq_distances",
    "split_exact",
    "split_linear",
    "steps_from_first",
    "subtract_shares",
    "symmetric_row_lengths",
    "unify",
]
