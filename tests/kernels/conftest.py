"""A small problem that the kernels are compared on with plain NumPy."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from manyview._kernels import _compile
from manyview.graphs import stack_graphs


@pytest.fixture(autouse=True, params=["serial", "parallel"])
def version(request, monkeypatch):
    """Every test runs with both versions of the kernels."""
    monkeypatch.setattr(_compile, "PARALLEL_ROWS", 0 if request.param == "parallel" else 1e9)


@pytest.fixture
def problem(rng):
    """Three random graphs of 40 samples: stacked, dense (S), and the state of a round."""
    graphs = [np.where(rng.random((40, 40)) < 0.15, rng.random((40, 40)), 0) for _ in range(3)]
    graphs[0][5] = 0  # no edges in one view
    for graph in graphs:
        graph[7] = 0  # no edges in any view
        np.fill_diagonal(graph, 0)
    stack = stack_graphs([csr_array(graph) for graph in graphs])
    return SimpleNamespace(
        stack=stack,
        S=np.array(graphs),
        F=np.linalg.qr(rng.standard_normal((40, 4)))[0],
        alpha=rng.uniform(0.05, 0.3, 3),
        dense=lambda values: stack.matrix(values).toarray(),
    )
