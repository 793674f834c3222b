"""Run experiments in one or several processes, and keep the results of finished ones."""

import hashlib
import json
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import manyview
from manyview._signals import defer_stop_signals
from manyview._version import __version__
from manyview.metrics import clustering_scores
from manyview.reproduce._plan import METHODS, Experiment, load
from manyview.runtime import write_file
from manyview.spectral import kmeans_labels

#: Source that results depend on, as patterns below the package.
SOURCES = (
    "_kernels/*.py", "runtime/*.py", "inputs/*.py", "graphs/*.py", "spectral/*.py",
    "predict/*.py", "methods/*.py", "metrics.py", "reproduce/_plan.py", "reproduce/_run.py",
)  # fmt: skip
_SHUFFLE_SEED = 20_201
_SCORES = set(clustering_scores([0, 1], [0, 1]))
_data = lru_cache(maxsize=8)(load)
_WORKER_DIED = "the worker process died: killed, or out of memory"


@dataclass(frozen=True)
class ExperimentResult:
    """The scores of every seed, or the error."""

    experiment: Experiment
    scores: list[dict[str, float]] = field(default_factory=list)
    seconds: float = 0.0
    n_iter: int | None = None
    smallest: int | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    error: str | None = None
    reused: bool = False

    def mean(self, score: str) -> float:
        return float(np.mean([entry[score] for entry in self.scores]))

    def deviation(self, score: str) -> float:
        return float(np.std([entry[score] for entry in self.scores]))


def run_experiments(
    experiments: Sequence[Experiment],
    folder: Path,
    *,
    n_seeds: int,
    processes: int,
    data_home: str | None,
    progress: Callable[[int, int, str], None],
) -> list[ExperimentResult]:
    """Run the experiments without a result in `folder`, and keep the new results there.

    Results of the same data, code and number of seeds are reused. Those of failed experiments are
    not kept, so that the next run tries them again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    keys = {name: _key(name, data_home, n_seeds) for name in {one.data for one in experiments}}
    results = {one: _kept_result(folder / one.file, one, keys[one.data]) for one in experiments}
    todo = [one for one, result in results.items() if result is None]

    def show(what: str) -> None:
        done = sum(result is not None for result in results.values())
        progress(done, len(results), what)

    show("starting")
    run = partial(run_experiment, n_seeds=n_seeds, data_home=data_home)
    # Closed at once where a result can't be written, which ends the workers.
    with closing(_run_all(run, todo, processes, show)) as finished:
        for result in finished:
            experiment = result.experiment
            if result.error is None:
                content = {"key": keys[experiment.data], "result": asdict(result)}
                write_file(folder / experiment.file, json.dumps(content, indent=1))
            results[experiment] = result
            show(experiment.title)
    return [result for result in results.values() if result is not None]


Run = Callable[[Experiment], ExperimentResult]
Finished = Generator[ExperimentResult, None, None]


def _run_all(
    run: Run, todo: list[Experiment], processes: int, show: Callable[[str], None]
) -> Finished:
    if processes == 1:
        for experiment in todo:
            show(experiment.title)
            yield run(experiment)
        return
    again = []
    with closing(_run_pool(run, todo, processes)) as finished:
        for result in finished:
            if result.error == _WORKER_DIED:
                again.append(result.experiment)
            else:
                yield result
    # A worker that dies breaks its pool: with one experiment per pool, it is known which one died.
    for experiment in again:
        yield from _run_pool(run, [experiment], 1)


def _run_pool(run: Run, todo: list[Experiment], processes: int) -> Finished:
    """Run experiments in worker processes; spawned, as OpenMP does not survive a fork."""
    threads = max(1, (os.cpu_count() or 1) // processes)
    with ProcessPoolExecutor(
        processes, get_context("spawn"), initializer=_start_worker, initargs=(threads,)
    ) as pool:
        try:
            with defer_stop_signals(), _interrupts_blocked():
                futures = {pool.submit(run, experiment): experiment for experiment in todo}
            for future in as_completed(futures):
                try:
                    yield future.result()
                except BrokenProcessPool:
                    yield ExperimentResult(futures[future], error=_WORKER_DIED)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in active_children():  # or they would finish their experiments first
                worker.terminate()
            raise


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Processes started in the block ignore Ctrl-C, which terminals send to all processes: their
    parent ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_experiment(experiment: Experiment, n_seeds: int, data_home: str | None) -> ExperimentResult:
    """Fit once; for methods that end with k-means, repeat k-means for every seed."""
    method = METHODS[experiment.method]
    try:
        data = _data(experiment.data, data_home)
        order = sample_order(experiment.order, data.n_samples)
        views = {name: view[order] for name, view in data.views.items()}
        parameters = {} if experiment.view is None else {"view": experiment.view}
        _warm_up(experiment.method)
        started = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = method.make(data.n_clusters, random_state=0, **parameters).fit(views)
        seconds = time.perf_counter() - started
        labels = [model.labels_]
        if method.uses_kmeans:
            rows = model.embedding_
            labels += [kmeans_labels(rows, data.n_clusters, seed) for seed in range(1, n_seeds)]
    except Exception as error:  # the other experiments still run
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        return ExperimentResult(experiment, error=reason, warnings=[traceback.format_exc()])
    return ExperimentResult(
        experiment,
        scores=[clustering_scores(data.target[order], found) for found in labels],
        seconds=seconds,
        n_iter=getattr(model, "n_iter_", None),
        smallest=int(np.bincount(model.labels_).min()),
        history=[asdict(entry) for entry in getattr(model, "history_", [])],
        warnings=[str(entry.message) for entry in caught],
    )


def _kept_result(path: Path, experiment: Experiment, key: str) -> ExperimentResult | None:
    """The result in a file, or None if it is missing, damaged or of another key."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        stored = content["result"]
        if content["key"] != key or Experiment(**stored["experiment"]) != experiment:
            return None
        result = ExperimentResult(**{**stored, "experiment": experiment, "reused": True})
        whole = result.scores and all(set(entry) == _SCORES for entry in result.scores)
        return result if whole else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _key(name: str, data_home: str | None, n_seeds: int) -> str:
    """A hash of the data, the code and the number of seeds."""
    digest = hashlib.sha256(f"{__version__} {n_seeds}".encode())
    data = _data(name, data_home)
    views: list[Any] = list(data.views.values())
    for view in views:
        arrays = [view.data, view.indices, view.indptr] if isinstance(view, csr_array) else [view]
        for array in arrays:
            digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(data.target.tobytes())
    package = Path(manyview.__file__).parent
    for path in sorted(path for pattern in SOURCES for path in package.glob(pattern)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def sample_order(order: str, n_samples: int) -> Any:
    if order == "stored":
        return np.arange(n_samples)
    return np.random.default_rng(_SHUFFLE_SEED).permutation(n_samples)


@lru_cache(maxsize=32)
def _warm_up(method: str) -> None:
    """Compile the code of a method, so that measured times do not include it."""
    views = [view[:60] for view in load("blobs", None).views.values()]
    for form in (views, [csr_array(view) for view in views]):
        METHODS[method].make(5, random_state=0).fit(form)


def _start_worker(threads: int) -> None:
    """Limit the threads of this worker, and end it when its parent has ended."""
    import numba
    from threadpoolctl import threadpool_limits

    numba.set_num_threads(min(threads, numba.get_num_threads()))
    threadpool_limits(threads)

    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
