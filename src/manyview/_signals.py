"""Signals that ask the program to stop: handled alike, and deferred where files are written."""

import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Ctrl-C, kill, closed terminal; Windows has no SIGHUP, but SIGBREAK for Ctrl-Break.
STOP_SIGNALS = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    if hasattr(signal, name)
)

_received = threading.Event()


def handle_stop_signals() -> None:
    """Raise KeyboardInterrupt on every stop signal, except those that are ignored (nohup)."""
    _received.clear()
    for number in STOP_SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupt)
    report = sys.unraisablehook

    def report_others(dropped: Any) -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):  # see raise_if_stopped
            report(dropped)

    sys.unraisablehook = report_others


def _interrupt(*_: Any) -> None:
    _received.set()
    warnings.simplefilter("ignore")  # of libraries whose imports it breaks
    raise KeyboardInterrupt


def raise_if_stopped() -> None:
    """Raise KeyboardInterrupt if one was lost: Python drops those in `__del__` and the like."""
    if _received.is_set():
        raise KeyboardInterrupt


def ignore_stop_signals() -> None:
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def defer_stop_signals() -> Iterator[None]:
    """Handle stop signals that arrive during the block after it, and a lost one before it.

    Does nothing outside the main thread, which alone handles signals. Signals that are ignored, or
    that end the process without a handler, stay as they are.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    raise_if_stopped()
    received: list[int] = []
    handlers = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    handlers = {number: handler for number, handler in handlers.items() if callable(handler)}
    try:
        for number in handlers:
            signal.signal(number, lambda number, _: received.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in received:
            signal.raise_signal(number)
