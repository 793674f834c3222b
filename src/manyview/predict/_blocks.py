"""Predictions for Dask collections, block by block where the blocks are."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from manyview.runtime import require_extra


def is_dask(data: Any) -> bool:
    """Whether a table, or some of several, is a Dask collection."""
    tables = data.values() if isinstance(data, Mapping) else data
    several = list(tables) if isinstance(tables, list | tuple) or tables is not data else [data]
    return any(hasattr(table, "__dask_graph__") for table in several)


def predict_blocks(model: Any, tables: Mapping[str, Any]) -> list[Any]:
    """One `Prediction` per block of rows; views must be cut into the same blocks."""
    with require_extra("a prediction for Dask collections", "dask"):
        from dask import compute, delayed
    blocks = {name: _blocks(table, name, tables) for name, table in tables.items()}
    counts = {name: len(own) for name, own in blocks.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"'{name}' has {count}" for name, count in counts.items())
        raise ValueError(f"views differ in their blocks: {listed}; expected the same in all")
    shared = delayed(model, pure=False, traverse=False)
    tasks = [
        delayed(_predict, pure=False)(shared, list(blocks), list(own))
        for own in zip(*blocks.values(), strict=True)
    ]
    return [one for one in compute(*tasks) if one is not None]


def _blocks(table: Any, name: str, tables: Mapping[str, Any]) -> list[Any]:
    if not hasattr(table, "to_delayed"):
        raise ValueError(
            f"view '{name}' is a {type(table).__name__} beside Dask collections; expected a Dask "
            "array or data frame too"
        )
    if hasattr(table, "rechunk"):
        known = [one.chunks[0] for one in tables.values() if hasattr(one, "rechunk")]
        table = table.rechunk({0: known[0], 1: -1})
    return list(np.ravel(np.asarray(table.to_delayed(), dtype=object)))


def _predict(model: Any, names: list[str], tables: list[Any]) -> Any:
    """The prediction for one block; None for an empty one."""
    if tables[0].shape[0] == 0:
        return None
    rows = [table.reset_index(drop=True) if hasattr(table, "index") else table for table in tables]
    return model.predict(dict(zip(names, rows, strict=True)))
