"""Fits of many samples: solver, progress, interruption."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from manyview import CIGMVC, GBS, SpectralAverage
from manyview.datasets import make_latent_views
from manyview.metrics import adjusted_rand, clustering_accuracy
from manyview.spectral import _spectrum as spectral


@pytest.mark.parametrize("method", [CIGMVC, GBS])
def test_solver_for_many_samples_gives_the_same_clusters(method, monkeypatch):
    data = make_latent_views(6000, 5, random_state=1)
    assert spectral.CHEBYSHEV_LIMIT < 6000
    large = method(5, random_state=0).fit(data.views)
    monkeypatch.setattr(spectral, "CHEBYSHEV_LIMIT", 10_000)
    small = method(5, random_state=0).fit(data.views)
    assert adjusted_rand(small.labels_, large.labels_) > 0.99
    assert clustering_accuracy(data.target, large.labels_) > 0.9
    # The fit sorts rows by cell; results are in the order of the input.
    assert large.labels_[0] == 0
    for v in range(3):
        whole = large.consistent_graphs_[v] + large.inconsistent_graphs_[v]
        assert abs(whole - large.view_graphs_[v]).max() < 1e-15
    between = large.labels_[large.unified_graph_.tocoo().row]
    np.testing.assert_array_equal(between, large.labels_[large.unified_graph_.tocoo().col])


def test_many_clusters_in_many_samples():
    data = make_latent_views(6000, 150, separation=9, random_state=0)
    model = SpectralAverage(150, random_state=0).fit(data.views)
    assert clustering_accuracy(data.target, model.labels_) > 0.9


def test_progress(caplog):
    data = make_latent_views(6000, 4, random_state=0)
    model = CIGMVC(4, random_state=0, verbose=1, neighbor_search="approximate").fit(data.views)
    logged = caplog.text
    assert "view 'view0': a graph of 90000 edges, approximate neighbours (as asked for)" in logged
    assert " s: round 1: 1 components, lambda 2, objective " in logged
    assert set(model.stage_seconds_) == {"neighbors", "fusion", "eigenvectors", "labels"}
    assert all(seconds >= 0 for seconds in model.stage_seconds_.values())


INTERRUPTED = """
from manyview import CIGMVC
from manyview.datasets import make_latent_views
data = make_latent_views(40_000, 10, random_state=0)
CIGMVC(10, random_state=0, verbose=1).fit(data.views)
print("finished")
"""


@pytest.mark.parametrize("after", ["view 'view0'", "round 1"])
def test_ctrl_c(after):
    """During the neighbour search and during the rounds."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stderr:
        if after in line:
            break
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert "finished" not in out
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert time.monotonic() - sent < 10  # usually two; more on a busy machine
