"""Anything a user has -> `Views`: named, checked matrices over the same samples."""

from manyview.inputs._align import AlignedTables, Table, align, few, id_text
from manyview.inputs._canonical_order import (
    Layout,
    content_digest,
    content_layout,
    layout_of,
    row_digests,
)
from manyview.inputs._containers import chosen_names, tables_of
from manyview.inputs._missing import Gaps, as_mask, find_gaps, finite_everywhere
from manyview.inputs._scaling import (
    DenseRows,
    Rows,
    SparseRows,
    count_distinct,
    joint_rows,
    powers_of_two,
    side_by_side,
    view_rows,
)
from manyview.inputs._sparse import check_sparse, load_mat
from manyview.inputs._views import (
    Views,
    as_matrix,
    check_holes,
    check_numbers,
    check_same_index,
    check_somewhere,
    column_names,
    is_collection,
    is_frame,
    name_tables,
    views_from_matrix,
    views_from_tables,
)

__all__ = [
    "AlignedTables",
    "DenseRows",
    "Gaps",
    "Layout",
    "Rows",
    "SparseRows",
    "Table",
    "Views",
    "align",
    "as_mask",
    "as_matrix",
    "check_holes",
    "check_numbers",
    "check_same_index",
    "check_somewhere",
    "check_sparse",
    "chosen_names",
    "column_names",
    "content_digest",
    "content_layout",
    "count_distinct",
    "few",
    "find_gaps",
    "finite_everywhere",
    "id_text",
    "is_collection",
    "is_frame",
    "joint_rows",
    "layout_of",
    "load_mat",
    "name_tables",
    "powers_of_two",
    "row_digests",
    "side_by_side",
    "tables_of",
    "view_rows",
    "views_from_matrix",
    "views_from_tables",
]
