"""Standard output that is closed or full, and stop signals whose exception is lost."""

import os
import signal
import subprocess
import sys
import threading
import warnings

import pytest

from manyview import __main__, _signals, cli
from manyview.cli._terminal import activity
from manyview.runtime import write_file, write_files


@pytest.fixture
def buffered(monkeypatch):
    """Buffered output, the default: errors show when the buffer is flushed."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


@pytest.mark.parametrize("arguments", [["datasets"], ["--help"], ["cluster", "--help"]])
def test_nobody_reads_the_output(arguments, buffered):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "manyview", *arguments]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert done.stderr == ""
    assert done.returncode == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [["datasets"], ["--version"]])
def test_output_that_is_full(arguments, buffered):
    command = [sys.executable, "-m", "manyview", *arguments]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "manyview: error: standard output: no space left on device\n"


@pytest.mark.parametrize(("closed", "code"), [(">&-", 2), ("2>&-", 0), (">&- 2>&-", 2)])
def test_closed_streams(closed, code):
    command = f'"{sys.executable}" -m manyview datasets {closed}'
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == (closed == ">&-")


class InterruptedWhenDeleted:
    """Python drops exceptions that are raised in `__del__`."""

    def __del__(self):
        signal.raise_signal(signal.SIGTERM)


@pytest.fixture
def unraisable(monkeypatch):
    """Exceptions that Python reports as dropped; signal handlers are restored afterwards."""
    dropped = []
    monkeypatch.setattr(sys, "unraisablehook", dropped.append)
    monkeypatch.setattr(_signals, "_received", threading.Event())
    before = {number: signal.getsignal(number) for number in _signals.STOP_SIGNALS}
    yield dropped
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_lost_interruption_is_raised_at_the_next_step(unraisable):
    _signals.handle_stop_signals()
    with activity() as show:
        show("reading")
        InterruptedWhenDeleted()
        with pytest.raises(KeyboardInterrupt):
            show("writing")
    assert unraisable == []  # no traceback either


def test_after_a_lost_interruption_nothing_is_written(unraisable, tmp_path):
    _signals.handle_stop_signals()
    InterruptedWhenDeleted()
    with pytest.raises(KeyboardInterrupt):
        write_file(tmp_path / "labels.csv", "id,cluster\n")
    with pytest.raises(KeyboardInterrupt):
        write_files(tmp_path / "out", {"labels.csv": b"id,cluster\n"})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [ValueError, RuntimeError])
def test_an_interruption_that_a_library_turns_into_an_error(
    error, unraisable, monkeypatch, capsys, recwarn
):
    """As numpy does with buffers, and matplotlib with imports, which it also warns of."""

    def datasets(_):
        InterruptedWhenDeleted()
        warnings.warn("imported in part", stacklevel=1)
        raise error("no valid format")

    monkeypatch.setattr(cli, "datasets", datasets)
    monkeypatch.setattr(sys, "argv", ["manyview", "datasets"])
    assert __main__.main() == 130
    assert capsys.readouterr().err == "manyview: interrupted\n"
    assert recwarn.list == []


@pytest.mark.parametrize(("returned", "code"), [(0, 130), (2, 2)])
def test_a_lost_interruption_is_no_success(returned, code, unraisable, monkeypatch, capsys):
    def command():
        InterruptedWhenDeleted()
        return returned

    monkeypatch.setattr(cli, "main", command)
    assert __main__.main() == code
    assert capsys.readouterr().err == ("manyview: interrupted\n" if code == 130 else "")
