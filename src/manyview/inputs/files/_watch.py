"""Limits for the process that reads a file, where the system lets it set none for itself.

On Linux `_sandbox_child` limits its own memory and time of computing. Windows has no such limits,
macOS none of memory, so there its parent looks at it and ends it.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_INTERVAL = 0.05  # seconds
#: Bytes that Python and the libraries take before a file is read, about.
_LIBRARIES = 2**28


class Watch:
    """What a process has exceeded: "memory", "seconds" or nothing yet."""

    exceeded = ""

    def __init__(self) -> None:
        self._ended = threading.Event()

    def end(self) -> None:
        self._ended.set()

    def look(self, child: subprocess.Popen[bytes], memory: float, seconds: float) -> None:
        """Kill the process once it takes more than it may."""
        import psutil

        try:
            process = psutil.Process(child.pid)
            while not self._ended.wait(_INTERVAL):
                times = process.cpu_times()
                if times.user + times.system > seconds:
                    self.exceeded = "seconds"
                elif process.memory_info().rss > memory + _LIBRARIES:
                    self.exceeded = "memory"
                if self.exceeded:
                    child.kill()
                    return
        except psutil.Error:  # it has ended
            return


@contextmanager
def watched(child: subprocess.Popen[bytes], memory: float, seconds: float) -> Iterator[Watch]:
    """Watch a process during the block, if it can't limit itself."""
    watch = Watch()
    if sys.platform != "linux":
        threading.Thread(target=watch.look, args=(child, memory, seconds), daemon=True).start()
    try:
        yield watch
    finally:
        watch.end()
