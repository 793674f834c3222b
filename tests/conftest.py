from __future__ import annotations

import os
import signal
from pathlib import Path

if "PYTEST_XDIST_WORKER" in os.environ:
    # Several workers share the cores. Libraries that read this when they are loaded would each take
    # all of them, and wait for their own threads by spinning while another worker needs the core.
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    os.environ["OMP_WAIT_POLICY"] = "passive"

import numpy as np
import pytest
from interrupting import mounted_disk
from scipy.sparse import csr_array

from manyview._sparse import load_mat

HERE = Path(__file__).parent
SHARED = Path(os.environ.get("MANYVIEW_SHARED", HERE.parent.parent / "shared"))


def pytest_configure():
    # A shell has what it starts in the background ignore Ctrl-C, and so would programs under test.
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Golden:
    """A golden file: plain arrays by name, and matrices stored as CSR triples."""

    def __init__(self, path, n=None):
        self._file = np.load(path)
        self._n = len(self._file["y"]) if n is None else n

    def __getitem__(self, name):
        return self._file[name]

    def matrix(self, name):
        parts = (self._file[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
        return csr_array(tuple(parts), shape=(self._n, self._n))


def synthetic(name):
    return Golden(HERE / "data" / f"{name}.npz")


class SharedData:
    """One of the paper's data sets with its goldens, from ../shared."""

    def __init__(self, name):
        table = load_mat(SHARED / "data" / f"{name}.mat")
        labels = table["truelabel"].ravel()[0].ravel()
        self.name = name
        self.views = [matrix.T for matrix in table["data"].ravel()]
        self.target = np.unique(labels, return_inverse=True)[1]
        self.n_clusters = len(set(self.target))
        self.n_samples = len(self.target)

    def golden(self, method):
        return Golden(SHARED / "golden" / f"{self.name}_{method}.npz", self.n_samples)

    def golden_graphs(self):
        golden = self.golden("sig")
        return [golden.matrix(f"S{v}") for v in range(len(self.views))]


@pytest.fixture(scope="session")
def shared_data():
    """Load a data set of the paper by name, or skip where ../shared is not there."""
    if not (SHARED / "data").is_dir():
        pytest.skip(f"the paper's data sets are not at {SHARED} (set MANYVIEW_SHARED)")
    loaded = {}

    def load(name):
        if name not in loaded:
            loaded[name] = SharedData(name)
        return loaded[name]

    return load


@pytest.fixture
def shared_data_or_none(request):
    """A function: `shared_data`, or None for what does not need it."""
    return lambda without: None if without else request.getfixturevalue("shared_data")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def small_disk(tmp_path):
    """A disk that can be filled and made read-only."""
    with mounted_disk(tmp_path / "disk") as disk:
        yield disk


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pytest_terminal_summary(terminalreporter):
    """How many cases the fuzz tests tried, and what they came to."""
    lines = []
    for report in terminalreporter.stats.get("passed", []):
        for name, outcomes in report.user_properties:
            if name == "fuzzed":
                counts = ", ".join(f"{count:,} {what}" for what, count in sorted(outcomes.items()))
                lines.append(f"{sum(outcomes.values()):>9,}  {report.nodeid}: {counts}")
    if lines:
        terminalreporter.section("cases tried by fuzzing")
        for line in lines:
            terminalreporter.write_line(line)
