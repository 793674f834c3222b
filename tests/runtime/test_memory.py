"""What a fit is said to need, what there is, and what happens where that is less."""

import ctypes
import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import manyview
from manyview import (
    CIGMVC,
    GBS,
    MCGL,
    MGL,
    MSC,
    AngularCIGMVC,
    CoregSC,
    SpectralAverage,
    SpectralConcat,
    SpectralView,
    memory_limit,
)
from manyview.datasets import make_latent_views
from manyview.graphs._fit_size import FitSize, ViewSize, view_sizes
from manyview.inputs._views import views_from_tables
from manyview.methods import _graph_base, _kernel_base
from manyview.methods import _memory_model as memory_model
from manyview.methods._overlap import different_share
from manyview.runtime import _memory as memory
from manyview.runtime._memory import Estimate
from tests.helpers import memory as measure

GRAPHS = [
    CIGMVC,
    GBS,
    AngularCIGMVC,
    SpectralAverage,
    SpectralConcat,
    SpectralView,
    MGL,
    MCGL,
]
KERNELS = [CoregSC, MSC]
CELLS = {"neighbor_search": "approximate"}
resource = pytest.importorskip("resource", reason="this system has no resource limits")


# What there is.


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A folder that stands for the root of a Linux of which nothing is known yet."""
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


# What is needed.


def widest(edges=None, **changes):
    size = FitSize(
        n_samples=30_000,
        views=(ViewSize(30_000, 40), ViewSize(30_000, 20)),
        n_clusters=8,
        n_neighbors=15,
        edges=edges,
    )
    return replace(size, **changes)


def models():
    yield lambda size: memory_model.fusion_memory(size, splits=True)
    yield lambda size: memory_model.fusion_memory(size, splits=False)
    yield lambda size: memory_model.fusion_memory(size, splits=True, angular=True)
    yield memory_model.spectral_memory
    yield memory_model.concat_memory
    yield memory_model.mgl_memory
    yield memory_model.mcgl_memory
    yield memory_model.coreg_memory
    yield memory_model.msc_memory


@settings(max_examples=60, deadline=None)
@given(
    model=st.sampled_from(list(models())),
    n=st.integers(10, 200_000),
    widths=st.lists(st.integers(1, 3000), min_size=1, max_size=4),
    n_clusters=st.integers(1, 60),
    n_neighbors=st.integers(1, 50),
    search=st.sampled_from(["auto", "exact", "approximate"]),
    stored=st.one_of(st.none(), st.integers(1, 100)),
)
def test_more_needs_more(model, n, widths, n_clusters, n_neighbors, search, stored):
    def needed(n=n, widths=widths, n_clusters=n_clusters, n_neighbors=n_neighbors):
        views = (ViewSize(n, width, stored and stored * n) for width in widths)
        return model(FitSize(n, tuple(views), n_clusters, n_neighbors, search)).peak

    # Other searches and solvers take over with more samples; what they save is less than half, but
    # for a few samples.
    assert max(needed(n=2 * n), memory.NEVER_CHECKED) >= needed()
    assert needed(widths=[*widths, widths[0]]) >= needed()
    assert needed(widths=[*widths[:-1], 2 * widths[-1]]) >= needed()
    assert needed(n_neighbors=n_neighbors + 1) >= needed()
    if n_clusters is not None and n > 4000:
        assert needed(n_clusters=n_clusters + 1) >= needed()
    assert needed() > 0


@pytest.fixture
def trimmed():
    """Give back what earlier tests freed, or a fit would be found to need too little."""
    if not measure.CLEAR.exists():
        pytest.skip("peak memory can be measured on Linux only")
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is None:
        pytest.skip("freed memory is given back by glibc only")
    return lambda: trim(0)


def latent(n, widths):
    return list(make_latent_views(n, 5, widths=widths, random_state=0).views.values())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("estimator", "n", "widths"),
    [
        (SpectralView(5, neighbor_search="exact", random_state=0), 5000, [1000]),
        (CIGMVC(5, max_iter=1, n_neighbors=30, random_state=0, **CELLS), 14_000, [10, 12, 14]),
        (SpectralAverage(5, random_state=0, **CELLS), 16_000, [300, 20]),
        (CoregSC(5, max_iter=1, random_state=0), 2100, [10, 10]),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else None,
)
def test_estimates_are_near_what_is_measured(estimator, n, widths, trimmed):
    pytest.importorskip("faiss", reason="faiss is not installed")
    type(estimator)(2, random_state=0).fit(latent(400, [4] * len(widths)))  # compiled code
    views = latent(n, widths)
    estimate = estimator._memory(estimator._fit_size(views_from_tables(views)))
    trimmed()
    _, growth = measure.peak_growth(lambda: estimator.fit(views))
    assert estimate.peak > 80e6
    assert 0.7 < estimate.peak / growth < 1.3, (estimate, growth)


# Where that is less.


@pytest.mark.parametrize("method", GRAPHS + KERNELS)
def test_a_fit_that_would_not_fit_does_not_begin(method, monkeypatch, rng):
    def never(*_, **__):
        raise AssertionError("the work has begun")

    monkeypatch.setattr(_graph_base, "nearest", never)
    monkeypatch.setattr(_kernel_base, "gaussian_kernel", never)
    X = rng.standard_normal((60_000 if method in GRAPHS else 3000, 30))
    with memory_limit(60 * 10**6), pytest.raises(MemoryError) as raised:
        method(20).fit([X, X])
    message = str(raised.value)
    assert message.count("\n") == 0
    assert message.startswith(f"{method.__name__} needs about ")
    assert "but 60 MB is available; expected " in message
    assert "fewer samples" in message
    assert "manyview.memory_limit(None) to go on anyway" in message
    with memory_limit(None), pytest.raises(AssertionError, match="the work has begun"):
        method(20).fit([X, X])


def test_options_are_those_that_help():
    assert widest().savings("results") == [
        "fewer neighbours",
        "fewer samples and predict for the rest",
    ]
    assert widest(search="exact").savings("neighbors")[0] == "neighbor_search='approximate'"
    assert widest(search="exact", views=(ViewSize(30_000, 40, 500),)).savings("neighbors") == [
        "fewer features",
        "fewer samples and predict for the rest",
    ]
    assert widest(edges=(10, 10)).savings("results") == ["fewer samples"]
    assert widest().savings("kernels")[0] == "a method on graphs, such as GBS"


def test_small_fits_are_never_refused(rng):
    X = rng.standard_normal((200, 3))
    with memory_limit(0):
        assert GBS(2).fit([X]).labels_.max() == 1


def test_what_the_machine_has_is_what_counts(monkeypatch):
    estimate = Estimate({"neighbors": 10**8, "results": 3 * 10**9})
    monkeypatch.setattr(memory, "available_memory", lambda: 2 * 10**9)
    with pytest.raises(MemoryError) as raised:
        memory.check_memory(estimate, "GBS", ["fewer samples"])
    assert str(raised.value) == (
        "GBS needs about 3.0 GB of memory (results), but 2.0 GB is available; expected fewer "
        "samples, or manyview.memory_limit(None) to go on anyway"
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


def test_a_view_counts_for_the_samples_it_has(rng):
    X = rng.standard_normal((50, 4))
    X[:20] = np.nan
    Y = csr_array(np.where(rng.random((50, 9)) < 0.2, 1.0, 0.0))
    sizes = view_sizes(views_from_tables([X, Y]))
    assert sizes == (ViewSize(30, 4), ViewSize(50, 9, Y.nnz))


@pytest.mark.parametrize("normalize", ["auto", "unit", None])
def test_edges_that_views_share_are_counted_once(normalize, rng):
    X, Y = rng.standard_normal((2, 6000, 5))
    X[:3000] *= 1000  # blocks in which the largest number is another
    near = X + 1e-9 * rng.standard_normal(X.shape)
    same, other = views_from_tables([X, near]), views_from_tables([X, Y])
    assert different_share(same, 10, normalize) == pytest.approx(0.5, abs=0.01)
    assert different_share(other, 10, normalize) > 0.97
    sparse = views_from_tables([csr_array(np.abs(X)), np.abs(X)])
    assert different_share(sparse, 10, normalize) == pytest.approx(0.5, abs=0.01)
    absent = np.ones((6000, 2), dtype=bool)
    absent[:5995, 0] = False
    assert different_share(views_from_tables([X, Y], absent), 10, normalize) == 1.0


def test_views_that_agree_are_not_refused_for_edges_they_share(monkeypatch, rng):
    def never(*_, **__):
        raise AssertionError("the work has begun")

    monkeypatch.setattr(_graph_base, "nearest", never)
    X, Y = rng.standard_normal((2, 30_000, 6))
    size = CIGMVC(2)._fit_size(views_from_tables([X, Y]))
    with memory_limit(int(0.8 * CIGMVC(2)._memory(size).peak)):
        with pytest.raises(MemoryError):
            CIGMVC(2).fit([X, Y])
        with pytest.raises(AssertionError, match="the work has begun"):
            CIGMVC(2).fit([X, X + 1e-9 * Y])


def test_only_the_view_that_is_clustered_counts(rng):
    narrow, wide = rng.standard_normal((5000, 2)), rng.standard_normal((5000, 1500))
    with memory_limit(70 * 10**6):
        SpectralView(2, view=0, random_state=0).fit([narrow, wide])
        with pytest.raises(MemoryError, match=r"\(neighbors\).* expected fewer features"):
            SpectralView(2, view=1, random_state=0).fit([narrow, wide])


def test_the_name_is_in_the_package():
    assert manyview.memory_limit is memory_limit
