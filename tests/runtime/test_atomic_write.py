"""Files are written completely or not at all, wherever the writer is stopped."""

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from manyview.runtime._atomic_write import check_writable, write_file, write_files
from tests.helpers.interruption import DRAFTS

if not hasattr(os, "fork"):
    pytest.skip("needs fork", allow_module_level=True)

# Python raises an audit event for every file-system call but fsync. A child process repeats the
# work and is stopped at the first event, the second, and so on.
DRIVER = """
import errno, json, os, signal, sys
from pathlib import Path
from manyview.runtime._atomic_write import write_files, write_file
from manyview._signals import handle_stop_signals

folder, how, work = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
OLD = {"a": b"old a" * 999, "b": b"old b", "gone": b"old", "last": b"old last"}
NEW = {"a": b"new a", "b": b"new b" * 999, "c": b"new c", "last": b"new last"}
EVENTS = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.scandir", "fcntl.flock")

def prepare(out):
    if work != "new folder":
        out.mkdir()
        (out / "mine").write_bytes(b"mine")
    if work == "old folder":
        write_files(out, OLD)
    if work == "file":
        write_file(out / "a", OLD["a"])

def do(out):
    if work == "file":
        write_file(out / "a", NEW["a"])
    else:
        write_files(out, NEW, without=["gone"])

def child(out, step):
    left = step
    def count(event, _):
        nonlocal left
        if event not in EVENTS or left < 1:
            return
        left -= 1
        if left:
            return
        if how == "error":
            raise OSError(errno.EIO, "no more")
        os.kill(os.getpid(), getattr(signal, how))
    fsync = os.fsync
    os.fsync = lambda handle: (count("open", ()), fsync(handle))
    handle_stop_signals()
    sys.addaudithook(count)
    try:
        do(out)
    except OSError as error:
        code = 3 if error.errno == errno.EIO else 4
    except KeyboardInterrupt:
        code = 3
    else:
        code = 5 if left else 0
    os._exit(code)

def state(home):
    return {str(path.relative_to(home)): path.read_bytes().decode()
            for path in home.rglob("*") if path.is_file()}

step, code, report = 0, None, []
while code != 5:
    step += 1
    home = folder / str(step)
    home.mkdir()
    prepare(home / "out")
    pid = os.fork()
    if not pid:
        child(home / "out", step)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    entry = {"code": code, "left": state(home)}
    entry["drafts"] = len(list(home.rglob(".manyview-*.draft")))
    do(home / "out")
    entry["again"] = state(home)
    entry["drafts again"] = len(list(home.rglob(".manyview-*.draft")))
    report.append(entry)
whole = {name: {f"out/{key}": value.decode() for key, value in files.items()}
         for name, files in [("old", OLD), ("new", NEW)]}
print(json.dumps({"steps": report, **whole}))
"""


def every_step(folder, how, work):
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(folder), how, work], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    *steps, last = found["steps"]
    assert last["code"] == 5  # it finished before that step
    kept = {} if work == "new folder" else {"out/mine": "mine"}
    before = {"new folder": {}, "old folder": found["old"]}.get(work, {})
    after = found["new"]
    if work == "file":
        before, after = ({"out/a": found[name]["out/a"]} for name in ("old", "new"))
    for step in found["steps"]:
        assert step["again"] == kept | after
        assert step["drafts again"] == 0
        step["left"] = {name: text for name, text in step["left"].items() if ".draft/" not in name}
        assert kept.items() <= step["left"].items()
    return steps, kept | before, kept | after


WORKS = ["file", "new folder", "other folder", "old folder"]


@pytest.mark.parametrize("work", WORKS)
def test_killed_before_every_step(tmp_path, work):
    steps, before, after = every_step(tmp_path, "SIGKILL", work)
    assert len(steps) > 8
    assert sum(step["drafts"] for step in steps) > 4  # some were killed while writing
    for step in steps:
        assert step["code"] == -signal.SIGKILL
        left = step["left"]
        if work in ("other folder", "old folder") and left not in (before, after):
            # Between the sets: some files of one, without the last.
            assert left.items() <= before.items() or left.items() <= after.items()
            assert "out/last" not in left
        else:
            assert left in (before, after)


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("how", ["error", "SIGINT", "SIGTERM"])
def test_failed_or_interrupted_at_every_step(tmp_path, how, work):
    steps, before, after = every_step(tmp_path, how, work)
    assert len(steps) > 8
    for number, step in enumerate(steps, 1):
        assert step["left"] in (before, after), number
        if how == "error":
            # Errors when locking a folder or removing drafts are ignored.
            assert step["code"] == 0 or (step["code"] == 3 and step["left"] == before)
        else:
            assert step["code"] == 3
            assert step["drafts"] == 0


