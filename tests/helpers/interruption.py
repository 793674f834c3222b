"""Programs stopped at a moment of one's choice, and what they leave."""

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

DRAFTS = ".manyview-*.draft"
LIMIT = 300


@dataclass(frozen=True)
class Stopped:
    """How a program ended: `finished` if before the signal came, else so many seconds `later`.

    `seconds` is how long it ran altogether.
    """

    pid: int
    returncode: int
    finished: bool
    later: float
    seconds: float
    stdout: str
    stderr: str


def stop(arguments, how, *, after=0.0, when=None, group=False, cwd=None, program="-m manyview"):
    """Start ``manyview`` in a session of its own and send it a signal.

    It is sent `after` so many seconds; with `when`, a function, so long after that has become
    true. To the program alone, or with `group` to all that it started as well, as a terminal does.
    """
    command = [sys.executable, *program.split(), *map(str, arguments)]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        # Files and not pipes: those that outlive the program would keep a pipe open.
        started = time.monotonic()
        heard = signal.signal(signal.SIGINT, signal.default_int_handler)
        running = subprocess.Popen(
            command, cwd=cwd, stdout=out, stderr=err, stdin=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        signal.signal(signal.SIGINT, heard)  # tests run in the background may ignore it
        try:
            if when is not None:
                deadline = time.monotonic() + LIMIT
                while not when() and running.poll() is None:
                    assert time.monotonic() < deadline, "what was waited for did not happen"
                    time.sleep(0.0005)
            finished = _ended_within(running, after)
            if not finished:
                os.killpg(running.pid, how) if group else running.send_signal(how)
            sent = time.monotonic()
            running.wait(LIMIT)
            later, seconds = time.monotonic() - sent, time.monotonic() - started
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
        texts = [stream.seek(0) or stream.read() for stream in (out, err)]
    return Stopped(running.pid, running.returncode, finished, later, seconds, *texts)


def _ended_within(running, seconds):
    try:
        running.wait(seconds)
    except subprocess.TimeoutExpired:
        return running.poll() is not None
    return True


def until(count, attempt, seconds):
    """Go on until so many programs were stopped before they were done; returns the attempts made.

    `attempt` gets its number and how long a program is thought to run, and gives a `Stopped`: one
    that was done before the signal came tells better.
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
    """A condition: something is being written in one of the folders."""
    return lambda: any(True for folder in folders for _ in Path(folder).glob(DRAFTS))


def alive(session):
    """The processes of a session that still run, after they had some seconds to end."""
    deadline = time.monotonic() + 20
    while (left := _processes(session)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


def _processes(session):
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = entry.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(words[3]) == session and words[0] not in "ZX":
            found.append(int(entry.parent.name))
    return found


def contents(folder):
    """What is in a folder and below, by its path: bytes and time of every file."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


class SmallDisk:
    """A file system in memory that can be filled and made read-only."""

    def __init__(self, folder):
        self.folder = folder
        self._ballast = folder / "ballast"

    def leave(self, size):
        """Fill it so that no more than `size` bytes can be written, in blocks."""
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
    """4 MB of memory as a disk; only root may mount one."""
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
    """Spread over the whole, half of them in the last quarter."""
    rng = random.Random(seed)
    early = [rng.uniform(0, 0.75) for _ in range(count // 2)]
    return early + [rng.uniform(0.75, 1.0) for _ in range(count - count // 2)]


def check_polite(stopped, seconds, more=""):
    """One line and the code of an interrupted program; whether it was not done before.

    In the last moments, when all is written, nothing is there to be interrupted any more.
    """
    if stopped.returncode == 0:
        assert stopped.stderr == ""
        assert stopped.finished or stopped.later < seconds / 4, "the request was lost"
        return False
    # Where a Ctrl-C meets code that Python made from text, as of data classes, Python ends itself
    # by the same signal, whoever heard it before. Shells show 130 for either.
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
