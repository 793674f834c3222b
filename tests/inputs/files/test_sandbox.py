"""The process that reads files which may harm the one that reads them."""

import os
import subprocess

import pytest

from manyview.inputs.files import _sandbox
from tests.helpers.table_files import IDS, annotated, read, write, write_any

pytest.importorskip("h5py")


STOPS = {
    "import os; os.abort()": "damaged: the process that reads it crashed \\(signal 6\\)",
    "import ctypes; ctypes.string_at(0)": "damaged: .* crashed \\(signal 11\\)",
    "raise SystemExit(3)": "the process that reads h5ad files ended with code 3",
    "print('{\"table\": ', end='')": "the process that reads h5ad files ended with code 0",
    "print('what?')": "not a readable h5ad file, .*",
    "print('{}')": "not a readable h5ad file, .*",
}


@pytest.fixture
def program(folder, monkeypatch):
    """Function that replaces the program of the other process."""

    def replace(text):
        monkeypatch.setattr(_sandbox, "_PROGRAM", write(folder.parent / "program.py", text))

    return replace


@pytest.mark.parametrize("text", STOPS)
def test_a_reading_process_that_ends(folder, program, capfd, text):
    annotated().write_h5ad("x.h5ad")
    program(text)
    with pytest.raises(ValueError, match=f"^x.h5ad: .*{STOPS[text]}$"):
        read("x.h5ad")
    assert capfd.readouterr() == ("", "")
    assert os.listdir() == ["x.h5ad"]


ARRAYS = {
    "a huge one": ([10**9, 10**9], "<f8", "matrix of shape .* would take .* of memory"),
    "objects": ([4, 3], "|O", "holds values of type object"),
    "one dimension": ([12], "<f8", "is stored as matrix of shape"),
    "less than nothing": ([-4, 3], "<f8", "is stored as matrix of shape"),
    "no type": ([4, 3], "f9", "not a readable h5ad file"),
    "cut short": ([4, 3], "<f8", "ended with code 0"),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_what_is_declared_is_not_believed(folder, program, kind):
    annotated().write_h5ad("x.h5ad")
    shape, dtype, message = ARRAYS[kind]
    declared = {"name": "", "form": "dense", "arrays": {"matrix": [shape, dtype]}}
    program(f"import json; print(json.dumps({declared}))")
    with pytest.raises(ValueError, match=f"^x.h5ad: .*{message}"):
        read("x.h5ad")


def after(text):
    """The program, after this."""
    path = str(_sandbox._PROGRAM)
    return f"{text}\nimport runpy\nrunpy.run_path({path!r}, run_name='__main__')"


@pytest.mark.parametrize("extension", ["mat", "mtx", "h5ad"])
def test_a_crash_in_the_middle_of_an_array(folder, program, extension):
    write_any(f"x.{extension}")
    program(after("import os, numpy; numpy.ascontiguousarray = lambda array: os.abort()"))
    with pytest.raises(ValueError, match=rf"x.{extension}: .* crashed \(signal 6\)"):
        read(f"x.{extension}")


BUSY = """
def busy(*_, **__):
    while True:
        pass
"""


@pytest.mark.parametrize(
    ("extension", "function"),
    [("mat", "scipy.io.loadmat"), ("mtx", "numpy.loadtxt"), ("h5ad", "h5py.File")],
)
def test_a_file_that_keeps_a_library_busy(folder, program, monkeypatch, extension, function):
    write_any(f"x.{extension}")
    monkeypatch.setattr(_sandbox, "PATIENCE", 1.0)
    module = function.rpartition(".")[0]
    program(after(f"import {module}\n{BUSY}\n{function} = busy"))
    message = rf"x.{extension}: .* did not finish in 1 seconds of computing"
    with pytest.raises(ValueError, match=message):
        read(f"x.{extension}")


def test_no_process_is_left_behind(folder, monkeypatch):
    """After Ctrl-C, that is: whatever is raised while tables come in ends the other process."""
    annotated().write_h5ad("x.h5ad")
    started = []
    original = subprocess.Popen

    def remembered(*arguments, **named):
        started.append(original(*arguments, **named))
        return started[0]

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", remembered)
    monkeypatch.setattr(_sandbox, "_array", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read("x.h5ad")
    assert started[0].poll() is not None


@pytest.mark.parametrize("extension", ["mat", "h5ad"])
def test_modules_beside_the_data_are_not_imported(folder, extension):
    path = f"x.{extension}"
    write_any(path)
    for name in ("h5py", "numpy", "scipy", "json"):
        write(f"{name}.py", "open('imported', 'w')")
    assert read(path).ids == (IDS if extension == "h5ad" else None)
    assert not os.path.exists("imported")
