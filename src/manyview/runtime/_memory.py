"""Available memory, and refusing a fit that needs more.

`manyview.methods` estimates what a fit needs.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from manyview.runtime._checks import check_integer
from manyview.runtime._log import logger

#: Root of the files that describe memory on Linux; tests use another.
ROOT = Path("/")
#: Fits that need less than this are never refused.
NEVER_CHECKED = 64 * 2**20
_LIMITS = {"RLIMIT_AS": "VmSize", "RLIMIT_DATA": "VmData"}
# Set by `memory_limit`: bytes, or None for no check. Unset: what the machine has.
_LIMIT: ContextVar[int | None] = ContextVar("memory_limit")


@dataclass(frozen=True)
class Estimate:
    """Bytes that a fit needs on top of what the process uses already.

    The loaded views are not included. Neither are libraries with the code that they compile at the
    first fit of a process: about 100 MB with numba 0.68.

    Attributes
    ----------
    stages : stage name -> most bytes held during it, including results of earlier stages
    """

    stages: Mapping[str, int]

    @property
    def stage(self) -> str:
        """The stage that needs the most."""
        return max(self.stages, key=self.stages.__getitem__)

    @property
    def peak(self) -> int:
        return self.stages[self.stage]


class NotEnoughMemoryError(MemoryError):
    """A fit was refused because it needs more memory than is available.

    Attributes
    ----------
    why : str
        Memory needed and available, and what would need less. The message also says how to fit
        anyway.

    See Also
    --------
    manyview.memory_limit : Changes what a fit is checked against.

    Examples
    --------
    >>> import manyview
    >>> data = manyview.datasets.make_blob_views(20000, 3, random_state=0)
    >>> with manyview.memory_limit(2**20):
    ...     manyview.GBS(3).fit(data.views)
    Traceback (most recent call last):
    manyview.runtime._memory.NotEnoughMemoryError: GBS needs about ...
    """

    @property
    def why(self) -> str:
        return str(self.args[0])

    def __str__(self) -> str:
        return f"{self.why}, or manyview.memory_limit(None) to fit anyway"


@contextmanager
def memory_limit(limit: int | None) -> Iterator[None]:
    """Let fits in a `with` block need at most this much memory, in bytes; None for no limit.

    See Also
    --------
    manyview.runtime.NotEnoughMemoryError : Raised by a fit that needs more.

    Examples
    --------
    >>> import numpy as np
    >>> import manyview
    >>> with manyview.memory_limit(None):  # fits, whatever it needs
    ...     labels = manyview.GBS(2).fit_predict([np.random.default_rng(0).random((50, 3))])
    """
    if limit is not None:
        limit = check_integer("limit", limit, 0)
    token = _LIMIT.set(limit)
    try:
        yield
    finally:
        _LIMIT.reset(token)


def memory_left(limit: int | None = None) -> int | None:
    """Bytes that a fit may use; None if unknown, or if nothing is to be checked.

    `limit` replaces the memory of this machine.
    """
    return _LIMIT.get(available_memory() if limit is None else limit)


def check_memory(estimate: Estimate, who: str, options: Sequence[str]) -> None:
    """Raise `NotEnoughMemoryError` if a fit needs more memory than is available.

    Parameters
    ----------
    estimate : memory needed
    who : name of the method
    options : what would need less
    """
    needed = format_bytes(estimate.peak)
    logger.info("%s needs about %s (%s)", who, needed, estimate.stage)
    left = memory_left()
    if left is not None and estimate.peak > max(left, NEVER_CHECKED):
        raise NotEnoughMemoryError(
            f"{who} needs about {needed} of memory ({estimate.stage}), but {format_bytes(left)} is "
            f"available; expected {', '.join(options)}"
        )


def format_bytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"


def available_memory() -> int | None:
    """Bytes that this process can still allocate, or None if the system does not tell.

    The smallest of: free memory of the machine, including droppable page cache; what the control
    groups of a container or job leave; what ``ulimit`` leaves. Swap is not counted: a fit that
    swaps would hardly finish.
    """
    left = [*_free_in_machine(ROOT), *_left_in_groups(ROOT), *_left_by_ulimit(ROOT)]
    return max(min(left), 0) if left else None


def _free_in_machine(root: Path) -> Iterator[int]:
    sizes = _sizes(root / "proc/meminfo")
    if "MemAvailable" in sizes:
        yield sizes["MemAvailable"]
    elif sys.platform != "linux":
        import psutil

        yield psutil.virtual_memory().available


def _left_in_groups(root: Path) -> Iterator[int]:
    """What each control group of the process and its parent groups leave."""
    for line in _lines(root / "proc/self/cgroup"):
        hierarchy, controllers, path = line.split(":", 2)
        if hierarchy == "0":
            mount, names = root / "sys/fs/cgroup", ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            mount = root / "sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        # A container often sees its own group at the mount, whatever its path.
        own = mount / path.strip("/")
        for group in (own, *own.parents):
            if group != mount and mount not in group.parents:
                break
            limit, used = (_number(group / name) for name in names)
            if limit is not None and used is not None:
                yield limit - used + _droppable(group)


def _droppable(group: Path) -> int:
    """Bytes of cached files that a group drops when memory runs short."""
    values = dict(line.split(" ", 1) for line in _lines(group / "memory.stat"))
    return int(values.get("total_inactive_file", values.get("inactive_file", 0)))


def _left_by_ulimit(root: Path) -> Iterator[int]:
    try:
        import resource
    except ImportError:  # Windows has none
        return
    sizes = _sizes(root / "proc/self/status")
    for name, used in _LIMITS.items():
        if used in sizes:  # on Linux
            limit = resource.getrlimit(getattr(resource, name))[0]
            if limit != resource.RLIM_INFINITY:
                yield limit - sizes[used]


def _sizes(path: Path) -> dict[str, int]:
    """Bytes by name from lines like ``MemAvailable:  123 kB``."""
    words = (line.split() for line in _lines(path))
    return {w[0].rstrip(":"): int(w[1]) * 1024 for w in words if len(w) == 3 and w[2] == "kB"}


def _number(path: Path) -> int | None:
    lines = _lines(path)
    return int(lines[0]) if lines and lines[0].isdigit() else None  # "max": no limit


def _lines(path: Path) -> list[str]:
    """The lines of a file; none if it can't be read (other systems, closed containers)."""
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
