"""One measurement, one process: what the benchmarks share."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path


def timed(work):
    """Result of `work`, its seconds, and how far resident memory rose, in bytes."""
    from tests.helpers.memory import peak_growth

    started = time.perf_counter()
    result, growth = peak_growth(work)
    return result, time.perf_counter() - started, growth


def resident():
    from tests.helpers.memory import resident

    return resident()


def in_a_process(script, job, *, timeout=None, **settings):
    """Call `script`'s function `job` with settings in a new process; it returns JSON values."""
    command = [sys.executable, "-m", f"benchmarks.{Path(script).stem}", "--job", job]
    done = subprocess.run(
        [*command, json.dumps(settings)], capture_output=True, text=True, timeout=timeout
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def answer_if_asked(jobs):
    """In the process that `in_a_process` started: do the job, print its result and end."""
    if len(sys.argv) == 4 and sys.argv[1] == "--job":
        print(json.dumps(jobs[sys.argv[2]](**json.loads(sys.argv[3]))))
        raise SystemExit(0)


def machine():
    names = ("numpy", "scipy", "scikit-learn", "numba")
    cores = len(os.sched_getaffinity(0))
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    return f"{platform.platform()}, {cores} cores, Python {platform.python_version()}, {versions}"


def write_block(path, name, text):
    """Put text between the lines that mark the block `name` in a Markdown file."""
    begin, end = f"<!-- {name}: written by the benchmark -->", f"<!-- end of {name} -->"
    page = path.read_text()
    before, rest = page.split(begin)
    after = rest.split(end)[1]
    path.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}")


def table(head, rows):
    """A Markdown table; the first column is text, the others are numbers."""
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " --: |" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])
