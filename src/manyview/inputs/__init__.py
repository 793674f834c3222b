"""Anything a user has -> `Views`: named, checked matrices over the same samples."""

from manyview.inputs._align import align
from manyview.inputs._annotated import Choice, chosen_names, refuse_dict
from manyview.inputs._blocks import BLOCK_BYTES, let_go
from manyview.inputs._canonical_order import (
    CanonicalOrder,
    canonical_order,
    content_digest,
    order_from_digests,
    row_digests,
)
from manyview.inputs._containers import aligned_tables, plain_tables
from manyview.inputs._cut import ViewColumns, view_columns
from manyview.inputs._foreign import known_array, known_frame
from manyview.inputs._missing import (
    NonFinite,
    as_mask,
    check_finite,
    check_in_some_view,
    find_non_finite,
    zero_missing_rows,
)
from manyview.inputs._names import first_few, id_text, nearest_name, per_view
from manyview.inputs._prepare import (
    category_texts,
    check_columns_found,
    imputed,
    one_hot,
    prepared,
    without_columns,
)
from manyview.inputs._scalers import (
    N_COMPONENTS,
    SCALING_NAMES,
    SCALINGS,
    STATISTICS_BYTES,
    STATISTICS_SAMPLES,
    Scaler,
    Scaling,
    check_scaling,
    fit_scaler,
    joint_rows,
    resolved_scaling,
    statistics_sample,
    view_rows,
)
from manyview.inputs._scaling import (
    DenseRows,
    Rows,
    SparseRows,
    count_distinct,
    powers_of_two,
    side_by_side,
)
from manyview.inputs._sparse import check_sparse
from manyview.inputs._tables import AlignedTables, DroppedColumn, Preparation, Table
from manyview.inputs._views import (
    Views,
    as_matrix,
    check_numbers,
    check_same_index,
    column_names,
    is_collection,
    is_frame,
    name_tables,
    views_from_matrix,
    views_from_tables,
)
from manyview.inputs._warnings import warn_of_view
from manyview.inputs._write_back import SampleResults, write_back
