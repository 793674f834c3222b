"""Checkpoints: what one fit saves and loads. Fits that resume are in tests/methods."""

import numpy as np
import pytest

from manyview.runtime import Checkpoint, _checkpoint


@pytest.fixture
def checkpoint(tmp_path):
    checkpoint = Checkpoint(tmp_path / "saved", {"seed": 0})
    checkpoint.save("loop", {"U": np.arange(3.0)}, {"round": 4})
    return checkpoint


def test_loaded_as_saved(checkpoint):
    found = Checkpoint(checkpoint.folder, {"seed": 0}).load("loop")
    assert found.manifest == {"round": 4}
    np.testing.assert_array_equal(found.array("U", "f", (3,)), np.arange(3.0))
    assert checkpoint.load("graph0") is None


def test_another_fit_is_refused(checkpoint):
    with pytest.raises(ValueError, match="is of another fit: seed was 0, now it is 1; expected"):
        Checkpoint(checkpoint.folder, {"seed": 1}).load("loop")


def test_damaged_and_newer_checkpoints_are_refused(checkpoint, monkeypatch):
    monkeypatch.setattr(_checkpoint, "FORMAT_VERSION", 2)
    with pytest.raises(ValueError, match="is a checkpoint of format 1; expected 2"):
        checkpoint.load("loop")
    path = checkpoint.folder / "loop.checkpoint.zip"
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(ValueError, match=r"is no complete checkpoint: .*; expected one"):
        checkpoint.load("loop")


def test_only_its_own_files_are_removed(checkpoint):
    other = checkpoint.folder / "mine.checkpoint.zip"
    other.write_text("mine")
    checkpoint.clear()
    assert list(checkpoint.folder.iterdir()) == [other]
    other.unlink()
    checkpoint.clear()
    assert not checkpoint.folder.exists()


def test_a_file_is_no_folder(tmp_path):
    path = tmp_path / "saved"
    path.write_text("mine")
    with pytest.raises(NotADirectoryError, match="saved is no folder; expected a folder"):
        Checkpoint(path, {})


def test_saving_takes_a_tenth_of_the_time_at_most(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(_checkpoint.time, "monotonic", lambda: clock[0])
    checkpoint = Checkpoint(tmp_path, {})
    assert checkpoint.is_due()

    def two_seconds(*_):
        clock[0] += 2

    monkeypatch.setattr(_checkpoint, "write_file", two_seconds)
    checkpoint.save("loop", {}, {})
    for second in range(1, 21):
        clock[0] += 1
        assert checkpoint.is_due() == (second >= 20)