def test_a_draft_in_use_stays(tmp_path):
    code = (
        "import sys\nfrom pathlib import Path\nfrom manyview.runtime._atomic_write import _draft\n"
        "with _draft(Path(sys.argv[1])) as draft:\n"
        "    (draft / 'half').write_text('half'); print(draft, flush=True); sys.stdin.read()"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with writer:
        draft = Path(writer.stdout.readline().strip())
        assert draft.parent == tmp_path
        write_file(tmp_path / "other", "whole")
        write_files(tmp_path, {"more": b"whole"})
        assert (draft / "half").read_text() == "half"
        writer.kill()
        writer.wait()
        assert draft.exists()
        write_file(tmp_path / "other", "whole")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["more", "other"]


def test_what_only_looks_like_a_draft_stays(tmp_path):
    """A folder of another machine or with another name, a file, a link."""
    with open(tmp_path / "x", "w"):
        pass
    names = [".manyview-00000000-0123456789abcdef.draft", ".manyview-.draft", ".x.tmp"]
    for name in names:
        (tmp_path / name).mkdir()
    from manyview.runtime._atomic_write import _HOST

    link = tmp_path / f".manyview-{_HOST}-0123456789abcdef.draft"
    link.symlink_to(tmp_path / names[0])
    file = tmp_path / f".manyview-{_HOST}-fedcba9876543210.draft"
    file.write_text("mine")
    write_file(tmp_path / "x", "new")
    assert {entry.name for entry in tmp_path.iterdir()} == {"x", *names, link.name, file.name}


def test_writers_at_the_same_time(tmp_path):
    """Each removes old drafts while others create theirs."""
    failed = []

    def write(number):
        try:
            for turn in range(40):
                write_file(tmp_path / f"{number}", f"{turn}" * 100)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert {entry.name: entry.read_text() for entry in tmp_path.iterdir()} == {
        f"{number}": "39" * 100 for number in range(6)
    }


def test_only_files_are_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    for name in ("pipe", "folder"):
        with pytest.raises(OSError, match="expected a file, or none yet"):
            check_writable(tmp_path, [name], force=True)
        with pytest.raises(OSError, match="expected a file, or none yet"):
            write_file(tmp_path / name, "new")
        with pytest.raises(OSError, match="expected a file, or none yet"):
            write_files(tmp_path, {"x": b"new", name: b"new"})
    write_file(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"
    assert {entry.name for entry in tmp_path.iterdir()} == {"pipe", "folder", "target", "link"}


def test_a_full_disk_names_the_file(small_disk):
    files = {name: os.urandom(20_000) for name in "abcd"}
    folder = small_disk.folder / "out"
    for number, name in enumerate(files):
        small_disk.leave(20_480 * number + 8192)
        with pytest.raises(OSError) as caught:  # noqa: PT011 - its number is looked at
            write_files(folder, files)
        assert caught.value.errno == errno.ENOSPC
        assert caught.value.filename == str(folder / name)
        assert [entry.name for entry in small_disk.folder.iterdir()] == ["ballast"]
    small_disk.free()
    write_files(folder, files)
    old = {entry.name: entry.read_bytes() for entry in folder.iterdir()}
    assert old == files
    for number in range(len(files)):
        small_disk.leave(20_480 * number + 8192)
        with pytest.raises(OSError, match="No space left"):
            write_files(folder, {name: bytes(20_000) for name in files})
        assert {entry.name: entry.read_bytes() for entry in folder.iterdir()} == old
        with pytest.raises(OSError, match="No space left"):
            write_file(folder / "a", bytes(20_480 * (number + 1)))
        assert (folder / "a").read_bytes() == old["a"]
    assert not list(small_disk.folder.rglob(DRAFTS))


def test_files_are_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "deep" / "page.html"
    write_file(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_file(path, "new \ud800")  # cannot be encoded: fails half-way
    assert path.read_text() == "old"
    assert [entry.name for entry in path.parent.iterdir()] == ["page.html"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_all_files_or_none(tmp_path, monkeypatch):
    folder = tmp_path / "new"
    write_files(folder, {"a": b"1", "b": b"2"})
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    assert stat.S_IMODE((folder / "a").stat().st_mode) & 0o044
    write_files(folder, {"a": b"3"})
    assert {entry.name: entry.read_bytes() for entry in folder.iterdir()} == {"a": b"3", "b": b"2"}

    class FullDiskError(OSError):
        pass

    real = os.fsync
    calls = []

    def full(handle):
        calls.append(handle)
        if len(calls) == 2:
            raise FullDiskError("no space left")
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FullDiskError):
        write_files(folder, {"a": b"4", "b": b"5"})
    calls.clear()
    with pytest.raises(FullDiskError):
        write_files(tmp_path / "other", {"a": b"4", "b": b"5"})
    assert {entry.name: entry.read_bytes() for entry in folder.iterdir()} == {"a": b"3", "b": b"2"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["new"]
