"""Starts ranks from the client, and ends them where one of their workers is lost."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from distributed import Future, wait

from manyview.distributed._client import (
    CHECK_INTERVAL,
    WORKER_TIMEOUT,
    DaskSession,
    NoWorkersError,
    WorkerLostError,
)
from manyview.distributed._ranks import accept_messages, end_ranks, run_rank
from manyview.runtime import Run

# Seconds between checks whether all workers of the ranks are there.
_INTERVAL = 0.5


def run_ranks(
    session: DaskSession,
    function: Callable[..., Any],
    by_rank: Sequence[Sequence[Any]],
    *same: Any,
) -> list[Any]:
    """function(ranks, *of its rank, *same) as one task per block, all at the same time."""
    client, fit = session.client, session.new_key("fit")
    addresses = [session.worker_of(b) for b in range(len(by_rank))]
    futures: list[Future] = []
    try:
        with session.losses_raised():
            client.run(accept_messages, workers=sorted(set(addresses)))
            for b, own in enumerate(by_rank):
                call = (run_rank, fit, b, addresses, function, *own, *same)
                where = {"workers": [addresses[b]], "allow_other_workers": False}
                future = client.submit(*call, key=session.new_key("ranks"), pure=False, **where)
                futures.append(session.track(future))
            _wait(session, futures)
            return list(client.gather(futures))
    except BaseException:
        with suppress(Exception):  # the client may be closed, and workers lost
            client.run(end_ranks, fit, on_error="ignore")
        raise
    finally:
        for future in futures:
            future.release()


def _wait(session: DaskSession, futures: Sequence[Future]) -> None:
    """Wait for all. Ranks wait for each other, so the loss of one ends the wait."""
    idle_since, checked = None, time.monotonic()
    while True:
        with suppress(TimeoutError):
            wait(list(futures), timeout=_INTERVAL)
            return
        if not set(session.workers) <= set(session.client.nthreads()):
            raise WorkerLostError("a worker was lost")
        for future in futures:
            if future.status not in ("pending", "finished"):
                future.result()
        now = time.monotonic()
        if now - checked > CHECK_INTERVAL:
            checked = now
            idle_since = None if session.has_active_worker() else idle_since or now
            if idle_since is not None and now - idle_since > WORKER_TIMEOUT:
                raise NoWorkersError


@contextmanager
def progress(session: DaskSession, run: Run) -> Iterator[str]:
    """Log what ranks say of their progress, under the topic that is given."""
    topic = session.new_key("progress")
    session.client.subscribe_topic(topic, lambda event: run.log("%s", event[1]))
    try:
        yield topic
    finally:
        with suppress(Exception):  # the client may be closed
            session.client.unsubscribe_topic(topic)
