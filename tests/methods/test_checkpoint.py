"""A fit resumed from a checkpoint has the same result, bit by bit."""

import contextlib
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import manyview.runtime._checkpoint as checkpoints
from manyview import CIGMVC, GBS, AngularCIGMVC, ConsensusGraph, cluster, datasets
from manyview.runtime._checkpoint import Checkpoint

ALL = pytest.mark.parametrize("method", [ConsensusGraph, AngularCIGMVC, CIGMVC, GBS])


class StoppedError(Exception):
    """Stands for the end of the process."""


def blobs(n=120, seed=0):
    return datasets.make_conflict_views(n, 3, separation=4.0, random_state=seed).views


@pytest.fixture(autouse=True)
def every_round(monkeypatch):
    """Save every round, even if saving takes longer than the round."""
    monkeypatch.setattr(checkpoints, "_SHARE", 1e9)


@pytest.fixture
def stop_after(monkeypatch):
    """Function that stops the next fit after its nth file was saved."""

    def arm(n):
        save, saved = Checkpoint.save, []

        def save_and_stop(self, name, *rest):
            save(self, name, *rest)
            saved.append(name)
            if len(saved) == n:
                monkeypatch.setattr(Checkpoint, "save", save)
                raise StoppedError(name)

        monkeypatch.setattr(Checkpoint, "save", save_and_stop)

    return arm


def same(one, other):
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.embedding_, other.embedding_)
    np.testing.assert_array_equal(one.view_weights_, other.view_weights_)
    for a, b in zip(one.consistent_graphs_, other.consistent_graphs_, strict=True):
        assert (a != b).nnz == 0
    assert getattr(one, "stop_reason_", None) == getattr(other, "stop_reason_", None)
    histories = (getattr(model, "history_", []) for model in (one, other))
    rounds = [[vars(entry) | {"seconds": 0} for entry in history] for history in histories]
    assert rounds[0] == rounds[1]
    assert [s.method for s in one.neighbor_search_] == [s.method for s in other.neighbor_search_]


@ALL
def test_resumed_after_any_file(method, tmp_path, stop_after):
    views = blobs()
    whole = method(3, random_state=0).fit(views)
    n_rounds = getattr(whole, "n_iter_", 1)
    assert n_rounds > 3 or method is ConsensusGraph
    names = []
    for n in range(1, 100):
        folder = tmp_path / str(n)
        stop_after(n)
        try:
            method(3, random_state=0).fit(views, checkpoint=folder)
        except StoppedError as stopped:
            names.append(str(stopped))
        else:
            break
        same(method(3, random_state=0).fit(views, checkpoint=folder), whole)
    # The graph of every view, and every round but the last.
    assert names.count("loop") == n_rounds - 1
    assert len(set(names) - {"loop"}) == len(views)


@ALL
@pytest.mark.parametrize("n_files", [1, 4])  # among the graphs, among the rounds if there are any
def test_resumed_with_a_suggested_number(method, n_files, tmp_path, stop_after):
    views, model = blobs(60), method("auto", random_state=0)
    whole = clone(model).fit(views)
    stop_after(n_files)
    with contextlib.suppress(StoppedError):  # without rounds there are only three files
        clone(model).fit(views, checkpoint=tmp_path)
    same(clone(model).fit(views, checkpoint=tmp_path), whole)


def test_resumed_many_times(tmp_path, stop_after):
    views = blobs()
    whole = AngularCIGMVC(3, random_state=0).fit(views)
    for _ in range(100):
        stop_after(1)
        try:
            found = AngularCIGMVC(3, random_state=0).fit(views, checkpoint=tmp_path)
        except StoppedError:
            continue
        break
    same(found, whole)


def test_resumed_with_many_samples(tmp_path, stop_after):
    """Beyond 5,000 samples another solver is used, and approximate search sorts samples by cell."""
    views = datasets.make_latent_views(6_000, 4, widths=(6, 5), random_state=0).views
    options = {"neighbor_search": "approximate", "random_state": 0}
    whole = CIGMVC(4, **options).fit(views)
    stop_after(5)
    with pytest.raises(StoppedError, match="loop"):
        CIGMVC(4, **options).fit(views, checkpoint=tmp_path)
    same(CIGMVC(4, **options).fit(views, checkpoint=tmp_path), whole)


def test_resumed_with_missing_samples_and_sparse_views(tmp_path, stop_after, rng):
    views = list(blobs().values())
    views[0] = csr_array(np.round(views[0]))
    present = rng.random((120, len(views))) < 0.9
    present[~present.any(axis=1), 1] = True
    whole = AngularCIGMVC(3, random_state=0).fit(views, present=present)
    stop_after(len(views) + 2)
    with pytest.raises(StoppedError):
        AngularCIGMVC(3, random_state=0).fit(views, present=present, checkpoint=tmp_path)
    again = AngularCIGMVC(3, random_state=0).fit(views, present=present, checkpoint=tmp_path)
    same(again, whole)


def begun(folder, stop_after, views=None):
    stop_after(4)
    with pytest.raises(StoppedError):
        AngularCIGMVC(3, random_state=0).fit(views or blobs(), checkpoint=folder)


def other_number():
    views = blobs()
    first = next(iter(views))
    return views | {first: views[first] + (np.arange(120) == 7)[:, None] * 1e-9}


