"""Tasks on the workers of a Dask cluster, and what becomes of them when a worker is lost."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import numpy as np
from distributed import Client, Future, get_worker, wait
from distributed.client import FutureCancelledError
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from manyview._typing import IntArray

# Stages whose tasks multiply matrices. Limiting threads takes longer than a step of the others.
_WITH_BLAS = ("neighbors", "cells", "routes", "bridges")
# Seconds between looks at whether there is still a worker, and without any before it is over.
_LOOK_EVERY, _ALONE_AT_MOST = 10, 60
# One of our tasks a process at a time: each uses all threads that the worker may.
_ONE_AT_A_TIME = threading.RLock()


class WorkerLostError(RuntimeError):
    """A worker went, and with it what can't be made again from what is left."""


class Session:
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
        self.workers: tuple[str, ...] = ()
        self._token = uuid4().hex[:7] + "0"  # Dask leaves out of a name what has digits in it
        self._numbers = itertools.count()
        self.look_for_workers()

    def look_for_workers(self) -> None:
        """Who is there now; work that was given to others goes to them from now on."""
        self.workers = tuple(sorted(self.client.nthreads()))
        if not self.workers:
            raise ValueError(
                f"the Dask cluster at {self.client.scheduler.address} has no workers; expected at "
                "least one"
            )

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
        return self.client.submit(run, function, *args, key=key, pure=False, **where)

    def each(
        self, name: str, function: Callable[..., Any], *columns: Sequence[Any]
    ) -> list[Future]:
        """The same task for every block, with the arguments at its place in every column."""
        return [
            self.submit(name, function, *args, block=b)
            for b, args in enumerate(zip(*columns, strict=True))
        ]

    def send(self, pieces: Sequence[NDArray[Any]]) -> list[Future]:
        """Arrays from here, one a block."""
        with self._losses():
            return [
                self.client.scatter(
                    piece, workers=[self.workers[b % len(self.workers)]], hash=False
                )
                for b, piece in enumerate(pieces)
            ]

    def send_to_all(self, array: NDArray[Any]) -> Future:
        """An array from here that every worker needs."""
        with self._losses():
            return self.client.scatter(array, broadcast=True, hash=False)

    def gather(self, futures: Sequence[Future]) -> list[Any]:
        self.wait(futures)
        with self._losses():
            return list(self.client.gather(list(futures)))

    def wait(self, futures: Sequence[Future]) -> None:
        """Until all are there; what went wrong with one is raised."""
        alone_since = None
        with self._losses(), self.client.as_current():  # `wait` knows no other client
            while True:
                try:
                    wait(list(futures), timeout=_LOOK_EVERY)
                    break
                except TimeoutError:
                    if self.client.nthreads():
                        alone_since = None
                        continue
                    alone_since = alone_since or time.monotonic()
                    if time.monotonic() - alone_since > _ALONE_AT_MOST:
                        raise WorkerLostError("no worker is left, and none has come") from None
            for future in futures:
                if future.status != "finished":
                    future.result()

    @contextmanager
    def _losses(self) -> Iterator[None]:
        """Tell what was lost with a worker from what somebody cancelled."""
        try:
            yield
        except FutureCancelledError as error:
            if self.client.status != "running" or set(self.workers) <= set(self.client.nthreads()):
                raise
            raise WorkerLostError(str(error)) from error

    def gather_rows(self, futures: Sequence[Future]) -> NDArray[Any]:
        """One array of the rows of all blocks."""
        return np.concatenate(self.gather(futures))


def even_bounds(n: int, n_blocks: int) -> IntArray:
    """Where blocks of as many rows each begin, and where the last one ends."""
    return np.linspace(0, n, n_blocks + 1).astype(np.int64)


def pieces_of(array: NDArray[Any], bounds: IntArray) -> list[NDArray[Any]]:
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
