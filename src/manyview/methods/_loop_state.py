"""What fits on graphs keep in a checkpoint: the graph of a view, the state of the loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray
from manyview.graphs import NeighborSearch
from manyview.methods._history import Round
from manyview.runtime import Checkpoint
from manyview.spectral import LowEnd

_LOOP = "loop"


@dataclass(frozen=True)
class MadeGraph:
    """A view's graph, rows in an order of cells where there is one, and how it was made."""

    graph: csr_array
    cells: IntArray | None
    search: NeighborSearch | None


def keep_graph(checkpoint: Checkpoint, v: int, made: MadeGraph) -> None:
    graph = made.graph
    arrays = {"data": graph.data, "indices": graph.indices, "indptr": graph.indptr}
    if made.cells is not None:
        arrays["cells"] = made.cells
    search = None if made.search is None else asdict(made.search)
    about = {"n_samples": graph.shape[0], "n_edges": graph.nnz, "search": search}
    checkpoint.save(f"graph{v}", arrays, about)


def kept_graph(checkpoint: Checkpoint, v: int) -> MadeGraph | None:
    kept = checkpoint.load(f"graph{v}")
    if kept is None:
        return None
    n, nnz, search = kept.manifest["n_samples"], kept.manifest["n_edges"], kept.manifest["search"]
    parts = (kept.array("data", "f", (nnz,)), kept.array("indices", "i", (nnz,)))
    graph = csr_array((*parts, kept.array("indptr", "i", (n + 1,))), shape=(n, n))
    cells = kept.array("cells", "i", (n,)) if "cells.npy" in kept.members else None
    return MadeGraph(graph, cells, None if search is None else NeighborSearch(**search))


@dataclass(frozen=True)
class LoopState:
    """All that the rounds to come depend on.

    `parts` are the consistent parts of the graphs, None where these are not split.
    """

    parts: FloatArray | None
    embedding: FloatArray
    misfits: FloatArray
    lambda_: float
    low_end: LowEnd | None
    history: Sequence[Round]


def keep_loop(checkpoint: Checkpoint, state: LoopState, rng: np.random.Generator) -> None:
    arrays: dict[str, Any] = {"embedding": state.embedding, "misfits": state.misfits}
    if state.parts is not None:
        arrays["parts"] = state.parts.T  # one entry's views side by side, as they lie in memory
    low_end = None
    if state.low_end is not None:
        low_end = asdict(state.low_end)
        for name in ("values", "vectors"):
            arrays[name] = low_end.pop(name)
    about = {
        "shapes": {name: list(array.shape) for name, array in arrays.items()},
        "lambda": state.lambda_,
        "low_end": low_end,
        "rounds": [asdict(entry) for entry in state.history],
        "rng": rng.bit_generator.state,
    }
    checkpoint.save(_LOOP, arrays, about)


def kept_loop(checkpoint: Checkpoint, rng: np.random.Generator) -> LoopState | None:
    """The state that was kept last, None if none was; the generator is set to where it was."""
    kept = checkpoint.load(_LOOP)
    if kept is None:
        return None
    about = kept.manifest
    arrays = {name: kept.array(name, "f", tuple(shape)) for name, shape in about["shapes"].items()}
    low_end = about["low_end"]
    rng.bit_generator.state = about["rng"]
    return LoopState(
        parts=arrays["parts"].T if "parts" in arrays else None,
        embedding=arrays["embedding"],
        misfits=arrays["misfits"],
        lambda_=about["lambda"],
        low_end=low_end and LowEnd(arrays["values"], arrays["vectors"], **low_end),
        history=[
            Round(**entry | {"view_weights": tuple(entry["view_weights"])})
            for entry in about["rounds"]
        ],
    )
