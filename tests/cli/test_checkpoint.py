"""``manyview cluster --checkpoint``, killed and continued."""

import signal

import numpy as np
import pytest

from manyview import datasets
from manyview.cli import main
from tests.helpers.interruption import stop


@pytest.fixture(scope="module")
def views(tmp_path_factory):
    """Two files of 900 samples: about a dozen rounds."""
    folder = tmp_path_factory.mktemp("views")
    data = datasets.make_conflict_views(900, 6, separation=2.5, random_state=0)
    paths = []
    for name, view in list(data.views.items())[:2]:
        np.save(folder / f"{name}.npy", view)
        paths.append(str(folder / f"{name}.npy"))
    return paths


def words(views, output, *more):
    method = ["--method", "angular"]  # it has rounds
    return ["cluster", *views, "--clusters", "6", *method, "--output", output, *more]


@pytest.fixture(scope="module")
def expected(views, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "found"
    assert main(words(views, str(folder))) == 0
    return (folder / "labels.csv").read_bytes()


@pytest.mark.parametrize("kept", ["graph0", "loop"])
def test_a_killed_fit_continues_to_the_same_labels(views, expected, folder, kept):
    place = folder / "kept" / f"{kept}.checkpoint.zip"
    command = words(views, "found", "--checkpoint", "kept")
    stopped = stop(command, signal.SIGKILL, when=place.exists, cwd=folder)
    assert stopped.returncode == -signal.SIGKILL
    assert not (folder / "found").exists()
    assert main(command) == 0
    assert (folder / "found" / "labels.csv").read_bytes() == expected
    assert not (folder / "kept").exists()


def test_a_fit_killed_three_times(views, expected, folder):
    place = folder / "kept" / "loop.checkpoint.zip"
    command = words(views, "found", "--checkpoint", "kept")
    for _ in range(3):  # each time after at least one more round
        seen = place.read_bytes() if place.exists() else b""
        stopped = stop(
            command, signal.SIGKILL, cwd=folder,
            when=lambda seen=seen: place.exists() and place.read_bytes() != seen,
        )  # fmt: skip
        assert stopped.returncode == -signal.SIGKILL
    assert main(command) == 0
    assert (folder / "found" / "labels.csv").read_bytes() == expected


def test_a_checkpoint_of_another_command_is_refused(views, folder, capsys):
    place = folder / "kept" / "graph0.checkpoint.zip"
    command = words(views, "found", "--checkpoint", "kept")
    stop(command, signal.SIGKILL, when=place.exists, cwd=folder)
    capsys.readouterr()
    assert main([*command, "--neighbors", "9"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("manyview: error: kept/graph0.checkpoint.zip is of another fit: ")
    assert "n_neighbors was 'auto', now it is 9" in error
    assert error.count("\n") == 1
    assert place.exists()
