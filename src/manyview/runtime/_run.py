"""Seed, stage timings and progress logging of one fit."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from manyview.runtime._checkpoint import Checkpoint
from manyview.runtime._log import logger


class Run:
    """One fit.

    Attributes
    ----------
    seed : int
        Seed of every random step.
    rng : numpy.random.Generator
        Generator with that seed.
    seconds : dict
        Stage name -> seconds spent in it. The time of a nested stage counts for that stage only.
    checkpoint : Checkpoint, optional
        Where the fit saves its state.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.seconds: dict[str, float] = {}
        self.checkpoint: Checkpoint | None = None
        self._started = time.perf_counter()
        self._nested = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since the fit began."""
        return time.perf_counter() - self._started

    def log(self, text: str, *values: object) -> None:
        """Log one line of progress with the elapsed seconds."""
        logger.info("%.1f s: " + text, self.elapsed, *values)

    def add_stages(self, seconds: Mapping[str, float]) -> None:
        """Count the stages of a part of this fit that ran elsewhere, during the current stage."""
        for name, spent in seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + spent
            self._nested += spent

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of a block to a stage."""
        nested_before, self._nested = self._nested, 0.0
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - started
            self.seconds[name] = self.seconds.get(name, 0.0) + spent - self._nested
            self._nested = nested_before + spent
