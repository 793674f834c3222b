from __future__ import annotations

import os
import signal
from functools import cache

if "PYTEST_XDIST_WORKER" in os.environ:
    # Several workers share the cores. Libraries that read this when they are loaded would each take
    # all of them, and wait for their own threads by spinning while another worker needs the core.
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    os.environ["OMP_WAIT_POLICY"] = "passive"

import numpy as np
import pytest

from tests.helpers.goldens import PaperData
from tests.helpers.interruption import mounted_disk

#: What `make test-quick` leaves out: other processes, browsers, fuzzing, whole fits of large data.
FULL = (
    "cli/",
    "distributed/test_faults.py",
    "distributed/test_fit.py",
    "distributed/test_results.py",
    "distributed/test_views.py",
    "fuzz/",
    "inputs/files/test_arrow.py",
    "inputs/files/test_hdf5.py",
    "inputs/files/test_mat",
    "inputs/files/test_sandbox",
    "inputs/files/test_sheets.py",
    "inputs/files/test_tenx.py",
    "inputs/files/test_zarr.py",
    "methods/test_checkpoint.py",
    "methods/test_determinism.py",
    "methods/test_estimators.py",
    "methods/test_goldens.py",
    "methods/test_large.py",
    "methods/test_memory_model.py",
    "methods/test_properties.py",
    "report/test_browser.py",
    "reproduce/",
    "runtime/test_atomic_write.py",
    "test_examples.py",
    "test_packaging.py",
    "test_snippets.py",
)


def pytest_collection_modifyitems(items):
    for item in items:
        path = item.path.as_posix().rpartition("/tests/")[2]
        if path.startswith(FULL):
            item.add_marker("full")


def pytest_configure():
    # A shell has what it starts in the background ignore Ctrl-C, and so would programs under test.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def paper_data():
    """Function that loads one of the paper's data sets by name, once per session."""
    return cache(PaperData)


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
