"""How long each stage of a fit took, said while it runs and kept for afterwards."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from manyview._log import logger


class Stages:
    """A clock for the stages of one fit; time in a stage within a stage counts for the inner one.

    Attributes
    ----------
    seconds : dict
        Name of each stage -> seconds spent in it so far.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._started = time.perf_counter()
        self._inner = 0.0

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self._started

    def say(self, text: str, *values: object) -> None:
        """Log a line of progress with the time since the fit began."""
        logger.info("%7.1f s  " + text, self.elapsed, *values)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        outer_inner, self._inner = self._inner, 0.0
        before = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - before
            self.seconds[name] = self.seconds.get(name, 0.0) + spent - self._inner
            self._inner = outer_inner + spent
