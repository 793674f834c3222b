"""Available memory, its limits, and the refusal of what needs more."""

import pickle
import sys

import pytest

import manyview
from manyview import memory_limit
from manyview.runtime import _memory as memory
from manyview.runtime._memory import Estimate

resource = pytest.importorskip("resource", reason="this system has no resource limits")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A folder as the root of a Linux that tells nothing about memory yet."""
    monkeypatch.setattr(memory, "ROOT", tmp_path)
    no_limit = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: no_limit)
    return tmp_path


MEMINFO = "MemTotal:  9000 kB\nMemFree:  100 kB\nMemAvailable:  5000 kB\nHugePages_Total:  0\n"


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_what_the_machine_has(machine):
    assert memory.available_memory() is None  # nothing tells
    write(machine, {"proc/meminfo": MEMINFO})
    assert memory.available_memory() == 5000 * 1024


@pytest.mark.parametrize(
    "group",
    [
        # The group itself, one that it is in, and a container that sees its own as the root.
        {"sys/fs/cgroup/a/b/memory.max": "1000000", "sys/fs/cgroup/a/b/memory.current": "400000"},
        {
            "sys/fs/cgroup/a/b/memory.max": "max",
            "sys/fs/cgroup/a/b/memory.current": "5",
            "sys/fs/cgroup/a/memory.max": "1000000",
            "sys/fs/cgroup/a/memory.current": "400000",
        },
        {"sys/fs/cgroup/memory.max": "1000000\n", "sys/fs/cgroup/memory.current": "400000\n"},
    ],
)
def test_what_a_control_group_leaves(machine, group):
    write(machine, {"proc/meminfo": MEMINFO, "proc/self/cgroup": "0::/a/b\n"} | group)
    assert memory.available_memory() == 600_000
    limit = next(name for name, text in group.items() if text.strip() == "1000000")
    stat = limit.replace("memory.max", "memory.stat")
    write(machine, {stat: "anon 300000\ninactive_file 50000\n"})
    assert memory.available_memory() == 650_000  # cached files make room


def test_what_an_old_control_group_leaves(machine):
    own = "sys/fs/cgroup/memory/job"
    write(
        machine,
        {
            "proc/meminfo": MEMINFO,
            "proc/self/cgroup": "9:cpu,cpuacct:/job\n4:memory:/job\n0::/\n",
            f"{own}/memory.limit_in_bytes": "2000000\n",
            f"{own}/memory.usage_in_bytes": "500000\n",
            f"{own}/memory.stat": "inactive_file 7\ntotal_inactive_file 100000\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "700000\n",
        },
    )
    assert memory.available_memory() == 1_600_000


@pytest.mark.parametrize(("kind", "used"), [("RLIMIT_AS", 3000), ("RLIMIT_DATA", 2000)])
def test_what_ulimit_leaves(machine, monkeypatch, kind, used):
    status = "Name:\tpython\nVmSize:\t3000 kB\nVmData:\t2000 kB\n"
    write(machine, {"proc/meminfo": MEMINFO, "proc/self/status": status})
    limits = {getattr(resource, kind): 4000 * 1024}
    monkeypatch.setattr(
        resource, "getrlimit", lambda kind: (limits.get(kind, resource.RLIM_INFINITY), 0)
    )
    assert memory.available_memory() == (4000 - used) * 1024
    limits[getattr(resource, kind)] = 1024
    assert memory.available_memory() == 0  # never less than nothing


def test_this_machine_tells_something_or_nothing():
    left = memory.available_memory()
    assert left is None or 0 < left < 2**50
    assert left is not None or not sys.platform.startswith("linux")


def test_what_the_machine_has_is_what_counts(monkeypatch):
    estimate = Estimate({"neighbors": 10**8, "results": 3 * 10**9})
    monkeypatch.setattr(memory, "available_memory", lambda: 2 * 10**9)
    with pytest.raises(MemoryError) as raised:
        memory.check_memory(estimate, "GBS", ["fewer samples"])
    assert str(raised.value) == (
        "GBS needs about 3.0 GB of memory (results), but 2.0 GB is available; expected fewer "
        "samples, or manyview.memory_limit(None) to fit anyway"
    )
    again = pickle.loads(pickle.dumps(raised.value))  # from another process, say
    assert (str(again), again.why) == (str(raised.value), raised.value.why)
    with memory_limit(3 * 10**9):
        memory.check_memory(estimate, "GBS", [])
        with memory_limit(None):
            memory.check_memory(estimate, "GBS", [])
        with pytest.raises(MemoryError), memory_limit(10**9):
            memory.check_memory(estimate, "GBS", [])
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    memory.check_memory(estimate, "GBS", [])  # who knows


@pytest.mark.parametrize("limit", [-1, 1.5, "2 GB", True])
def test_limits_are_bytes(limit):
    message = r"limit=.*; expected an integer of at least 0"
    with pytest.raises(ValueError, match=message), memory_limit(limit):
        pass


def test_the_name_is_in_the_package():
    assert manyview.memory_limit is memory_limit
