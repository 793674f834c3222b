"""Windows and macOS, simulated: what Linux alone has is taken away. docs/platforms.md lists it."""

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.io

import manyview
from manyview.inputs.files import _sandbox, _sandbox_child, _watch
from manyview.runtime import _atomic_write, _memory
from tests.helpers import other_system
from tests.helpers.table_files import write

psutil = pytest.importorskip("psutil", reason="a dependency on other systems than Linux")

PACKAGE = Path(manyview.__file__).parent
PAGE = Path(__file__).parent.parent / "docs/platforms.md"


@pytest.fixture(params=["win32", "darwin"])
def elsewhere(request, monkeypatch, tmp_path):
    """Another system for the modules that ask which one it is, without /proc."""
    for module in (_memory, _watch):
        monkeypatch.setattr(module, "sys", SimpleNamespace(platform=request.param))
    monkeypatch.setattr(_memory, "ROOT", tmp_path / "nothing")
    if request.param == "win32":
        monkeypatch.setitem(sys.modules, "resource", None)


def test_memory_is_asked_of_psutil(elsewhere, monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=12_345))
    assert _memory.available_memory() == 12_345


@pytest.fixture
def mat(folder, monkeypatch):
    """A file, and a function that replaces the program that reads it."""
    scipy.io.savemat("x.mat", {"a": np.ones((4, 3))})

    def replace(text):
        monkeypatch.setattr(_sandbox, "_PROGRAM", write(folder.parent / "program.py", text))

    return replace


def read():
    return _sandbox.read_in_child(Path("x.mat"), "MAT", None)


def test_files_are_read(elsewhere, mat):
    (item,) = read()
    assert (item.matrix() == 1).all()


def test_a_process_that_computes_too_long_is_ended(elsewhere, mat, monkeypatch):
    monkeypatch.setattr(_sandbox, "PATIENCE", 0.2)
    mat("while True: pass")
    with pytest.raises(ValueError, match="did not finish in 0 seconds of computing"):
        read()


def test_a_process_that_takes_too_much_memory_is_ended(elsewhere, mat, monkeypatch):
    monkeypatch.setattr(_sandbox, "_MEMORY", 0)
    monkeypatch.setattr(_watch, "_LIBRARIES", 2**26)
    mat("import time\nheld = b'x' * 2**27\ntime.sleep(60)")
    with pytest.raises(ValueError, match=r"the MAT file takes more than \d+ MB of memory to read"):
        read()


def test_a_crash_on_windows_has_a_large_exit_code():
    with pytest.raises(ValueError, match=r"damaged: .* crashed \(code 0xc0000005\)"):
        _sandbox._explain(Path("x.mat"), "MAT", 0xC0000005, {}, b"", "")


def test_the_reading_process_sets_no_limits_where_there_are_none(monkeypatch):
    monkeypatch.setattr(_sandbox_child, "signal", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "resource", None)
    _sandbox_child._limit(1, 1.0)  # nothing happens; with limits this process would end


def test_files_are_written_whole_without_locks(tmp_path, monkeypatch):
    """Windows opens no folders, and has neither fcntl nor user ids."""
    monkeypatch.delattr(_atomic_write, "fcntl", raising=False)
    monkeypatch.delattr(os, "geteuid", raising=False)
    monkeypatch.setattr(os, "open", other_system.without_folders(os.open))
    monkeypatch.setattr(shutil, "_use_fd_functions", False)
    _atomic_write.write_file(tmp_path / "a", "old")
    _atomic_write.write_file(tmp_path / "a", "new")
    _atomic_write.write_files(tmp_path / "set", {"b": b"1", "last": b"2"})
    _atomic_write.write_files(tmp_path / "set", {"b": b"3", "last": b"4"}, without=["gone"])
    found = {path.name: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {"a": "new", "b": "3", "last": "4"}
    assert not list(tmp_path.rglob(".manyview-*"))


PROGRAM = """
import signal, sys
from manyview.__main__ import main

assert not hasattr(signal, "SIGHUP")
sys.exit(main())
"""


@pytest.mark.full
def test_the_command_line_without_what_windows_lacks(folder):
    """Clusters a CSV and a MAT file, writes a model, predicts; in processes without these names."""
    rng = np.random.default_rng(0)
    words, links = rng.normal(size=(2, 60, 3)) + np.repeat([[0.0], [9.0]], 30, axis=0)
    np.savetxt("words.csv", words, delimiter=",", header="a,b,c", comments="")
    scipy.io.savemat("links.mat", {"links": links})
    (folder / "site").mkdir()
    code = "from tests.helpers.other_system import take_away\ntake_away()\n"
    write(folder / "site/sitecustomize.py", code)
    paths = [folder / "site", PACKAGE.parent, Path(other_system.__file__).parents[2]]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    for words in (
        ["cluster", "words.csv", "links.mat", "-k", "2", "--output", "out", "--save-model"],
        ["predict", "out/model.zip", "words.csv", "links.mat", "--output", "new.csv"],
    ):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *words],
            env=environment, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
    for name in ("out/labels.csv", "new.csv"):
        labels = np.loadtxt(name, delimiter=",", skiprows=1, usecols=1, dtype=int)
        assert (labels == labels[0]).tolist() in ([True] * 30 + [False] * 30,)


def test_signals_are_those_of_this_system():
    names = {"SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"}
    expected = {getattr(signal, name) for name in names if hasattr(signal, name)}
    assert set(manyview._signals.STOP_SIGNALS) == expected


# The page names every file that does what systems do differently

MODULES = {"fcntl", "multiprocessing", "psutil", "resource", "signal", "subprocess", "tempfile"}
CALLS = {
    "cpu_count", "dup", "dup2", "fork", "fsync", "geteuid", "getppid", "islink", "lexists",
    "raise_signal", "realpath", "rename", "replace", "setrlimit",
}  # fmt: skip


def differs(source):
    """Whether a module uses what is not the same on all systems."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                if {alias.name.partition(".")[0] for alias in names} & MODULES:
                    return True
            case ast.ImportFrom(module=str(module)):
                if module.partition(".")[0] in MODULES:
                    return True
            case ast.Attribute(value=ast.Name(id="os") | ast.Attribute(), attr=name) if (
                name in CALLS
            ):
                return True
            case ast.Attribute(value=ast.Name(id="sys"), attr="platform"):
                return True
            case ast.Constant(value=str(text)) if re.match(r"/?proc/|sys/fs/", text):
                return True
            case ast.keyword(arg="mmap_mode"):
                return True
    return False


def test_the_page_has_every_file_that_differs():
    paths = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if differs(path.read_text(encoding="utf-8"))
    }
    named = set(re.findall(r"^\| `([\w/]+\.py)`", PAGE.read_text(encoding="utf-8"), re.M))
    assert named == paths
