"""Commands that are killed, interrupted, out of space or not allowed to write."""

import csv
import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from manyview import cli, cluster, datasets, load_model
from manyview._signals import STOP_SIGNALS
from tests.helpers.command import run
from tests.helpers.interruption import (
    DRAFTS,
    LIMIT,
    alive,
    any_draft,
    check_polite,
    contents,
    fails_in_one_line,
    moments,
    stop,
    until,
)

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads /proc")

OUTPUTS = {"labels.csv", "summary.json", "report.html", "model.zip"}
LOG = logging.getLogger(__name__)
KILLED = -signal.SIGKILL


@pytest.fixture(scope="module")
def views():
    return datasets.make_blob_views(60, 3, separation=6.0, random_state=0).views


@pytest.fixture
def words(views, folder):
    """A command that works on files in a folder of their own."""
    (folder / "in").mkdir()
    for name, view in views.items():
        np.save(folder / "in" / f"{name}.npy", view)
    files = [f"in/{name}.npy" for name in views]
    return ["cluster", *files, "--clusters", "3", "--output", "out", "--save-model"]


@pytest.fixture(scope="module")
def undisturbed(views, tmp_path_factory):
    """Labels of an uninterrupted run, and its seconds."""
    folder = tmp_path_factory.mktemp("undisturbed")
    for name, view in views.items():
        np.save(folder / f"{name}.npy", view)
    words = ["cluster", *(f"{name}.npy" for name in views), "--clusters", "3", "--output", "out"]
    started = time.monotonic()
    done = run(*words, cwd=folder)
    seconds = time.monotonic() - started
    assert done.returncode == 0, done.stderr
    return (folder / "out" / "labels.csv").read_bytes(), seconds


def check_whole(folder, labels):
    """All files are there, readable, and from one run."""
    assert {entry.name for entry in folder.iterdir()} >= OUTPUTS
    assert (folder / "labels.csv").read_bytes() == labels
    clusters = [int(row["cluster"]) for row in csv.DictReader(labels.decode().splitlines())]
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["cluster_sizes"] == np.bincount(clusters).tolist()
    assert (folder / "report.html").read_text().rstrip().endswith("</html>")
    assert load_model(folder / "model.zip").labels.tolist() == clusters


def old_outputs(folder):
    """Older outputs for --force to replace, different from the new ones."""
    out = folder / "out"
    out.mkdir()
    for name in OUTPUTS:
        (out / name).write_text(f"old {name}")
    (out / "mine.txt").write_text("mine")
    return {name: f"old {name}".encode() for name in OUTPUTS}


# A program that writes slowly: on a busy machine a draft would be gone before it is seen.
PAUSE = 0.03
SLOW = f"""
import os, runpy, time
def slow(call):
    return lambda *values: (time.sleep({PAUSE}), call(*values))[1]
os.fsync, os.rename = slow(os.fsync), slow(os.rename)
runpy.run_module("manyview", run_name="__main__", alter_sys=True)
"""


