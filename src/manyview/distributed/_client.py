"""Tasks on Dask workers, and how losses of workers are noticed."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any
from uuid import uuid4
from weakref import WeakSet

import numpy as np
from distributed import Client, Future, get_worker, wait
from distributed.client import FutureCancelledError, FuturesCancelledError
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from manyview._typing import IntArray
from manyview.runtime import segment_length

# Tasks that multiply matrices. For others, limiting the threads of BLAS takes longer than the task.
_WITH_BLAS = ("neighbors", "cells", "routes", "bridges")
# One of our tasks per process at a time, as each uses all threads of its worker.
ONE_AT_A_TIME = threading.RLock()

# Seconds to wait for lost workers to return, before a fit continues with fewer.
_RETURN_TIMEOUT = 5.0
#: Seconds to wait for any worker that takes tasks, before a fit fails.
WORKER_TIMEOUT = 60.0
#: Seconds between checks whether there is one.
CHECK_INTERVAL = 10.0
# What Dask raises if results are lost, or if data is sent to a lost worker.
_LOSS_ERRORS = (FutureCancelledError, FuturesCancelledError, KeyError, OSError)


class WorkerLostError(RuntimeError):
    """A worker was lost, with results that Dask can't compute again."""


class NoWorkersError(RuntimeError):
    """No worker takes tasks."""


class DaskSession:
    """The tasks of one fit on Dask workers: samples in row blocks, one block per worker.

    Attributes
    ----------
    client : distributed.Client
    workers : addresses, one per block
    stage : the current stage of the fit, for messages
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.stage = "reading"
        # Dask's dashboard groups tasks by their names without the parts that have digits.
        self._token = uuid4().hex[:7] + "0"
        self._numbers = itertools.count()
        self._futures: WeakSet[Future] = WeakSet()
        self.workers: tuple[str, ...] = tuple(sorted(client.nthreads()))
        if not self.workers:
            raise ValueError(
                f"the Dask scheduler at {client.scheduler.address} has no workers; expected at "
                "least one"
            )

    def refresh_workers(self) -> None:
        """Update `workers` after a loss; wait a little, as lost workers may be restarted."""
        before, started = len(self.workers), time.monotonic()
        while True:
            found = self.client.nthreads()
            waited = time.monotonic() - started
            if len(found) >= before or waited > (_RETURN_TIMEOUT if found else WORKER_TIMEOUT):
                break
            time.sleep(0.1)
        self.workers = tuple(sorted(found))

    def submit(
        self, name: str, function: Callable[..., Any], *args: Any, block: int | None = None
    ) -> Future:
        """A task, shown under this name; preferably on the worker of a block."""
        where: dict[str, Any] = {}
        if block is not None:
            where = {"workers": [self.worker_of(block)], "allow_other_workers": True}
        key = self.new_key(name)
        call = (_run_task, name in _WITH_BLAS, function, *args)
        return self.track(self.client.submit(*call, key=key, pure=False, **where))

    def new_key(self, name: str) -> str:
        """A key of its own, shown under this name."""
        return f"manyview-{name}-{self._token}_{next(self._numbers)}"

    def worker_of(self, block: int) -> str:
        """The address of the worker of a block."""
        return self.workers[block % len(self.workers)]

    def track(self, future: Future) -> Future:
        """Have `release_all` release this future too."""
        self._futures.add(future)
        return future

    def release_all(self) -> None:
        """Free the memory of this fit on the workers, even if a traceback still holds futures."""
        for future in list(self._futures):
            future.release()

    def map_blocks(
        self, name: str, function: Callable[..., Any], blocks: Sequence[Any], *args: Any
    ) -> list[Future]:
        """One task per block. An argument that is a list has one value per block; any other is the
        same for all."""
        n = len(blocks)
        columns = [arg if isinstance(arg, list) else [arg] * n for arg in args]
        return [
            self.submit(name, function, *own, block=b)
            for b, own in enumerate(zip(blocks, *columns, strict=True))
        ]

    def scatter_blocks(self, arrays: Sequence[NDArray[Any]]) -> list[Future]:
        """Send one array per block to its worker."""
        with self.losses_raised():
            return [
                self.track(self.client.scatter(array, workers=[self.worker_of(b)], hash=False))
                for b, array in enumerate(arrays)
            ]

    def broadcast(self, array: NDArray[Any]) -> Future:
        """Send an array to every worker."""
        with self.losses_raised():
            return self.track(self.client.scatter(array, broadcast=True, hash=False))

    def gather(self, futures: Sequence[Future]) -> list[Any]:
        self.wait(futures)
        with self.losses_raised():
            return list(self.client.gather(list(futures)))

    def gather_rows(self, futures: Sequence[Future]) -> NDArray[Any]:
        """One array of the rows of all blocks."""
        return np.concatenate(self.gather(futures))

    def wait(self, futures: Sequence[Future]) -> None:
        """Wait for all; raise the error of one that failed."""
        with self.losses_raised():
            idle_since = None
            while True:
                with suppress(TimeoutError):
                    wait(list(futures), timeout=CHECK_INTERVAL)
                    break
                now = time.monotonic()
                idle_since = None if self.has_active_worker() else idle_since or now
                if idle_since is not None and now - idle_since > WORKER_TIMEOUT:
                    raise NoWorkersError
            for future in futures:
                if future.status != "finished":
                    future.result()

    def has_active_worker(self) -> bool:
        """Whether some worker takes tasks; Dask pauses workers that are short of memory."""
        found = self.client.run(_status, on_error="ignore")  # a lost worker gives no answer
        return any(status != "paused" for status in found.values())

    @contextmanager
    def losses_raised(self) -> Iterator[None]:
        """Raise `WorkerLostError` or `NoWorkersError` instead of Dask's errors."""
        try:
            yield
        except TimeoutError as error:  # no worker accepted what was sent
            raise NoWorkersError from error
        except _LOSS_ERRORS as error:
            # If no worker is lost, a task itself failed or the user cancelled.
            if self.client.status != "running" or not self._has_lost_worker():
                raise
            raise WorkerLostError(str(error)) from error

    def _has_lost_worker(self) -> bool:
        """Whether a worker is gone; the scheduler may notice later than this process."""
        for _ in range(10):
            if not set(self.workers) <= set(self.client.nthreads()):
                return True
            time.sleep(0.1)
        return False


