"""Workers that are killed, run out of memory or are told to stop in the middle of a fit."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from contextlib import ExitStack

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra 'dask'")

import dask
from distributed import Client, Future
from distributed.client import FutureCancelledError, FuturesCancelledError
from distributed.comm import CommClosedError

import manyview
from manyview import CIGMVC, datasets
from manyview.distributed import _stack
from manyview.distributed._memory import DaskWorkersError
from manyview.runtime import Run
from manyview.spectral import _spectrum as spectral
from tests.helpers.dask_clusters import (
    assert_same,
    at,
    cluster,
    kill_one,
    let_go,
    quiet,
    until_whole,
)

N_WORKERS = 3
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True)
def all_stages(monkeypatch):
    """The solver for many samples, for few: the rounds run on the workers."""
    monkeypatch.setattr(spectral, "CHEBYSHEV_LIMIT", 300)


@pytest.fixture(scope="module")
def preload(tmp_path_factory):
    """The same for workers, those that are started again included."""
    file = tmp_path_factory.mktemp("preload") / "small.py"
    file.write_text("from manyview.spectral import _spectrum\n_spectrum.CHEBYSHEV_LIMIT = 300\n")
    return str(file)


@pytest.fixture(scope="module")
def client(preload):
    with cluster(N_WORKERS, processes=True, preload=[preload]) as client:
        yield client


@pytest.fixture(scope="module")
def views():
    data = datasets.make_latent_views(
        600, 3, widths=(6, 6), separation=4.0, stray=0.1, random_state=0
    )
    return data.views


@pytest.fixture
def undisturbed(views):
    return fit(views, None)


def fit(views, client):
    """So few rounds that the embedding still tells of all that went before."""
    return CIGMVC(3, neighbor_search="exact", max_iter=2, random_state=0).fit(views, client=client)


KILLS = [  # what the fit submits when it is hit, how often it did so before, and the stage
    ("read", 2, "reading"),
    ("neighbors", 5, "neighbors"),
    ("graph", 3, "neighbors"),
]

OFTEN = [kill if kill[0] == "neighbors" else pytest.param(*kill, marks=pytest.mark.slow)
         for kill in KILLS]  # fmt: skip


def at_progress(monkeypatch, text, do):
    """Have something done when the ranks say this; a list with an entry once it was done."""
    log, hit = Run.log, []

    def watched(run, form, *values):
        log(run, form, *values)
        if text in form % values and not hit:
            hit.append(text)
            do()

    monkeypatch.setattr(Run, "log", watched)
    return hit


@pytest.mark.parametrize(("name", "count", "stage"), OFTEN)
def test_killed_worker(client, views, undisturbed, monkeypatch, name, count, stage):
    hit = at(monkeypatch, name, count, kill_one(client))
    assert_same(fit(views, client), undisturbed)
    assert hit == [stage]
    assert let_go(client)
    until_whole(client, N_WORKERS)


@pytest.mark.parametrize("place", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "text", ["round 0", *(pytest.param(f"round {r}", marks=pytest.mark.slow) for r in (1, 2))]
)
def test_killed_while_ranks_run(client, views, undisturbed, monkeypatch, text, place):
    hit = at_progress(monkeypatch, text, kill_one(client, place))
    assert_same(fit(views, client), undisturbed)
    assert hit == [text]
    assert let_go(client)
    until_whole(client, N_WORKERS)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.05, 0.1, 0.2])
def test_killed_soon_after_ranks_start(client, views, undisturbed, monkeypatch, seconds):
    run_ranks = _stack.run_ranks

    def watched(session, *args):
        if not timers:
            timers.append(threading.Timer(seconds, kill_one(client, 1)))
            timers[0].start()
        return run_ranks(session, *args)

    timers = []
    monkeypatch.setattr(_stack, "run_ranks", watched)
    assert_same(fit(views, client), undisturbed)
    timers[0].join()
    assert let_go(client)
    until_whole(client, N_WORKERS)


@pytest.mark.slow
@pytest.mark.parametrize("place", range(N_WORKERS))
@pytest.mark.parametrize(
    ("name", "count"),
    [
        *[(name, count) for name, count, _ in KILLS],
        ("check", 2),
        ("rows", 3),
        ("weights", 2),
        ("graph", 5),
    ],
)
def test_killed_at_many_moments(client, views, undisturbed, monkeypatch, name, count, place):
    hit = at(monkeypatch, name, count, kill_one(client, place))
    assert_same(fit(views, client), undisturbed)
    assert len(hit) == 1
    assert let_go(client)
    until_whole(client, N_WORKERS)


def test_error_of_a_task_is_its_own(client, views):
    """It isn't taken for a lost worker, and nothing of the fit stays."""
    broken = {**views, "other": np.where(np.arange(600)[:, None] == 599, np.inf, 1.0)}
    with pytest.raises(ValueError, match="row 599, column 0"):
        fit(broken, client)
    assert let_go(client)


