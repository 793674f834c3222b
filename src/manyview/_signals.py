"""Requests to stop: held back where they would leave something half done."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Ctrl-C, a polite kill, a closed terminal; Windows does not know the last.
STOP_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


_came = threading.Event()


def handle_stop_signals() -> None:
    """Take every request to stop for a Ctrl-C: nothing half-written, workers stopped."""
    _came.clear()
    for number in STOP_SIGNALS:
        # not where nohup made it be ignored
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupt)
    report = sys.unraisablehook

    def report_others(dropped: Any) -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):  # those are answered later
            report(dropped)

    sys.unraisablehook = report_others


def _interrupt(*_: Any) -> None:
    _came.set()
    raise KeyboardInterrupt


def raise_if_stopped() -> None:
    """Stop now if a request has come that went unanswered.

    Python drops exceptions in what it calls by the way, as when an object is deleted: an
    interruption that comes in such a moment is lost, unless somebody asks for it.
    """
    if _came.is_set():
        raise KeyboardInterrupt


def ignore_stop_signals() -> None:
    """Hear no request any more."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def defer_stop_signals() -> Iterator[None]:
    """Hold requests to stop back until the block is done, and let them come then.

    Python answers them in the main thread only, so nothing is to be done in another. Those that
    are ignored or that end the process without a word stay as they are.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def note(number: int, _: Any) -> None:
        came.append(number)

    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    before = {number: handler for number, handler in before.items() if callable(handler)}
    for number in before:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)
