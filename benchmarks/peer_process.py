"""Another package in a process and an environment of its own; see benchmarks/peers/shared.py."""

from __future__ import annotations

import json
import resource
import select
import subprocess
import tempfile


class PeerProcess:
    """Answers requests; started again after one that was not answered in time."""

    def __init__(self, python, script, memory):
        self._command, self._memory = [python, script], memory
        self._process = None

    def ask(self, request, seconds):
        """The answer, or {"failed": ...} if there is none within so many seconds."""
        if self._process is None:
            self._start()
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer(seconds)

    def close(self):
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self):
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (as long as the process)
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            text=True, preexec_fn=self._limit_memory,
        )  # fmt: skip
        found = self._answer(600)  # imports and compilers
        if "failed" in found:
            raise RuntimeError(found["failed"])

    def _limit_memory(self):
        resource.setrlimit(resource.RLIMIT_DATA, (self._memory, self._memory))

    def _answer(self, seconds):
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        line = self._process.stdout.readline() if ready else None
        if line:
            return json.loads(line)
        self.close()
        if line is None:
            return {"failed": f"more than {seconds} seconds"}
        self._errors.seek(0)
        last = self._errors.read().strip().splitlines()[-1:]
        return {"failed": " ".join(["the process ended:", *last])[:160]}
