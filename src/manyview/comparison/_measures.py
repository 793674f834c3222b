"""What is measured of a clustering: its cut of a graph, and its agreement with others."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray
from manyview.inputs import AlignedTables, first_few, id_text
from manyview.metrics import adjusted_rand, clustering_accuracy, normalized_mutual_info


def cut_and_modularity(graph: csr_array, labels: IntArray) -> tuple[float, float]:
    """Of the weight of a cluster's edges, the share that leaves it, as a mean over the clusters
    (the normalised cut, divided by their number); and the modularity."""
    here, there = np.repeat(labels, np.diff(graph.indptr)), labels[graph.indices]
    count = int(labels.max()) + 1
    touching = np.bincount(here, graph.data, count)
    inside = np.bincount(here, np.where(here == there, graph.data, 0.0), count)
    share = np.divide(inside, touching, out=np.ones(count), where=touching > 0)
    total = max(touching.sum(), np.finfo(np.float64).tiny)
    return float(1 - share.mean()), float((inside / total - (touching / total) ** 2).sum())


def agreement_of(labelings: Sequence[IntArray]) -> FloatArray:
    """ARI of every two."""
    found = np.ones((len(labelings), len(labelings)))
    for i, one in enumerate(labelings):
        for j in range(i):
            found[i, j] = found[j, i] = adjusted_rand(one, labelings[j])
    return found


def class_scores(classes: Sequence[Any], labels: IntArray) -> dict[str, float]:
    """ACC, NMI and ARI, of the samples whose class is known."""
    known = [i for i, value in enumerate(classes) if _is_known(value)]
    true, found = [classes[i] for i in known], labels[known]
    return {
        "ACC": clustering_accuracy(true, found),
        "NMI": normalized_mutual_info(true, found),
        "ARI": adjusted_rand(true, found),
    }


def classes_of(given: Any, tables: AlignedTables) -> list[Any]:
    """The class of every sample of the tables, None where it is not known.

    Classes by id are a mapping, or a pandas series if the tables have ids; others are in the order
    of the samples.
    """
    n = len(tables.ids)
    if tables.has_ids and hasattr(given, "index") and hasattr(given, "items"):
        given = dict(given.items())
    if isinstance(given, Mapping):
        by_id = {id_text(key): value for key, value in given.items()}
        classes = [by_id.get(sample) for sample in tables.ids]
    else:
        values = np.asarray(given, dtype=object)
        if values.shape != (n,):
            raise ValueError(
                f"classes has shape {values.shape}; expected one class per sample, ({n},)"
            )
        classes = values.tolist()
    if not any(map(_is_known, classes)):
        raise ValueError(
            f"classes has none for the samples {first_few(tables.ids)}; expected classes by the "
            "ids of samples, or in their order"
        )
    return classes


def _is_known(value: Any) -> bool:
    return value is not None and type(value).__name__ != "NAType" and bool(value == value)
