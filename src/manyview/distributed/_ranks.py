"""Tasks that run at the same time, one per block of rows, and send each other arrays.

A rank is one such task. Dask only starts them: what they send goes straight from worker to worker,
by the workers' own (if so configured, encrypted) connections. All ranks call the same collective
operations in the same order. If a worker is lost, the client ends the ranks that are left.
"""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from distributed import get_worker, secede
from distributed.protocol import to_serialize
from distributed.worker import thread_state

from manyview._typing import IntArray
from manyview.distributed._client import ONE_AT_A_TIME, use_threads_of_worker
from manyview.runtime import RowShare, one_blas_thread, segment_length

Found = TypeVar("Found")

_OPERATION = "manyview_deliver"
# Seconds between checks, while waiting for a message, whether the ranks are to end.
_PATIENCE = 1.0


class RanksEndedError(RuntimeError):
    """The client has ended these ranks."""


class _Mailbox:
    """Messages to the ranks of this process, by fit, receiver, sender and number."""

    def __init__(self) -> None:
        self._messages: dict[tuple[str, int], dict[tuple[int, int], Any]] = {}
        self._ended: set[str] = set()
        self._closed: set[tuple[str, int]] = set()
        self._changed = threading.Condition()

    def open(self, fit: str, rank: int) -> None:
        with self._changed:
            self._messages.setdefault((fit, rank), {})

    def put(self, fit: str, rank: int, sender: int, number: int, content: Any) -> None:
        with self._changed:
            if fit not in self._ended and (fit, rank) not in self._closed:
                self._messages.setdefault((fit, rank), {})[sender, number] = content
                self._changed.notify_all()

    def take(
        self, fit: str, rank: int, sender: int, number: int, is_wanted: Callable[[], bool]
    ) -> Any:
        with self._changed:
            while True:
                if fit in self._ended or not is_wanted():
                    raise RanksEndedError(fit)
                messages = self._messages[fit, rank]
                if (sender, number) in messages:
                    return messages.pop((sender, number))
                self._changed.wait(_PATIENCE)

    def end(self, fit: str) -> None:
        with self._changed:
            self._ended.add(fit)
            for key in [key for key in self._messages if key[0] == fit]:
                del self._messages[key]
            self._changed.notify_all()

    def close(self, fit: str, rank: int) -> None:
        with self._changed:
            self._messages.pop((fit, rank), None)
            self._closed.add((fit, rank))


_MAILBOX = _Mailbox()


async def _deliver(fit: str, rank: int, sender: int, number: int, content: Any) -> None:
    _MAILBOX.put(fit, rank, sender, number, content)


def accept_messages(dask_worker: Any) -> None:
    """Let a worker deliver messages to its ranks; to be called before any of them starts."""
    dask_worker.handlers[_OPERATION] = _deliver


def end_ranks(fit: str) -> None:
    """End the ranks of a fit in this process, at their next message."""
    _MAILBOX.end(fit)


class Ranks:
    """The ranks of one fit, as one of them sees them.

    Attributes
    ----------
    rank, count : this one, and how many there are
    """

    def __init__(self, fit: str, rank: int, addresses: Sequence[str]) -> None:
        self.rank = rank
        self.count = len(addresses)
        self._fit = fit
        self._addresses = list(addresses)
        self._number = 0
        self._worker = get_worker()
        self._key = thread_state.key
        self._sending: list[Any] = []

    def exchange(self, contents: Mapping[int, Any], senders: Iterable[int]) -> dict[int, Any]:
        """Send something to some ranks, and receive from those that send to this one."""
        self._number += 1
        self._send(contents)
        return {other: self._receive(other) for other in senders}

    def exchange_all(self, contents: Sequence[Any]) -> list[Any]:
        """Send one thing to every rank, and receive one from each."""
        others = [other for other in range(self.count) if other != self.rank]
        received = self.exchange({other: contents[other] for other in others}, others)
        received[self.rank] = contents[self.rank]
        return [received[other] for other in range(self.count)]

    def combine(self, function: Callable[[list[Any]], Found], part: Any) -> Found:
        """What a function makes of the parts of all ranks, in order, computed by the first one."""
        self._number += 1
        if self.rank:
            self._send({0: part})
            found: Found = self._receive(0)
            return found
        parts = [part, *(self._receive(other) for other in range(1, self.count))]
        found = function(parts)
        self._send(dict.fromkeys(range(1, self.count), found))
        return found

    def _send(self, contents: Mapping[int, Any]) -> None:
        self._raise_if_lost()
        for other, content in contents.items():
            address = self._addresses[other]
            if address == self._worker.address:
                _MAILBOX.put(self._fit, other, self.rank, self._number, content)
                continue
            call = getattr(self._worker.rpc(address), _OPERATION)
            coroutine = call(
                fit=self._fit, rank=other, sender=self.rank, number=self._number,
                content=to_serialize(content),
            )  # fmt: skip
            loop = self._worker.loop.asyncio_loop
            self._sending.append(asyncio.run_coroutine_threadsafe(coroutine, loop))

    def _raise_if_lost(self) -> None:
        """Raise what went wrong with something that was sent."""
        for sent in self._sending:
            if sent.done():
                sent.result()
        self._sending = [sent for sent in self._sending if not sent.done()]

    def _receive(self, other: int) -> Any:
        with let_others_compute():
            return _MAILBOX.take(self._fit, self.rank, other, self._number, self._is_wanted)

    def _is_wanted(self) -> bool:
        """Whether the client still waits for this task; it may be gone."""
        task = self._worker.state.tasks.get(self._key)
        return task is not None and task.state != "cancelled"

    def finish(self) -> None:
        """Wait until all that was sent has arrived."""
        with let_others_compute():
            for sent in self._sending:
                sent.result()


@contextmanager
def let_others_compute() -> Iterator[None]:
    ONE_AT_A_TIME.release()
    try:
        yield
    finally:
        ONE_AT_A_TIME.acquire()


class RankShare(RowShare):
    """The rows of one rank."""

    def __init__(self, ranks: Ranks, bounds: IntArray) -> None:
        n, (start, stop) = int(bounds[-1]), bounds[ranks.rank : ranks.rank + 2].tolist()
        before = np.diff(bounds[: ranks.rank + 1])
        super().__init__(n, start, stop, int((-(-before // segment_length(n))).sum()))
        self._ranks = ranks

    def combine(self, function: Callable[[list[Any]], Found], part: Any) -> Found:
        return self._ranks.combine(function, part)


def run_rank(
    fit: str, rank: int, addresses: Sequence[str], function: Callable[..., Any], *args: Any
) -> Any:
    """Call function(ranks, *args) as one rank. It leaves the pool of the worker's threads, so that
    ranks on the same worker do not wait for each other."""
    _MAILBOX.open(fit, rank)
    secede()
    try:
        with ONE_AT_A_TIME, one_blas_thread():
            use_threads_of_worker()
            ranks = Ranks(fit, rank, addresses)
            found = function(ranks, *args)
            ranks.finish()
            return found
    finally:
        _MAILBOX.close(fit, rank)