@pytest.mark.parametrize(
    ("model", "views", "message"),
    [
        (AngularCIGMVC(4, random_state=0), blobs(), "n_clusters was 3, now it is 4"),
        (AngularCIGMVC(3, random_state=1), blobs(), "random_state was 0, now it is 1"),
        (CIGMVC(3, random_state=0), blobs(), "method was 'AngularCIGMVC', now it is 'CIGMVC'"),
        (AngularCIGMVC(3, random_state=0), other_number(), "content was"),
    ],
)
def test_checkpoint_of_another_fit_is_refused_and_kept(model, views, message, tmp_path, stop_after):
    begun(tmp_path, stop_after)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ValueError, match=message) as caught:
        model.fit(views, checkpoint=tmp_path)
    assert "expected the same data and parameters, or another folder" in str(caught.value)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_resumed_with_samples_in_another_order(tmp_path, stop_after, rng):
    views = blobs()
    begun(tmp_path, stop_after, views)
    order = rng.permutation(120)
    permuted = {name: view[order] for name, view in views.items()}
    again = AngularCIGMVC(3, random_state=0).fit(permuted, checkpoint=tmp_path)
    whole = AngularCIGMVC(3, random_state=0).fit(views)
    np.testing.assert_array_equal(again.embedding_, whole.embedding_[order])


def test_damaged_checkpoint_is_refused(tmp_path, stop_after):
    begun(tmp_path, stop_after)
    path = tmp_path / "loop.checkpoint.zip"
    content = path.read_bytes()
    model = AngularCIGMVC(3, random_state=0)
    refused = 0
    for position in range(0, len(content), len(content) // 40):
        path.write_bytes(
            content[:position] + bytes([content[position] ^ 0x55]) + content[position + 1 :]
        )
        try:
            model.fit(blobs(), checkpoint=tmp_path)
        except ValueError as error:
            assert "is no complete checkpoint" in str(error)  # noqa: PT017 (not all bytes matter)
            refused += 1
        path.write_bytes(content)
    assert refused > 35
    path.write_bytes(content[:-100])
    with pytest.raises(ValueError, match="is no complete checkpoint"):
        model.fit(blobs(), checkpoint=tmp_path)


def test_random_state_must_be_a_number(tmp_path):
    with pytest.raises(ValueError, match="random_state=None with a checkpoint; expected a number"):
        AngularCIGMVC(3).fit(blobs(), checkpoint=tmp_path)
    assert not any(tmp_path.iterdir())


def test_cluster_with_a_checkpoint(tmp_path):
    found = cluster(blobs(), 3, method="angular", checkpoint=tmp_path / "kept")
    assert (tmp_path / "kept" / "loop.checkpoint.zip").exists()
    np.testing.assert_array_equal(found.labels, cluster(blobs(), 3, method="angular").labels)
    with pytest.raises(ValueError, match="checkpoint with method='mgl'; expected one of"):
        cluster(blobs(), 3, method="mgl", checkpoint=tmp_path)


def test_clearing_keeps_other_files(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    others = {"notes.txt", "mine.checkpoint.zip", "graph7.checkpoint.zip"}
    for name in others:
        (folder / name).write_text("mine")
    cluster(blobs(), 3, checkpoint=folder).estimator.clear_checkpoint()
    assert {path.name for path in folder.iterdir()} == others
    for name in others:
        (folder / name).unlink()
    cluster(blobs(), 3, checkpoint=folder).estimator.clear_checkpoint()
    assert not folder.exists()
    AngularCIGMVC(3, random_state=0).fit(blobs()).clear_checkpoint()  # nothing to do


def test_rows_paired_in_another_way_are_another_fit(tmp_path, rng):
    """Each view has the same rows."""
    first, *rest = blobs().values()
    AngularCIGMVC(3, random_state=0).fit([first[rng.permutation(120)], *rest], checkpoint=tmp_path)
    with pytest.raises(ValueError, match="is of another fit: content was"):
        AngularCIGMVC(3, random_state=0).fit([first, *rest], checkpoint=tmp_path)


def test_other_edges_are_another_fit(tmp_path, rng):
    """Each row of the graphs has the same weights, but to other samples."""
    graph = np.zeros((60, 60))
    for step in (1, 2, 3):
        graph[np.arange(60), (np.arange(60) + step) % 60] = 1
        graph[(np.arange(60) + step) % 60, np.arange(60)] = 1
    orders = [rng.permutation(60) for _ in range(4)]
    rings = [graph[order][:, order] for order in orders]
    model = CIGMVC(4, graph="precomputed", max_iter=4, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rings[:2], checkpoint=tmp_path)
        labels = model.labels_
        np.testing.assert_array_equal(model.fit(rings[:2], checkpoint=tmp_path).labels_, labels)
    with pytest.raises(ValueError, match="is of another fit: content was"):
        model.fit(rings[2:], checkpoint=tmp_path)


def test_file_instead_of_a_folder(tmp_path):
    path = tmp_path / "kept"
    path.write_text("mine")
    with pytest.raises(NotADirectoryError, match="kept is no folder; expected a folder"):
        AngularCIGMVC(3, random_state=0).fit(blobs(), checkpoint=path)
    assert path.read_text() == "mine"
