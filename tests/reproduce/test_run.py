"""Running experiments and reusing their results."""

import json
import os
import signal
from pathlib import Path

import pytest

import manyview
from manyview import datasets, methods
from manyview.reproduce import Experiment, Results, _run, plan, run_experiments
from manyview.reproduce._plan import BUILTIN
from manyview.reproduce._tables import score_tables


def run_all(experiments, folder, n_seeds=1, processes=1):
    options = {"n_seeds": n_seeds, "processes": processes, "data_home": None}
    return run_experiments(experiments, folder, progress=lambda *_: None, **options)


def test_several_processes_give_the_same_scores(tmp_path):
    experiments = [
        Experiment("blobs", "CI-GMVC", "stored"),
        Experiment("moons", "MGL", "shuffled"),
    ]
    one = run_all(experiments, tmp_path / "one", n_seeds=2)
    two = run_all(experiments, tmp_path / "two", n_seeds=2, processes=2)
    assert {r.experiment: r.scores for r in one} == {r.experiment: r.scores for r in two}


def test_a_failed_experiment_does_not_stop_the_others(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("out of luck\nsecond line")

    monkeypatch.setattr(methods.MGL, "fit", fail)
    experiments = plan({"blobs": BUILTIN["blobs"]()}, ["MGL", "GBS"])
    found = run_all(experiments, tmp_path)
    assert [r.error for r in found] == ["RuntimeError: out of luck"] * 2 + [None] * 2
    assert not (tmp_path / "blobs--MGL--stored.json").exists()  # the next run tries it again
    table = score_tables(Results(found))[0]
    assert table.rows[0] == ["MGL", "failed", "failed"]
    assert "failed" not in table.rows[1]


def run_one(folder, experiment, n_seeds=3):
    return run_all([experiment], folder, n_seeds)[0]


def test_seeds_and_orders_differ(tmp_path):
    """Blobs that overlap so much that the result of k-means depends on its seed."""
    experiment = Experiment("hard", "MGL", "stored")
    hard = datasets.make_blob_views(120, 12, separation=1.0, random_state=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(BUILTIN, "hard", lambda: hard)
        stored = run_one(tmp_path, experiment, n_seeds=6)
        assert len({tuple(entry.values()) for entry in stored.scores}) > 1
        order = _run.sample_order("shuffled", 120)
        assert sorted(order) == list(range(120)) != list(order)


def test_results_are_reused_only_for_the_same_seeds_and_data(tmp_path, monkeypatch):
    experiment = Experiment("mine", "GBS", "stored")
    first = datasets.make_blob_views(60, 3, separation=9, random_state=0)
    monkeypatch.setitem(BUILTIN, "mine", lambda: first)
    assert not run_one(tmp_path, experiment).reused
    assert run_one(tmp_path, experiment).reused
    assert not run_one(tmp_path, experiment, n_seeds=2).reused
    _run._data.cache_clear()
    second = datasets.make_blob_views(60, 3, separation=0.1, random_state=0)
    monkeypatch.setitem(BUILTIN, "mine", lambda: second)
    other = run_one(tmp_path, experiment, n_seeds=2)
    assert not other.reused
    assert other.mean("ACC") < 0.9
    _run._data.cache_clear()


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content | {"result": "x"},
        lambda content: content | {"result": content["result"] | {"scores": []}},
        lambda content: content | {"result": content["result"] | {"scores": [{"ACC": 1.0}]}},
        lambda content: [],
    ],
)
def test_a_damaged_result_is_computed_again(tmp_path, damage):
    experiment = Experiment("moons", "GBS", "stored")
    whole = run_one(tmp_path, experiment)
    path = tmp_path / experiment.file
    path.write_text(json.dumps(damage(json.loads(path.read_text()))))
    again = run_one(tmp_path, experiment)
    assert not again.reused
    assert again.scores == whole.scores


def test_a_dead_worker_fails_only_its_experiment(tmp_path, monkeypatch):
    """The worker is killed, as by the kernel when memory runs out."""
    monkeypatch.setenv("MANYVIEW_TEST_KILL", "GBS")
    experiments = [Experiment("moons", name, "stored") for name in ("MGL", "GBS", "average graph")]
    monkeypatch.setattr(_run, "run_experiment", run_or_die)
    found = run_all(experiments, tmp_path, processes=2)
    errors = {r.experiment.method: r.error for r in found}
    assert errors.pop("GBS").startswith("the worker process died")
    assert errors == {"MGL": None, "average graph": None}


_run_experiment = _run.run_experiment


def run_or_die(experiment, n_seeds, data_home):
    if experiment.method == os.environ.get("MANYVIEW_TEST_KILL"):
        os.kill(os.getpid(), signal.SIGKILL)
    return _run_experiment(experiment, n_seeds, data_home)


def test_results_depend_on_all_code_that_computes():
    """A pattern that matches nothing, as after a move, would reuse results of other code."""
    package = Path(manyview.__file__).parent
    assert all(any(package.glob(pattern)) for pattern in _run.SOURCES)
    computing = {"_kernels", "inputs", "graphs", "spectral", "methods", "metrics.py"}
    assert computing <= {pattern.split("/")[0] for pattern in _run.SOURCES}
