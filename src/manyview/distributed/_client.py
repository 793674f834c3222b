"""Tasks on the workers of a Dask cluster, and what becomes of them when a worker is lost."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4
from weakref import WeakSet

import numpy as np
from distributed import Client, Future, get_worker, wait
from distributed.client import FutureCancelledError, FuturesCancelledError
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from manyview._typing import IntArray

# Stages whose tasks multiply matrices. Limiting threads takes longer than a step of the others.
_WITH_BLAS = ("neighbors", "cells", "routes", "bridges")
# One of our tasks a process at a time: each uses all threads that the worker may.
_ONE_AT_A_TIME = threading.RLock()

# Seconds for lost workers to come back; a fit goes on with fewer.
_TO_RETURN = 5.0
# Seconds for a worker to be there that takes tasks; without one a fit ends.
_TO_APPEAR = 60.0
# Seconds between looks at whether there is one.
_LOOK_EVERY = 10.0
# What Dask says when results are gone (cancelled), and when data is sent to a worker that is.
_OF_A_LOSS = (FutureCancelledError, FuturesCancelledError, KeyError, OSError)


class WorkerLostError(RuntimeError):
    """A worker went, and with it what can't be made again from what is left."""


class NoWorkersError(RuntimeError):
    """There is no worker left that would take a task."""


class DaskSession:
    """One fit on a cluster: a row block for every worker.

    Attributes
    ----------
    client : distributed.Client
    workers : addresses, one a block
    stage : what is being done, for messages
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.stage = "reading"
        self._token = uuid4().hex[:7] + "0"  # Dask leaves out of a name what has digits in it
        self._numbers = itertools.count()
        self._made: WeakSet[Future] = WeakSet()
        self.workers: tuple[str, ...] = tuple(sorted(client.nthreads()))
        if not self.workers:
            raise ValueError(
                f"the Dask cluster at {client.scheduler.address} has no workers; expected at "
                "least one"
            )

    def refresh_workers(self) -> None:
        """Who is there after a loss; work that was given to others goes to them from now on.

        Lost ones may be started again, and with fewer each would have to hold more.
        """
        before, started = len(self.workers), time.monotonic()
        while True:
            there = self.client.nthreads()
            waited = time.monotonic() - started
            if len(there) >= before or waited > (_TO_RETURN if there else _TO_APPEAR):
                break
            time.sleep(0.1)
        self.workers = tuple(sorted(there))

    def submit(
        self, name: str, function: Callable[..., Any], *args: Any, block: int | None = None
    ) -> Future:
        """A task, shown under this name; on the worker of a block, if that is still there."""
        where: dict[str, Any] = {}
        if block is not None:
            worker = self.workers[block % len(self.workers)]
            where = {"workers": [worker], "allow_other_workers": True}
        key = f"manyview-{name}-{self._token}_{next(self._numbers)}"
        run = _with_one_blas_thread if name in _WITH_BLAS else _alone
        return self.track(self.client.submit(run, function, *args, key=key, pure=False, **where))

    def track(self, future: Future) -> Future:
        """To be let go of with all others."""
        self._made.add(future)
        return future

    def release_all(self) -> None:
        """Have the workers forget all that is left of this fit, whoever still has a future of it:
        the traceback of what ended it does."""
        for future in list(self._made):
            future.release()

    def map_blocks(
        self, name: str, function: Callable[..., Any], *columns: Sequence[Any]
    ) -> list[Future]:
        """The same task for every block, with the arguments at its place in every column."""
        return [
            self.submit(name, function, *args, block=b)
            for b, args in enumerate(zip(*columns, strict=True))
        ]

    def scatter_blocks(self, pieces: Sequence[NDArray[Any]]) -> list[Future]:
        """Arrays from here, one a block."""
        with self._loss_seen():
            return [
                self.track(
                    self.client.scatter(
                        piece, workers=[self.workers[b % len(self.workers)]], hash=False
                    )
                )
                for b, piece in enumerate(pieces)
            ]

    def broadcast(self, array: NDArray[Any]) -> Future:
        """An array from here that every worker needs."""
        with self._loss_seen():
            return self.track(self.client.scatter(array, broadcast=True, hash=False))

    def gather(self, futures: Sequence[Future]) -> list[Any]:
        self.wait(futures)
        with self._loss_seen():
            return list(self.client.gather(list(futures)))

    def wait(self, futures: Sequence[Future]) -> None:
        """Until all are there; what went wrong with one is raised."""
        with self._loss_seen():
            idle_since = None
            while not _are_done(futures, _LOOK_EVERY):
                if self._is_anybody_working():
                    idle_since = None
                    continue
                idle_since = idle_since or time.monotonic()
                if time.monotonic() - idle_since > _TO_APPEAR:
                    raise NoWorkersError
            for future in futures:
                if future.status != "finished":
                    future.result()

    def _is_anybody_working(self) -> bool:
        """Whether some worker would take a task: Dask gives none to those short of memory."""
        # One that has just gone gives no answer, and is no error: it works no more.
        found = self.client.run(_own_status, on_error="ignore")
        return any(status != "paused" for status in found.values())

    def gather_rows(self, futures: Sequence[Future]) -> NDArray[Any]:
        """One array of the rows of all blocks."""
        return np.concatenate(self.gather(futures))

    @contextmanager
    def _loss_seen(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError as error:  # nobody took what was sent
            raise NoWorkersError from error
        except _OF_A_LOSS as error:
            # Where nobody is lost it is a task's own error, or the user who cancelled.
            if self.client.status != "running" or not self._is_somebody_lost():
                raise
            raise WorkerLostError(str(error)) from error

    def _is_somebody_lost(self) -> bool:
        """Whether a worker is gone; a broken connection may be seen here sooner than there."""
        for _ in range(10):
            if not set(self.workers) <= set(self.client.nthreads()):
                return True
            time.sleep(0.1)
        return False


def _are_done(futures: Sequence[Future], timeout: float) -> bool:
    try:
        wait(list(futures), timeout=timeout)
    except TimeoutError:
        return False
    return True


def _own_status(dask_worker: Any) -> str:
    return str(dask_worker.status.name)


def even_bounds(n: int, n_blocks: int) -> IntArray:
    """Where blocks of as many rows each begin, and where the last one ends."""
    return np.linspace(0, n, n_blocks + 1).astype(np.int64)


def row_blocks(array: NDArray[Any], bounds: IntArray) -> list[NDArray[Any]]:
    return [array[a:b] for a, b in itertools.pairwise(bounds.tolist())]


def _alone(function: Callable[..., Any], *args: Any) -> Any:
    """Run one task with the threads of its worker."""
    import numba

    config: Any = numba.config
    with _ONE_AT_A_TIME:
        threads = max(1, min(get_worker().state.nthreads, config.NUMBA_NUM_THREADS))
        numba.set_num_threads(threads)
        return function(*args)


def _with_one_blas_thread(function: Callable[..., Any], *args: Any) -> Any:
    """The same with one thread of BLAS, as on a single machine."""
    with _ONE_AT_A_TIME, threadpool_limits({"blas": 1, "openmp": get_worker().state.nthreads}):
        return _alone(function, *args)
