"""How much memory there is for a fit, and the refusal of one that needs more.

What a fit needs is estimated in `manyview.methods._memory_model`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from manyview.runtime._checks import check_integer
from manyview.runtime._log import logger

#: Where Linux tells of memory; tests put made-up files elsewhere.
ROOT = Path("/")
#: Fits that need less than this are never refused: a machine with less left has other worries.
NEVER_CHECKED = 64 * 2**20
_LIMITS = {"RLIMIT_AS": "VmSize", "RLIMIT_DATA": "VmData"}
# What `memory_limit` set: a number, None for no check; nothing for what the machine has.
_LIMIT: ContextVar[int | None] = ContextVar("memory_limit")


@dataclass(frozen=True)
class Estimate:
    """Bytes that a fit will take on top of what the process has already.

    The views are loaded by then and not counted. Neither are libraries and what they compile and
    load at the first fit of a process, whatever its size: about 100 MB, as measured with numba 0.68
    and faiss 1.15.

    Attributes
    ----------
    stages : name of each stage -> the most that is held during it, what earlier stages left
        included
    """

    stages: Mapping[str, int]

    @property
    def stage(self) -> str:
        """The stage that needs most."""
        return max(self.stages, key=self.stages.__getitem__)

    @property
    def peak(self) -> int:
        return self.stages[self.stage]


class NotEnoughMemoryError(MemoryError):
    """A fit was refused because it needs more memory than there is.

    Attributes
    ----------
    why : str
        What it needs, what there is, and what would need less; the message adds how to go on.
    """

    @property
    def why(self) -> str:
        return str(self.args[0])

    def __str__(self) -> str:
        return f"{self.why}, or manyview.memory_limit(None) to go on anyway"


@contextmanager
def memory_limit(limit: int | None) -> Iterator[None]:
    """Take so many bytes for what there is, whatever the machine has; None for no check at all.

    Examples
    --------
    >>> import numpy as np
    >>> import manyview
    >>> with manyview.memory_limit(None):  # goes on, whatever it takes
    ...     labels = manyview.GBS(2).fit_predict([np.random.default_rng(0).random((50, 3))])
    """
    if limit is not None:
        limit = check_integer("limit", limit, 0)
    token = _LIMIT.set(limit)
    try:
        yield
    finally:
        _LIMIT.reset(token)


def memory_left(there: int | None = None) -> int | None:
    """Bytes that a fit may take; None where nothing is known, or nothing to be checked.

    `there` is what it has where that is not this machine.
    """
    return _LIMIT.get(available_memory() if there is None else there)


def fits_in_memory(estimate: Estimate) -> bool:
    """Whether there is room for it."""
    left = memory_left()
    return left is None or estimate.peak <= max(left, NEVER_CHECKED)


def check_memory(estimate: Estimate, who: str, options: Sequence[str]) -> None:
    """Raise `NotEnoughMemoryError` where a fit needs more than there is.

    Parameters
    ----------
    estimate : what it needs
    who : name of the method
    options : what the user could do about it
    """
    logger.info("%s needs about %s (%s)", who, format_bytes(estimate.peak), estimate.stage)
    left = memory_left()
    if left is not None and not fits_in_memory(estimate):
        raise NotEnoughMemoryError(
            f"{who} needs about {format_bytes(estimate.peak)} of memory ({estimate.stage}), but "
            f"{format_bytes(left)} is available; expected {', '.join(options)}"
        )


def format_bytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"


def available_memory() -> int | None:
    """Bytes this process may still take, or None where the system doesn't tell.

    The least of what the machine has free (page cache that can be dropped included), of what the
    control groups of a container or job leave, and of what ``ulimit`` leaves. Swap isn't counted:
    a fit that needs it would hardly end.
    """
    left = [*_free_in_machine(ROOT), *_left_in_groups(ROOT), *_left_by_ulimit(ROOT)]
    return max(min(left), 0) if left else None


def _free_in_machine(root: Path) -> Iterator[int]:
    sizes = _sizes(root / "proc/meminfo")
    if "MemAvailable" in sizes:
        yield sizes["MemAvailable"]


def _left_in_groups(root: Path) -> Iterator[int]:
    """What the process's control groups leave, each and those that they are in."""
    for line in _lines(root / "proc/self/cgroup"):
        hierarchy, controllers, path = line.split(":", 2)
        if hierarchy == "0":
            mount, names = root / "sys/fs/cgroup", ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            mount = root / "sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        # A container often sees the group of its own as the mount itself, whatever its path.
        own = mount / path.strip("/")
        for group in (own, *own.parents):
            if group != mount and mount not in group.parents:
                break
            limit, used = (_number(group / name) for name in names)
            if limit is not None and used is not None:
                yield limit - used + _droppable(group)


def _droppable(group: Path) -> int:
    """Bytes of files a group has cached that make room when it is needed."""
    values = dict(line.split(" ", 1) for line in _lines(group / "memory.stat"))
    return int(values.get("total_inactive_file", values.get("inactive_file", 0)))


def _left_by_ulimit(root: Path) -> Iterator[int]:
    try:
        import resource
    except ImportError:  # Windows has none
        return
    sizes = _sizes(root / "proc/self/status")
    for name, used in _LIMITS.items():
        limit = resource.getrlimit(getattr(resource, name))[0]
        if limit != resource.RLIM_INFINITY and used in sizes:
            yield limit - sizes[used]


def _sizes(path: Path) -> dict[str, int]:
    """Bytes by name from lines like ``MemAvailable:  123 kB``."""
    words = (line.split() for line in _lines(path))
    return {w[0].rstrip(":"): int(w[1]) * 1024 for w in words if len(w) == 3 and w[2] == "kB"}


def _number(path: Path) -> int | None:
    lines = _lines(path)
    return int(lines[0]) if lines and lines[0].isdigit() else None  # "max": no limit


def _lines(path: Path) -> list[str]:
    """The lines of a file, none if it can't be read: other systems, and closed containers."""
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
