"""Fuzzing for a bounded time: short runs of hypothesis, one after another, every case counted."""

from __future__ import annotations

import os
import time
from collections import Counter

from hypothesis import HealthCheck, Phase, given, seed, settings

#: Seconds for all fuzz tests together; each has a share of them.
SECONDS = float(os.environ.get("MANYVIEW_FUZZ_SECONDS", "15"))
# A new seed after so many: hypothesis mutates what it has tried, fresh starts look elsewhere.
_EXAMPLES = 25


def fuzz(cases, check, record_property, *, share):
    """Try cases until the share of the time is over; `check` returns what a case came to.

    A case that fails is made small by hypothesis and shown. What was counted is reported at the end
    of the test session.
    """
    ends = time.monotonic() + share * SECONDS
    outcomes = Counter()
    failed = False

    def one(case):
        nonlocal failed
        if time.monotonic() > ends and outcomes and not failed:
            return
        try:
            outcomes[check(case)] += 1
        except BaseException:
            failed = True  # from now on cases are run however late it is, or they would not repeat
            raise

    number = 0
    while time.monotonic() < ends:
        run = settings(
            max_examples=_EXAMPLES,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )(given(cases)(one))
        seed(number)(run)()
        number += 1
    record_property("fuzzed", dict(outcomes))
    assert sum(outcomes.values()) > 0
    return outcomes
