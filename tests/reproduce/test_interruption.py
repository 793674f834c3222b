"""``manyview reproduce`` stopped half-way: whole results, no workers, the same tables."""

import json
import logging
import random
import signal
import time

import pytest

from manyview import cli
from tests.helpers.command import run
from tests.helpers.interruption import (
    DRAFTS,
    alive,
    check_polite,
    fails_in_one_line,
    moments,
    stop,
    until,
)

LOG = logging.getLogger(__name__)
KILLED = -signal.SIGKILL

REPRODUCE = ["reproduce", "--builtin", "--datasets", "moons", "--seeds", "1", "--output", "out"]
REPRODUCE += ["--methods", "GBS", "average graph", "--processes"]
SCORES = ["table1", "table2", "table3_arithmetic", "table3_geometric"]


def scores_in(folder):
    tables = {name: (folder / f"{name}.csv").read_bytes() for name in SCORES}
    for path in (folder / "experiments").glob("*.json"):
        tables[path.name] = json.loads(path.read_text())["result"]["scores"]
    return tables


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    """The tables of an undisturbed run, and its seconds by number of processes."""
    found, seconds = [], {}
    for processes in ("1", "2"):
        folder = tmp_path_factory.mktemp("reproduced")
        started = time.monotonic()
        done = run(*REPRODUCE, processes, cwd=folder)
        seconds[processes] = time.monotonic() - started
        assert done.returncode == 0, done.stderr
        found.append(scores_in(folder / "out"))
    assert found[0] == found[1]
    assert len(found[0]) == len(SCORES) + 4
    return found[0], seconds


def kill_reproduce_and_repeat(folder, reproduced, processes, group, **when):
    """Kill a run and repeat it; returns how it was stopped, and the number of results it left."""
    stopped = stop([*REPRODUCE, processes], signal.SIGKILL, group=group, cwd=folder, **when)
    assert stopped.returncode == KILLED or (stopped.finished and stopped.returncode == 0)
    assert alive(stopped.pid) == []  # workers end with their parent
    out = folder / "out"
    kept = list(out.glob("experiments/[!.]*"))
    for path in kept:
        assert json.loads(path.read_text())["result"]["scores"]
    if (out / "report.html").exists():
        assert scores_in(out) == reproduced[0]
    done = run(*REPRODUCE, processes, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"4 experiments, {len(kept)} of them from an earlier run, 0 failed" in done.stdout
    assert scores_in(out) == reproduced[0]
    assert not list(folder.rglob(DRAFTS))
    return stopped, len(kept)


@pytest.mark.slow
def test_reproduce_killed_after_its_first_experiment(folder, reproduced):
    """Only the parent is killed; its workers end too."""
    when = lambda: any(True for _ in folder.glob("out/experiments/[!.]*"))  # noqa: E731
    stopped, kept = kill_reproduce_and_repeat(folder, reproduced, "2", group=False, when=when)
    assert stopped.returncode == KILLED
    assert 1 <= kept <= 4


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["1", "2"])
def test_reproduce_killed_at_many_moments(folder, reproduced, processes):
    """Ten times each, every second time with its workers."""
    parts = moments(5, 10)

    def attempt(number, seconds):
        here = folder / str(number)
        here.mkdir()
        group, after = number % 2 == 0, parts[number % 10] * seconds
        return kill_reproduce_and_repeat(here, reproduced, processes, group, after=after)[0]

    tries = until(10, attempt, reproduced[1][processes])
    LOG.info("reproduce --processes %s: 10 of %d killed in time", processes, tries)


@pytest.mark.slow
def test_reproduce_interrupted_at_many_moments(folder, reproduced):
    """By SIGINT, as a terminal sends to all processes, and by SIGTERM: one line, no workers."""
    rng = random.Random(6)

    def attempt(number, seconds):
        here = folder / str(number)
        here.mkdir()
        how = (signal.SIGINT, signal.SIGTERM)[number % 2]
        after = rng.uniform(0.1, 1.0) * seconds
        stopped = stop([*REPRODUCE, "2"], how, after=after, group=number % 4 < 2, cwd=here)
        more = "; finished experiments are kept, run the same command to continue"
        check_polite(stopped, reproduced[1]["2"], more)
        assert alive(stopped.pid) == []
        assert not list(here.rglob(DRAFTS))
        for path in here.glob("out/experiments/*"):
            assert json.loads(path.read_text())["result"]["scores"]
        return stopped

    tries = until(8, attempt, reproduced[1]["2"])
    LOG.info("reproduce: 8 of %d interrupted in time", tries)


def test_reproduce_on_a_full_disk(small_disk, folder, capsys):
    """When a result can't be kept, the run ends; with space it continues."""
    words = [*REPRODUCE, "1", "--methods", "average graph"]
    words[words.index("out")] = str(small_disk.folder / "out")
    small_disk.leave(0)
    fails_in_one_line(words, capsys, "moons--average_graph--stored.json: no space left on device")
    assert not [path for path in small_disk.folder.glob("out/**/*") if path.is_file()]
    small_disk.leave(12_288)  # for the results, not for the tables
    fails_in_one_line(words, capsys, "no space left on device")
    files = [path for path in small_disk.folder.glob("out/**/*") if path.is_file()]
    assert {path.parent.name for path in files} == {"experiments"}
    small_disk.free()
    assert cli.main(words) == 0
    assert "2 experiments, 2 of them from an earlier run, 0 failed" in capsys.readouterr().out
    assert not list(small_disk.folder.rglob(DRAFTS))
