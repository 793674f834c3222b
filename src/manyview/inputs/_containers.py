"""Python objects that hold views -> aligned tables."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import BoolArray
from manyview.inputs._align import align
from manyview.inputs._annotated import (
    chosen_names,
    is_anndata,
    is_mudata,
    matrix_tables,
    modality_tables,
    refuse_dict,
)
from manyview.inputs._cut import ViewColumns, view_columns
from manyview.inputs._foreign import known_frame
from manyview.inputs._missing import as_mask
from manyview.inputs._names import id_text
from manyview.inputs._prepare import category_texts, prepared
from manyview.inputs._tables import AlignedTables, Table
from manyview.inputs._views import (
    as_matrix,
    check_same_index,
    column_names,
    is_collection,
    is_frame,
    name_tables,
)


def aligned_tables(
    data: Any,
    views: ViewColumns = None,
    present: Any = None,
    *,
    categorical: Sequence[str] = (),
    impute: str | None = None,
) -> AlignedTables:
    """Views over the same samples.

    Parameters
    ----------
    data : MuData, AnnData, dict, list or tuple of tables or of AnnData, AlignedTables, or a table
        Modalities of a MuData are its views. Data frames of pandas are joined by their index,
        unless all have the default one; other tables have the same samples in the same order.
    views : optional
        Names of views to take, all by default. Of an AnnData "X", names of layers or of obsm, by
        default "X" alone. A dict is for MuData, ``{"rna": "X_pca"}``, where it has the matrix of
        each modality, and for AnnData, where it names the views. "layers/NAME" or "obsm/NAME" if
        both have the name. One table is cut into views by its columns: see `view_columns`.
    present : boolean array of shape (n_samples, n_views), optional
        False where a view lacks a sample; not for tables that are joined by ids.
    categorical : names of columns of data frames, optional
        Each becomes a column of 0 and 1 per category.
    impute : "median", optional
        Fill empty cells with the medians of their columns.
    """
    for option, names in (("views", views), ("categorical", categorical)):
        if isinstance(names, str):
            raise ValueError(f"{option}={names!r}; expected a list of names")
    if isinstance(data, AlignedTables):
        if categorical:
            raise ValueError("categorical was given with aligned tables; expected it in read_views")
        return _masked(_selected(data, views), present)
    tables = _tables(data, views, categorical)
    if present is None:
        return align(prepared(tables, impute, categorical))
    if any(table.ids is not None for table in tables):
        raise ValueError(
            "present was given with tables that are joined by the ids of their rows; expected "
            "tables that lack the rows instead"
        )
    mask = as_mask(present, (tables[0].matrix.shape[0], len(tables)))
    tables = prepared(_without_missing(prepared(tables, None, categorical), mask), impute)
    return _masked(align(tables), mask)


def _tables(data: Any, views: ViewColumns, categorical: Sequence[str]) -> list[Table]:
    if is_mudata(data):
        return modality_tables(data.mod, views)
    if is_anndata(data):
        return matrix_tables(data, views)
    if not is_collection(data) and not _all_annotated(data):
        return plain_tables(_cut(data, views), categorical)
    named = name_tables(getattr(data, "views", data))
    named = {name: named[name] for name in chosen_names(named, views, "views")}
    if _all_annotated(list(named.values())):
        return modality_tables(named, views)
    refuse_dict(views)
    return plain_tables(named, categorical)


def _cut(table: Any, views: ViewColumns) -> dict[str, Any]:
    """One table cut into views; in a data frame, columns that no view has may hold anything."""
    if views is None:
        raise ValueError(
            f"data is one {type(table).__name__}; expected MuData, AnnData, a dict or list of 2-D "
            "tables such as {'name': table}, or one table with views={'name': columns, ...}"
        )
    table = known_frame(table, "data")
    matrix = table if hasattr(table, "columns") else as_matrix(table, "data")
    columns = view_columns(views, int(matrix.shape[1]), column_names(table))
    rows = getattr(matrix, "iloc", matrix)
    return {name: rows[:, own] for name, own in columns.items()}


def _all_annotated(data: Any) -> bool:
    return isinstance(data, list | tuple) and all(hasattr(item, "obs_names") for item in data)


def plain_tables(named: Mapping[str, Any], categorical: Sequence[str] = ()) -> list[Table]:
    """Arrays and data frames by view name as tables; frames have their index as ids."""
    frames = [table for table in named.values() if is_frame(table)]
    all_default = all(_is_default(frame) for frame in frames)
    joined = len(frames) == len(named) and not all_default
    if not joined and not all_default:
        check_same_index(named)
    ids = None if not frames or _is_default(frames[0]) else _ids(frames[0])
    tables = []
    for name, table in named.items():
        numbers, words = _split_columns(table, categorical)
        n = len(table) if words else 0
        matrix = np.empty((n, 0)) if numbers is None else as_matrix(numbers, name)
        own = _ids(table) if joined else ids
        if own is not None and len(own) != matrix.shape[0]:
            own = None  # lengths differ, which `align` refuses
        index = table.index if joined else (frames[0].index if frames else None)
        names = column_names(numbers)
        tables.append(Table(name, matrix, own, names, _index_name(index), index, words))
    return tables


def _split_columns(
    table: Any, categorical: Sequence[str]
) -> tuple[Any, dict[str, list[str | None]]]:
    """The other columns of a data frame, None if there are none, and the categorical ones."""
    columns = list(getattr(table, "columns", ()))
    words = {name: category_texts(table[name].to_list()) for name in categorical if name in columns}
    if not words:
        return table, {}
    others = [name for name in columns if name not in words]
    return table[others] if others else None, words


def _index_name(index: Any) -> str | None:
    name = getattr(index, "name", None)
    return None if name is None else str(name)


def _ids(frame: Any) -> tuple[str, ...]:
    return tuple(map(id_text, frame.index.tolist()))


def _is_default(frame: Any) -> bool:
    """Whether a data frame has the index 0, 1, 2, ... that pandas gives by itself."""
    index = frame.index
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _selected(aligned: AlignedTables, views: ViewColumns) -> AlignedTables:
    if views is None:
        return aligned
    refuse_dict(views)
    chosen = chosen_names(aligned.views, views, "views")
    positions = [list(aligned.views).index(name) for name in chosen]
    return replace(
        aligned,
        views={name: aligned.views[name] for name in chosen},
        features={name: aligned.features[name] for name in chosen},
        present=aligned.present[:, positions],
    )


def _masked(aligned: AlignedTables, present: Any) -> AlignedTables:
    if present is None:
        return aligned
    mask = as_mask(present, aligned.present.shape)
    return replace(aligned, present=aligned.present & mask)


def _without_missing(tables: Sequence[Table], mask: BoolArray) -> list[Table]:
    """Tables with nothing in the rows of missing samples, whatever they hold."""
    out = []
    for table, has in zip(tables, mask.T, strict=True):
        matrix = table.matrix
        if isinstance(matrix, csr_array):
            kept = np.repeat(has, np.diff(matrix.indptr))
            parts = (np.where(kept, matrix.data, 0.0), matrix.indices, matrix.indptr)
            matrix = csr_array(parts, shape=matrix.shape)
        elif not has.all():
            matrix = np.where(has[:, None], matrix, np.nan)
        out.append(replace(table, matrix=matrix))
    return out
