"""Small Dask clusters, and what is asked of a fit on one."""

from __future__ import annotations

import logging
import os
import signal
import time
from contextlib import contextmanager

import numpy as np


@contextmanager
def quiet():
    """Without what Dask says about workers that go: here they are meant to."""
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict]
    ours = [one for one in loggers if one.name.startswith("distributed")]
    levels = [one.level for one in ours]
    for one in ours:
        one.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for one, level in zip(ours, levels, strict=True):
            one.setLevel(level)


@contextmanager
def cluster(n_workers, *, processes=False, **options):
    """The client of a cluster on this machine: workers that are threads here, or processes."""
    from distributed import Client, LocalCluster

    with (
        quiet(),
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=processes,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
            **options,
        ) as made,
        Client(made, set_as_default=False) as client,
    ):
        yield client


def held(client):
    """Names of what every worker has in its memory."""
    found = client.run(lambda dask_worker: [str(key) for key in dask_worker.data])
    return sorted({key for keys in found.values() for key in keys})


def let_go(client, *, but=(), seconds=10):
    """Whether the workers soon have nothing in memory but what the user keeps there."""
    kept = {str(key) for key in but}
    end = time.monotonic() + seconds
    while set(held(client)) - kept:
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def assert_same(spread, single, *, exactly=True):
    """A fit on a cluster has what the same fit on one machine has, bit by bit if `exactly`."""
    equal = np.testing.assert_array_equal if exactly else np.testing.assert_allclose
    np.testing.assert_array_equal(spread.labels_, single.labels_)
    np.testing.assert_array_equal(spread.bridges_, single.bridges_)
    assert spread.n_iter_ == single.n_iter_
    assert spread.stop_reason_ == single.stop_reason_
    assert spread.n_clusters_ == single.n_clusters_
    assert spread.view_names_ == single.view_names_
    assert spread.n_features_in_ == single.n_features_in_
    equal(spread.view_weights_, single.view_weights_)
    if exactly:
        equal(spread.embedding_, single.embedding_)
    if hasattr(single, "sample_disagreement_"):
        equal(spread.sample_disagreement_, single.sample_disagreement_)
    for ours, theirs in zip(spread.history_, single.history_, strict=True):
        assert ours.n_components == theirs.n_components
        assert ours.lambda_ == theirs.lambda_
        # A sum over blocks is rounded in another place.
        np.testing.assert_allclose(ours.objective, theirs.objective, rtol=1e-12)


def at(monkeypatch, name, count, do):
    """Have something done when the fit submits its `count`-th task of this name; a list of the
    stages in which that was."""
    from manyview.distributed._client import DaskSession

    submit, seen, stages = DaskSession.submit, [], []

    def watched(session, its_name, *args, **options):
        future = submit(session, its_name, *args, **options)
        if its_name == name:
            seen.append(its_name)
            if len(seen) == count:
                stages.append(session.stage)
                do()
        return future

    monkeypatch.setattr(DaskSession, "submit", watched)
    return stages


def kill_one(client, place=0):
    """A function that kills the process of one of the workers, without a word of warning."""
    pids = client.run(os.getpid)
    pid = pids[sorted(pids)[place]]
    return lambda: os.kill(pid, signal.SIGKILL)


def until_whole(client, n_workers, seconds=60):
    """Wait for workers that were killed: their nannies start them again, or the cluster does."""
    client.cluster.scale(n_workers)
    end = time.monotonic() + seconds
    while len(client.nthreads()) < n_workers:
        assert time.monotonic() < end, f"{len(client.nthreads())} of {n_workers} workers"
        time.sleep(0.1)
