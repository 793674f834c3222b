"""Results -> the MuData or AnnData that the samples came from, in the shape that scanpy reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from manyview._typing import FloatArray, IntArray
from manyview.inputs._names import first_few

# What a result may have or lack; an earlier one under the same key may have had it.
_COLUMNS, _GRAPHS = ("confidence", "stability", "disagreement_"), ("connectivities", "distances")


@dataclass(frozen=True)
class SampleResults:
    """What a clustering tells of its samples.

    `columns` has numbers per sample by name. `graph` is symmetric; None if it is elsewhere.
    `params` tells how it was made. `about` is what else to keep, in types that HDF5 can store.
    """

    ids: tuple[str, ...]
    has_ids: bool  # else the samples are the rows in their order
    labels: IntArray
    columns: Mapping[str, FloatArray]
    embedding: FloatArray
    graph: csr_array | None
    params: Mapping[str, Any]
    about: Mapping[str, Any]


def write_back(data: Any, key: str, results: SampleResults) -> None:
    """Write the results to `obs`, `obsm`, `obsp` and `uns`, and the clusters to the modalities.

    Samples of `data` that were not clustered get missing values, and no edges in the graph.
    """
    _check(data, key)
    rows = _rows_of(results, data)
    columns = {f"{key}_{name}": _filled(values, rows) for name, values in results.columns.items()}
    obs = {key: _clusters(results, rows)}
    obs |= {name.replace("/", "_"): values for name, values in columns.items()}  # "/" is HDF5's
    embedding = _filled(results.embedding, rows)
    obsp = {} if results.graph is None else _graphs(results.graph, embedding, rows, key)
    uns = {
        **{f"{name.removeprefix(f'{key}_')}_key": name for name in obsp},
        "params": {"use_rep": f"X_{key}", "metric": "euclidean", **results.params},
        **results.about,
    }
    _clear(data, key)
    for name, values in obs.items():
        data.obs[name] = values
    by_name = dict(zip(data.obs_names, rows, strict=True))
    for modality in getattr(data, "mod", {}).values():
        own = np.array([by_name.get(name, -1) for name in modality.obs_names], dtype=np.intp)
        modality.obs[key] = _clusters(results, own)
    data.obsm[f"X_{key}"] = embedding
    for name, graph in obsp.items():
        data.obsp[name] = graph
    data.uns[key] = uns


def _check(data: Any, key: Any) -> None:
    if not hasattr(data, "obs_names"):
        raise ValueError(f"data is a {type(data).__name__}; expected MuData or AnnData")
    if not isinstance(key, str) or not key or "/" in key or key == "neighbors":
        raise ValueError(
            f"key={key!r}; expected a name without '/' that is not 'neighbors', which scanpy uses"
        )


def _clear(data: Any, key: str) -> None:
    earlier = tuple(f"{key}_{name}" for name in _COLUMNS)
    for name in [name for name in data.obs.columns if str(name).startswith(earlier)]:
        del data.obs[name]
    for name in [name for name in data.obsp if name in {f"{key}_{one}" for one in _GRAPHS}]:
        del data.obsp[name]


def _rows_of(results: SampleResults, data: Any) -> IntArray:
    """For each sample of the data its position in the results; -1 if it was not clustered."""
    names = list(map(str, data.obs_names))
    if not results.has_ids:
        if len(names) != len(results.ids):
            raise ValueError(
                f"data has {len(names)} samples, but {len(results.ids)} without ids were "
                "clustered; expected the same number"
            )
        return np.arange(len(names))
    positions = {name: i for i, name in enumerate(results.ids)}
    rows = np.array([positions.get(name, -1) for name in names], dtype=np.intp)
    if (rows < 0).all():
        raise ValueError(
            f"none of the samples {first_few(names, 3)} was clustered; expected some of "
            f"{first_few(results.ids, 3)}"
        )
    return rows


def _clusters(results: SampleResults, rows: IntArray) -> Any:
    """Categories of text: scanpy takes columns of numbers for quantities."""
    import pandas as pd

    categories = [str(label) for label in range(int(results.labels.max()) + 1)]
    codes = np.where(rows < 0, -1, results.labels[rows])
    return pd.Categorical.from_codes(codes, categories=categories)


def _filled(values: FloatArray, rows: IntArray) -> FloatArray:
    filled = np.asarray(values, dtype=np.float64)[rows]
    filled[rows < 0] = np.nan
    return np.asarray(filled)


def _graphs(graph: csr_array, points: FloatArray, rows: IntArray, key: str) -> dict[str, Any]:
    """The graph of the samples in `rows`, and how far apart the ends of its edges are."""
    found = np.flatnonzero(rows >= 0)
    shape = (len(rows), graph.shape[0])
    chosen = csr_matrix((np.ones(len(found)), (found, rows[found])), shape=shape)
    near = csr_matrix(chosen @ csr_matrix(graph) @ chosen.T)
    near.sort_indices()
    starts = np.repeat(np.arange(len(rows)), np.diff(near.indptr))
    squares = np.zeros(near.nnz)
    for column in points.T:  # all at once would take much more memory
        squares += (column[starts] - column[near.indices]) ** 2
    far = csr_matrix((np.sqrt(squares), near.indices.copy(), near.indptr.copy()), shape=near.shape)
    return {f"{key}_connectivities": near, f"{key}_distances": far}