def kill_and_repeat(folder, words, undisturbed, force, moment, writing):
    """Kill a run, check what it left, and run the same command again.

    `moment` is the share of the whole duration, or with `writing` of that of a slow writer, from
    when its draft appears. Returns how the run ended and whether it left a draft.
    """
    labels, seconds = undisturbed
    out = folder / "out"
    old = old_outputs(folder) if force else {}
    words = [*words, "--force"] if force else words
    inputs = contents(folder / "in")
    if writing:
        (folder / "slow.py").write_text(SLOW)
        steps = 11 if force else 4  # of the 12 or 5 that are slow
        then = {"when": any_draft(folder, out), "after": steps * PAUSE * moment}
        stopped = stop(words, signal.SIGKILL, cwd=folder, program="slow.py", **then)
    else:
        stopped = stop(words, signal.SIGKILL, after=seconds * moment, cwd=folder)
    assert stopped.returncode == KILLED or (stopped.finished and stopped.returncode == 0)
    left = {entry.name: entry.read_bytes() for entry in out.glob("[!.]*")}
    drafts = [*folder.glob(DRAFTS), *out.glob(DRAFTS)]
    if force:
        assert left.pop("mine.txt") == b"mine"
    if stopped.finished:
        assert left != old
        assert not drafts
        check_whole(out, labels)
    if left != old and out.exists():
        if "summary.json" in left:
            check_whole(out, labels)
        else:  # between the old set and the new one: some files of one of them
            assert force
            assert left.items() <= old.items() or not (set(left.items()) & set(old.items()))
    assert contents(folder / "in") == inputs
    if set(left) == OUTPUTS and left != old and not force:
        words = [*words, "--force"]  # it was finished already
    done = run(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    check_whole(out, labels)
    assert not [*folder.glob(DRAFTS), *out.glob(DRAFTS)]
    assert contents(folder / "in") == inputs
    assert alive(stopped.pid) == []
    return stopped, bool(drafts)


@pytest.mark.parametrize("force", [False, True])
def test_killed_while_writing(words, folder, undisturbed, force):
    stopped, draft = kill_and_repeat(folder, words, undisturbed, force, 0.0, writing=True)
    assert stopped.returncode == KILLED
    assert draft


def test_killed_at_some_moment(words, folder, undisturbed):
    kill_and_repeat(folder, words, undisturbed, True, 0.6, writing=False)


@pytest.mark.slow
def test_killed_at_many_moments(words, folder, undisturbed):
    """Ten times in the whole run and ten while writing, half of each over older outputs."""
    drafts, parts = [], [*moments(2, 10), *moments(3, 10)]

    def attempt(number, seconds):
        here = folder / str(number)
        here.mkdir()
        (folder / "in").rename(here / "in")
        known, part = (undisturbed[0], seconds), parts[number % 20]
        stopped, left = kill_and_repeat(here, words, known, number % 2, part, number % 20 >= 10)
        drafts.append(left)
        (here / "in").rename(folder / "in")
        return stopped

    tries = until(20, attempt, undisturbed[1])
    LOG.info("cluster: 20 of %d killed in time, %d left a draft", tries, sum(drafts))
    assert sum(drafts) >= 5


@pytest.mark.parametrize(
    ("how", "moment"),
    [(signal.SIGINT, 0.4), (signal.SIGTERM, 0.8)],
)
def test_interrupted(words, folder, undisturbed, how, moment):
    inputs = contents(folder / "in")
    stopped = stop(words, how, after=moment * undisturbed[1], cwd=folder, group=True)
    if check_polite(stopped, undisturbed[1]):
        left = {entry.name for entry in folder.iterdir()}
        if left != {"in"}:  # it came while files were written, and waited until all were there
            assert left == {"in", "out"}
            check_whole(folder / "out", undisturbed[0])
    assert contents(folder / "in") == inputs
    assert alive(stopped.pid) == []


def test_interrupted_while_writing(words, folder, undisturbed):
    old = old_outputs(folder)
    out = folder / "out"
    stopped = stop([*words, "--force"], signal.SIGINT, when=any_draft(out), cwd=folder)
    check_polite(stopped, undisturbed[1])
    left = {entry.name: entry.read_bytes() for entry in out.iterdir()}
    assert left.pop("mine.txt") == b"mine"
    assert left.keys() == OUTPUTS
    if left != old:
        check_whole(out, undisturbed[0])


# A program that sends itself a signal when it is about to import some module.
EARLY = """
import os, runpy, sys
number, module = int(sys.argv.pop(1)), sys.argv.pop(1)
def hear(event, values):
    global number
    if event == "import" and values[0] == module and number:
        sent, number = number, 0
        os.kill(os.getpid(), sent)
sys.addaudithook(hear)
runpy.run_module("manyview", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(
    ("how", "module"),
    [
        (signal.SIGINT, "manyview.cli"),
        (signal.SIGTERM, "manyview.cli"),
        (signal.SIGINT, "argparse"),
        (signal.SIGTERM, "manyview.cli._terminal"),
        (signal.SIGINT, "numpy"),
        (signal.SIGINT, "numba"),
        (signal.SIGTERM, "numba"),
        (signal.SIGTERM, "rich.console"),
    ],
)
def test_interrupted_during_imports(words, folder, how, module):
    (folder / "early.py").write_text(EARLY)
    arguments = [int(how), module, *words]
    stopped = stop(arguments, signal.SIGKILL, after=LIMIT, cwd=folder, program="early.py")
    assert (stopped.returncode, stopped.stderr) == (130, "manyview: interrupted\n")
    assert sorted(entry.name for entry in folder.iterdir()) == ["early.py", "in"]


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_signals_that_are_ignored_here_reach_the_program(folder, number):
    """As in the background, where shells ignore SIGINT and nohup SIGHUP."""
    (folder / "early.py").write_text(EARLY)
    heard = signal.signal(number, signal.SIG_IGN)
    try:
        stopped = stop(
            [int(number), "manyview.cli", "datasets"], signal.SIGKILL, after=LIMIT, cwd=folder,
            program="early.py",
        )  # fmt: skip
        assert signal.getsignal(number) == signal.SIG_IGN
    finally:
        signal.signal(number, heard)
    assert (stopped.returncode, stopped.stderr) == (130, "manyview: interrupted\n")


def test_nohup(folder):
    """A program that was told to ignore a signal does so."""
    (folder / "early.py").write_text(EARLY)
    words = [sys.executable, "early.py", str(int(signal.SIGHUP)), "manyview.cli", "datasets"]
    done = subprocess.run(
        ["nohup", *words], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_interrupted_at_many_moments(words, folder, undisturbed):
    """The signal is never lost, whichever library is running."""
    rng = random.Random(4)

    def attempt(number, seconds):
        how = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[number % 3]
        after = rng.uniform(0.15, 1.0) * seconds
        stopped = stop(words, how, after=after, cwd=folder, group=number % 2 == 0)
        check_polite(stopped, undisturbed[1])
        if (folder / "out").exists():  # finished just before
            check_whole(folder / "out", undisturbed[0])
            shutil.rmtree(folder / "out")
        assert [entry.name for entry in folder.iterdir()] == ["in"]
        return stopped

    tries = until(20, attempt, undisturbed[1])
    LOG.info("cluster: 20 of %d interrupted in time", tries)


def test_interrupted_demo_leaves_nothing(folder, undisturbed):
    stopped = stop(["demo"], signal.SIGINT, after=undisturbed[1] / 2, cwd=folder)
    if check_polite(stopped, undisturbed[1]):
        assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_nobody_reads_the_summary_of_a_clustering(words, folder, undisturbed):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "manyview", *words]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert done.stderr == ""
    check_whole(folder / "out", undisturbed[0])


def test_a_full_disk(words, folder, small_disk, undisturbed, capsys):
    """Full from the start, and in the middle of the largest file; new, and over older outputs."""
    out = small_disk.folder / "out"
    words[words.index("--output") + 1] = str(out)
    for size, name in [(0, "labels.csv"), (100_000, "report.html")]:
        small_disk.leave(size)
        fails_in_one_line(words, capsys, f"{out / name}: no space left on device")
        assert [entry.name for entry in small_disk.folder.iterdir()] == ["ballast"]
    small_disk.free()
    assert cli.main(words) == 0
    check_whole(out, undisturbed[0])
    before = contents(out)
    small_disk.leave(100_000)
    fails_in_one_line([*words, "--force"], capsys, "report.html: no space left on device")
    assert contents(out) == before
    small_disk.free()
    assert cli.main([*words, "--force"]) == 0
    check_whole(out, undisturbed[0])


def test_a_full_disk_for_files_one_by_one(views, folder, small_disk, capsys):
    """`predict`, and files written from Python."""
    result = cluster(views, 3)
    model, page, labels = (small_disk.folder / name for name in ("m.zip", "page.html", "l.csv"))
    result.save_model(model)
    result.report(page)
    labels.write_text("old")
    before = contents(small_disk.folder)
    small_disk.leave(0)
    for name, view in views.items():
        np.save(folder / f"{name}.npy", view)
    words = ["predict", model, *(f"{name}.npy" for name in views), "--output", labels]
    fails_in_one_line([*words, "--force"], capsys, f"{labels}: no space left on device")
    for write, path in [(result.save_model, model), (result.report, page)]:
        with pytest.raises(OSError, match=f"No space left on device: '{path}'"):
            write(path)
        with pytest.raises(OSError, match="No space left on device"):
            write(small_disk.folder / "new" / "file")
    small_disk.free()
    after = contents(small_disk.folder)
    assert after == before
    assert not list(small_disk.folder.rglob(DRAFTS))
    assert cli.main([str(word) for word in [*words, "--force"]]) == 0
    assert len(labels.read_text().splitlines()) == 61


@pytest.fixture
def locked(request, tmp_path):
    """A folder that can't be written to: by permission, or for root on a read-only disk."""
    if os.geteuid():
        (tmp_path / "locked").mkdir(mode=0o555)
        yield tmp_path / "locked"
    else:
        disk = request.getfixturevalue("small_disk")
        (disk.folder / "old").mkdir()
        (disk.folder / "old" / "labels.csv").write_text("old")
        disk.read_only()
        yield disk.folder


@pytest.mark.parametrize(
    "command",
    [
        ["cluster", "missing.npy"],
        ["predict", "missing.zip", "missing.npy"],
        ["demo"],
        ["reproduce"],
    ],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize("place", ["", "new", "new/deep", "old"])
def test_a_folder_that_cannot_be_written(command, place, locked, capsys):
    """It is found before anything else is checked."""
    options = ["--output", locked / place]
    if command[0] == "predict":
        options = ["--output", locked / place / "labels.csv", "--force"]
    if command[0] == "cluster":
        options.append("--force")
    before = contents(locked)
    fails_in_one_line([*command, *options], capsys, f"{locked}")
    assert contents(locked) == before