def test_interrupted(client, views, undisturbed, monkeypatch):
    """Ctrl-C: the workers let go, though the traceback is kept, and go on with the next fit."""
    with monkeypatch.context() as patched:
        at_progress(patched, "round 0", lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt) as kept:
            fit(views, client)
    assert kept.tb is not None
    assert let_go(client)
    assert_same(fit(views, client), undisturbed)


@pytest.mark.parametrize("name", ["neighbors", "round 0"])
def test_everything_cancelled(client, views, monkeypatch, name):
    def cancel():
        client.cancel([Future(key, client) for key in list(client.futures)])

    with monkeypatch.context() as patched:
        if name == "neighbors":
            at(patched, name, 5, lambda: threading.Timer(0.05, cancel).start())
        else:
            at_progress(patched, name, lambda: threading.Timer(0.01, cancel).start())
        started = time.monotonic()
        with pytest.raises(CancelledError):
            fit(views, client)
    assert time.monotonic() - started < 20
    assert let_go(client)


def test_closed_client(client, views, monkeypatch):
    """Another client of the same cluster is closed while it fits."""
    with Client(client.scheduler.address, set_as_default=False) as other:
        with monkeypatch.context() as patched:
            at_progress(patched, "round 0", lambda: threading.Timer(0.01, other.close).start())
            with pytest.raises((FutureCancelledError, FuturesCancelledError, CommClosedError)):
                fit(views, other)
        assert other.status == "closed"
    assert let_go(client)


def test_after_all_that(client, views, undisturbed):
    assert_same(fit(views, client), undisturbed)
    assert let_go(client)


def test_refused_for_want_of_memory(views):
    """Before anything is searched, by the estimate."""
    generous = {f"distributed.worker.memory.{name}": False for name in ("pause", "spill", "target")}
    with dask.config.set(generous), cluster(2, memory_limit="10MB") as client:
        model = CIGMVC(3, n_neighbors=500, random_state=0)
        with pytest.raises(MemoryError, match=r"\(rounds\) on each of 2 workers, but 10 MB is"):
            model.fit(views, client=client)
        assert let_go(client)
        with manyview.memory_limit(None):
            assert len(model.fit(views, client=client).labels_) == 600


def dask_command(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def test_separate_commands_and_a_worker_that_never_comes_back(
    views, undisturbed, monkeypatch, tmp_path, preload
):
    """A scheduler and workers without nannies, started as an operator would."""
    file = str(tmp_path / "scheduler.json")
    with ExitStack() as stack:
        started = []

        def start(*words):
            process = dask_command(*words)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            started.append(process)

        start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
            "--scheduler-file", file,
        )  # fmt: skip
        for number in range(N_WORKERS):
            start(
                "worker", "--scheduler-file", file, "--no-nanny", "--nthreads", "1",
                "--name", str(number), "--no-dashboard", "--memory-limit", "0",
                "--local-directory", str(tmp_path), "--preload", preload,
            )  # fmt: skip
        stack.enter_context(quiet())
        client = stack.enter_context(Client(scheduler_file=file, set_as_default=False, timeout=60))
        client.wait_for_workers(N_WORKERS, timeout=60)
        at_progress(monkeypatch, "round 1", kill_one(client, 1))
        assert_same(fit(views, client), undisturbed)
        assert len(client.nthreads()) == N_WORKERS - 1
        assert_same(fit(views, client), undisturbed)
        assert let_go(client)


@pytest.mark.slow
def test_workers_that_run_out_of_memory():
    """Started against the estimate, it ends with an error that has it, and never hangs."""
    data = datasets.make_latent_views(12_000, 3, widths=(6, 6), random_state=0)
    model = CIGMVC(3, n_neighbors=400, neighbor_search="exact", random_state=0)
    with cluster(2, processes=True, memory_limit="500MB") as client:
        with pytest.raises(MemoryError, match="on each of 2 workers"):
            model.fit(data.views, client=client)
        with (
            manyview.memory_limit(None),
            pytest.raises(DaskWorkersError, match=r"during '\w+', where each is estimated to need"),
        ):
            model.fit(data.views, client=client)
