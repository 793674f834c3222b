"""What one fit carries with it: its seed, its clock, and a voice for progress."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from manyview.runtime._checkpoint import Checkpoint
from manyview.runtime._log import logger


class Run:
    """One fit.

    Attributes
    ----------
    seed : int
        Feeds every random step.
    rng : numpy.random.Generator
        Seeded with it.
    seconds : dict
        Name of each stage -> seconds spent in it. Time in a stage within a stage counts for the
        inner one alone.
    checkpoint : Checkpoint, optional
        Where to keep what there is so far.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.seconds: dict[str, float] = {}
        self.checkpoint: Checkpoint | None = None
        self._started = time.perf_counter()
        self._inner = 0.0

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self._started

    def log(self, text: str, *values: object) -> None:
        """Log a line of progress with the time since the fit began."""
        logger.info("%.1f s: " + text, self.elapsed, *values)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        outer, self._inner = self._inner, 0.0
        before = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - before
            self.seconds[name] = self.seconds.get(name, 0.0) + spent - self._inner
            self._inner = outer + spent
