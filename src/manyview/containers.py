"""What people keep views in, in Python -> aligned tables.

MuData and AnnData are known by what they have, not by their type: neither package is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from manyview.tables import AlignedTables, Table, align
from manyview.views import as_matrix, is_collection


def tables_of(data: Any, views: Sequence[str] | None = None, present: Any = None) -> AlignedTables:
    """Views over the same samples.

    Parameters
    ----------
    data : MuData, AnnData, dict, list or tuple of tables, or AlignedTables
        Modalities of a MuData are its views. Data frames of pandas with an index of their own are
        joined by it; everything else has the same samples in the same order.
    views : names of views to take, optional
        All by default; of an AnnData "X", names of layers or of obsm, by default "X" alone.
    present : boolean array of shape (n_samples, n_views), optional
        False where a view lacks a sample.
    """
    if isinstance(data, AlignedTables):
        return data
    tables = _tables(data, views)
    aligned = align(tables)
    return aligned if present is None else _masked(aligned, present)


def _tables(data: Any, views: Sequence[str] | None) -> list[Table]:
    if isinstance(getattr(data, "mod", None), Mapping):
        chosen = _chosen(data.mod, views, "modalities")
        return [_annotated(name, data.mod[name].X, data.mod[name]) for name in chosen]
    if hasattr(data, "obsm") and hasattr(data, "obs_names"):
        return [_of_anndata(data, name) for name in (["X"] if views is None else views)]
    if not is_collection(data):
        raise ValueError(
            f"data is one {type(data).__name__}; expected MuData, AnnData, or a dict or list of "
            "2-D tables"
        )
    data = getattr(data, "views", data)
    named = data if isinstance(data, Mapping) else {f"view{v}": t for v, t in enumerate(data)}
    named = {str(name): table for name, table in named.items()}
    chosen = _chosen(named, views, "views")
    by_index = all(_has_index(named[name]) for name in chosen)
    return [_plain(name, named[name], by_index) for name in chosen]


def _chosen(named: Mapping[str, Any], views: Sequence[str] | None, what: str) -> list[str]:
    if views is None:
        return list(named)
    unknown = [name for name in views if name not in named]
    if unknown:
        raise ValueError(f"views has {unknown[0]!r}; expected some of the {what} {list(named)}")
    return list(views)


def _of_anndata(data: Any, name: str) -> Table:
    if name == "X":
        return _annotated(name, data.X, data)
    if name in data.layers:
        return _annotated(name, data.layers[name], data)
    if name in data.obsm:
        return Table(name, as_matrix(data.obsm[name], name), tuple(map(str, data.obs_names)), None)
    known = ["X", *data.layers, *data.obsm]
    raise ValueError(f"views has {name!r}; expected some of {known}")


def _annotated(name: str, matrix: Any, data: Any) -> Table:
    if matrix is None:
        raise ValueError(f"view '{name}' has no X; expected a matrix")
    ids, features = tuple(map(str, data.obs_names)), tuple(map(str, data.var_names))
    return Table(name, as_matrix(matrix, name), ids, features)


def _plain(name: str, table: Any, by_index: bool) -> Table:
    columns = getattr(table, "columns", None)
    features = None if columns is None else tuple(map(str, columns))
    ids = tuple(map(str, table.index)) if by_index else None
    return Table(name, as_matrix(table, name), ids, features)


def _has_index(table: Any) -> bool:
    """Whether a data frame's rows have names, and not just numbers given by pandas."""
    return hasattr(table, "iloc") and type(table.index).__name__ != "RangeIndex"


def _masked(aligned: AlignedTables, present: Any) -> AlignedTables:
    mask = np.asarray(present)
    if mask.shape != aligned.present.shape or mask.dtype != bool:
        raise ValueError(
            f"present has shape {mask.shape} and type {mask.dtype}; expected "
            f"{aligned.present.shape} of True and False"
        )
    return AlignedTables(
        aligned.ids, aligned.views, aligned.present & mask, aligned.features, aligned.has_ids
    )