def _status(dask_worker: Any) -> str:
    return str(dask_worker.status.name)


def even_bounds(n: int, n_blocks: int) -> IntArray:
    """Where blocks of about the same size begin, and where the last one ends."""
    return np.linspace(0, n, n_blocks + 1).astype(np.int64)


def segment_bounds(n: int, n_blocks: int) -> IntArray:
    """Where blocks of about the same size begin that have whole segments of rows."""
    length = segment_length(n)
    n_segments = -(-n // length)
    return np.minimum(even_bounds(n_segments, min(n_blocks, n_segments)) * length, n)


def row_blocks(array: NDArray[Any], bounds: IntArray) -> list[NDArray[Any]]:
    return [array[a:b] for a, b in itertools.pairwise(bounds.tolist())]


def _run_task(one_blas_thread: bool, function: Callable[..., Any], *args: Any) -> Any:
    """Run a task with all threads of its worker, or with one of BLAS, as on a single machine."""
    with ONE_AT_A_TIME:
        limits = {"blas": 1, "openmp": use_threads_of_worker()}
        with threadpool_limits(limits) if one_blas_thread else nullcontext():
            return function(*args)


def use_threads_of_worker() -> int:
    """Have our kernels use as many threads as this worker has."""
    import numba

    config: Any = numba.config
    n_threads = int(get_worker().state.nthreads)
    numba.set_num_threads(max(1, min(n_threads, config.NUMBA_NUM_THREADS)))
    return n_threads
