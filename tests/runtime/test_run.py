"""Seed, stage timings and progress logging of one fit."""

import logging
import time

import numpy as np

from manyview.runtime import Run


def test_the_time_of_a_nested_stage_counts_once(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    run = Run(0)
    with run.stage("outer"):
        clock[0] += 1
        with run.stage("inner"):
            clock[0] += 10
            with run.stage("innermost"):
                clock[0] += 100
        clock[0] += 2
    with run.stage("inner"):
        clock[0] += 1000
    assert run.seconds == {"outer": 3, "inner": 1010, "innermost": 100}
    assert run.elapsed == 1113


def test_the_seed_is_that_of_the_generator():
    assert Run(7).seed == 7
    np.testing.assert_array_equal(Run(7).rng.random(3), np.random.default_rng(7).random(3))


def test_progress_is_logged_with_the_elapsed_seconds(caplog):
    with caplog.at_level(logging.INFO, "manyview"):
        Run(0).log("round %d of %d", 1, 3)
    assert caplog.messages == ["0.0 s: round 1 of 3"]
