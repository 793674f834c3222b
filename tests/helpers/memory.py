"""Peak memory of a piece of work, for tests and benchmarks (Linux only)."""

from __future__ import annotations

from pathlib import Path

CLEAR = Path("/proc/self/clear_refs")


def _status(key):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    raise KeyError(key)


def resident():
    """Bytes of memory this process holds now."""
    return _status("VmRSS")


def peak_growth(work):
    """Run `work` and return its result and how far resident memory rose above the start."""
    CLEAR.write_text("5")  # resets the high-water mark
    before = resident()
    result = work()
    return result, _status("VmHWM") - before
