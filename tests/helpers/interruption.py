"""Stopping programs at a chosen moment, and what they leave."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from manyview._signals import STOP_SIGNALS

DRAFTS = ".manyview-*.draft"
LIMIT = 300


@dataclass(frozen=True)
class Stopped:
    """How a program ended: `finished` before the signal, else `later` seconds after it.

    `seconds` is its whole duration. `printed` is whether all of its output was there when the
    signal was sent: it is printed last.
    """

    pid: int
    returncode: int
    finished: bool
    later: float
    seconds: float
    printed: bool
    stdout: str
    stderr: str


def stop(arguments, how, *, after=0.0, when=None, group=False, cwd=None, program="-m manyview"):
    """Start ``manyview`` in its own session and send it a signal.

    The signal is sent `after` so many seconds, counted from when the function `when` returns True
    if given; with `group` also to the processes that it started, as a terminal does.
    """
    command = [sys.executable, *program.split(), *map(str, arguments)]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        # Files, not pipes: processes that outlive the program would keep a pipe open.
        started = time.monotonic()
        # Tests in the background may ignore signals (nohup), and the program would inherit that.
        heard = {n: signal.signal(n, signal.default_int_handler) for n in STOP_SIGNALS}
        running = subprocess.Popen(
            command, cwd=cwd, stdout=out, stderr=err, stdin=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        for number, handler in heard.items():
            signal.signal(number, handler)
        try:
            if when is not None:
                deadline = time.monotonic() + LIMIT
                while not when() and running.poll() is None:
                    assert time.monotonic() < deadline, "the condition was never true"
                    time.sleep(0.0005)
            finished = _ended_within(running, after)
            if not finished:
                os.killpg(running.pid, how) if group else running.send_signal(how)
            sent, size = time.monotonic(), os.fstat(out.fileno()).st_size
            running.wait(LIMIT)
            later, seconds = time.monotonic() - sent, time.monotonic() - started
            # SIGKILL can't be handled: without its code, the program had ended just before it.
            finished = finished or (how == signal.SIGKILL and running.returncode >= 0)
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
        printed = os.fstat(out.fileno()).st_size == size
        texts = [stream.seek(0) or stream.read() for stream in (out, err)]
    return Stopped(running.pid, running.returncode, finished, later, seconds, printed, *texts)


def _ended_within(running, seconds):
    try:
        running.wait(seconds)
    except subprocess.TimeoutExpired:
        return running.poll() is not None
    return True


def until(count, attempt, seconds):
    """Repeat until `count` programs were stopped before they finished; returns the attempts.

    `attempt` gets its number and the expected duration, and returns a `Stopped`. Programs that
    finished before the signal correct the expected duration.
    """
    hits = 0
    for number in range(3 * count):
        stopped = attempt(number, seconds)
        if stopped.returncode:
            hits += 1
        else:
            seconds = min(seconds, stopped.seconds)
        if hits == count:
            return number + 1
    raise AssertionError(f"{hits} of {3 * count} programs were stopped in time; expected {count}")


def any_draft(*folders):
    """A condition: one of the folders has a draft."""
    return lambda: any(True for folder in folders for _ in Path(folder).glob(DRAFTS))


def alive(session):
    """Processes of a session that still run after 20 seconds to end."""
    deadline = time.monotonic() + 20
    while (left := _processes(session)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


def _processes(session):
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = entry.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(words[3]) == session and words[0] not in "ZX":
            found.append(int(entry.parent.name))
    return found


def contents(folder):
    """Path -> bytes and time of every file in a folder and below."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


class SmallDisk:
    """A file system in memory that can be filled or made read-only."""

    def __init__(self, folder):
        self.folder = folder
        self._ballast = folder / "ballast"

    def leave(self, size):
        """Fill it so that at most `size` bytes can be written."""
        self._ballast.unlink(missing_ok=True)
        block = os.statvfs(self.folder).f_frsize
        free = os.statvfs(self.folder).f_bavail * block
        self._ballast.write_bytes(bytes(max(0, free - size // block * block)))

    def free(self):
        self._ballast.unlink()

    def read_only(self, yes=True):
        kind = "ro" if yes else "rw"
        subprocess.run(["mount", "-o", f"remount,{kind}", self.folder], check=True)


@contextmanager
def mounted_disk(folder):
    """A disk of 4 MB in memory; only root may mount it."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root may mount a file system")
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def moments(seed, count):
    """Shares of a duration, half of them in the last quarter."""
    rng = random.Random(seed)
    early = [rng.uniform(0, 0.75) for _ in range(count // 2)]
    return early + [rng.uniform(0.75, 1.0) for _ in range(count - count // 2)]


def check_polite(stopped, seconds, more=""):
    """Check for one line and the exit code of an interrupted program; returns whether it was one.

    While Python exits, when everything is written and printed, a signal has no effect.
    """
    if stopped.returncode == 0:
        assert stopped.stderr == ""
        lost = f"the signal was lost: {stopped.later:.1f} s to the end of {seconds:.1f}"
        assert stopped.finished or stopped.printed, lost
        return False
    # If SIGINT arrives in code that Python compiled from text, as for dataclasses, Python ends
    # itself by the same signal. Shells show 130 for either.
    assert stopped.returncode in (130, -signal.SIGINT), stopped
    assert stopped.stderr in ("manyview: interrupted\n", f"manyview: interrupted{more}\n")
    return True


def fails_in_one_line(arguments, capsys, message):
    from manyview import cli

    capsys.readouterr()
    assert cli.main([str(word) for word in arguments]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
