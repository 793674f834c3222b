"""From a new process to the first labels: digits, with nothing compiled yet and with all compiled.

``make bench-start`` writes the table into docs/. The cold starts have an empty cache of compiled
code, the warm ones that of the cold ones. Fails if a goal is missed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import harness

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
#: Seconds from the start of Python to the labels, on two free cores.
GOALS = {"cold": 5.0, "warm": 2.0}
REPEATS = 3
STAGES = ("imports", "data", "fit", "of which compiling", "whole process")
SCRIPT = """
import json, time
marks = [(time.perf_counter(), time.process_time())]
def mark():
    marks.append((time.perf_counter(), time.process_time()))
import manyview.api
from manyview.datasets import load_digits_views
from numba.core import event
compiling = event.RecordingListener()
event.register("numba:compile", compiling)
mark()
views = load_digits_views().views
mark()
manyview.cluster(views, n_clusters=10).labels
mark()
found = [[b[k] - a[k] for k in (0, 1)] for a, b in zip(marks, marks[1:])]
depth = total = 0
for when, one in compiling.buffer:
    started = when if one.is_start and depth == 0 else started
    depth += 1 if one.is_start else -1
    total += when - started if depth == 0 else 0
print(json.dumps([*found, [total, None]]))
"""


def start(cache):
    """Seconds and processor seconds of each stage, in a new process."""
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    before, clock = os.times(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    after = os.times()
    whole = [
        time.perf_counter() - clock,
        after.children_user + after.children_system - before.children_user - before.children_system,
    ]
    return [*json.loads(done.stdout), whole]


def measure():
    """The medians of some cold and warm starts."""
    runs = {"cold": [], "warm": []}
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as cache:
            for kind in runs:
                runs[kind].append(start(cache))
    return {kind: [_medians(values) for values in zip(*some, strict=True)]
            for kind, some in runs.items()}  # fmt: skip


def _medians(values):
    return [None if None in column else statistics.median(column)
            for column in zip(*values, strict=True)]  # fmt: skip


def main():
    busy = os.getloadavg()[0]
    found = measure()
    shown = [
        [stage, *("" if x is None else f"{x:.2f}" for kind in GOALS for x in found[kind][i])]
        for i, stage in enumerate(STAGES)
    ]
    head = ["stage", "cold s", "cold processor s", "warm s", "warm processor s"]
    lines = [f"{harness.machine()}; {busy:.1f} other processes running at the start:", ""]
    lines += [harness.table(head, shown), ""]
    missed = False
    for kind, goal in GOALS.items():
        seconds = found[kind][-1][0]
        missed |= seconds > goal
        word = "met" if seconds <= goal else "missed"
        lines.append(f"- {word}: {kind} start in {seconds:.1f} s; target: at most {goal:g} s")
    text = "\n".join(lines)
    print(text)
    harness.write_block(PAGE, "start", text)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
