"""Running cells, in one process or several, and keeping those that are done."""

from __future__ import annotations

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
from functools import lru_cache
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import manyview
from manyview._signals import defer_stop_signals
from manyview._version import __version__
from manyview.datasets import MultiViewData
from manyview.metrics import clustering_scores
from manyview.reproduce._plan import METHODS, Cell, load
from manyview.runtime import write_file
from manyview.spectral import kmeans_labels

_SHUFFLE_SEED = 20_201
_SCORES = set(clustering_scores([0, 1], [0, 1]))
_WORKER_DIED = "the worker process died: killed, or out of memory"


@dataclass(frozen=True)
class CellResult:
    """What a cell gave: the scores of every seed, or the error it ended with."""

    cell: Cell
    scores: list[dict[str, float]] = field(default_factory=list)
    seconds: float = 0.0
    n_iter: int | None = None
    smallest: int | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    error: str | None = None
    kept: bool = False

    def mean(self, score: str) -> float:
        return float(np.mean([entry[score] for entry in self.scores]))

    def deviation(self, score: str) -> float:
        return float(np.std([entry[score] for entry in self.scores]))


def run_cells(
    cells: Sequence[Cell],
    folder: Path,
    *,
    n_seeds: int,
    processes: int,
    data_home: str | None,
    progress: Callable[[int, int, str], None],
) -> list[CellResult]:
    """Run what is not yet in `folder`; a cell that fails is a result too, and is tried again.

    A cell is kept for the same data, code and number of seeds.
    """
    folder.mkdir(parents=True, exist_ok=True)
    keys = {name: _key(name, data_home, n_seeds) for name in {cell.data for cell in cells}}
    results = {cell: _kept(folder / cell.file, cell, keys[cell.data]) for cell in cells}
    todo = [cell for cell, result in results.items() if result is None]
    progress(len(cells) - len(todo), len(cells), "starting")
    # Closed at once when a cell can't be written, which ends the workers.
    with closing(_run(todo, n_seeds, processes, data_home, progress, len(cells))) as running:
        for result in running:
            results[result.cell] = result
            if result.error is None:
                content = {"key": keys[result.cell.data], "result": asdict(result)}
                write_file(folder / result.cell.file, json.dumps(content, indent=1))
    return [result for result in results.values() if result is not None]


def _run(
    todo: list[Cell],
    n_seeds: int,
    processes: int,
    data_home: str | None,
    progress: Callable[[int, int, str], None],
    total: int,
) -> Generator[CellResult, None, None]:
    done = total - len(todo)
    if processes == 1:
        for cell in todo:
            progress(done, total, cell.title)
            yield run_cell(cell, n_seeds, data_home)
            done += 1
            progress(done, total, cell.title)
        return
    waiting = list(todo)
    for attempt in (processes, 1):
        # After a worker died (killed, or out of memory) the rest runs in pools of one, each with
        # one cell, so that it is known which cell it was.
        batches = [waiting] if attempt == processes else [[cell] for cell in waiting]
        for batch in batches:
            with closing(_run_pool(batch, attempt, n_seeds, data_home)) as results:
                for result in results:
                    if result.error == _WORKER_DIED and attempt == processes:
                        continue
                    waiting.remove(result.cell)
                    done += 1
                    progress(done, total, result.cell.title)
                    yield result


def _run_pool(
    batch: list[Cell], processes: int, n_seeds: int, data_home: str | None
) -> Generator[CellResult, None, None]:
    """Run cells in worker processes, spawned and not forked: OpenMP does not survive a fork."""
    share = max(1, (os.cpu_count() or 1) // processes)
    with ProcessPoolExecutor(
        processes, get_context("spawn"), initializer=_start_worker, initargs=(share, os.getpid())
    ) as pool:
        try:
            with defer_stop_signals(), _deaf_children():
                futures = {pool.submit(run_cell, cell, n_seeds, data_home): cell for cell in batch}
            for future in as_completed(futures):
                try:
                    yield future.result()
                except BrokenProcessPool:
                    yield CellResult(futures[future], error=_WORKER_DIED)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in active_children():  # else they would finish their cells first
                worker.terminate()
            raise


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Ctrl-C goes to all processes of a terminal: it is for the one that started the others, which
    ends them. What is blocked here stays blocked in processes started meanwhile."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_cell(cell: Cell, n_seeds: int, data_home: str | None) -> CellResult:
    """Fit once; for methods that end with k-means, run that for every seed."""
    method = METHODS[cell.method]
    try:
        data, order = _data(cell.data, data_home), _order(cell, data_home)
        views = {name: view[order] for name, view in data.views.items()}
        target = data.target[order]
        parameters = {} if cell.view is None else {"view": cell.view}
        _warm_up(cell.method)
        started = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = method.make(data.n_clusters, random_state=0, **parameters).fit(views)
        seconds = time.perf_counter() - started
        labels = [model.labels_]
        if method.kmeans:
            rows = model.embedding_
            labels += [kmeans_labels(rows, data.n_clusters, seed) for seed in range(1, n_seeds)]
    except Exception as error:  # any failure is this cell's result, and the rest goes on
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        return CellResult(cell, error=reason, warnings=[traceback.format_exc()])
    return CellResult(
        cell,
        scores=[clustering_scores(target, found) for found in labels],
        seconds=seconds,
        n_iter=getattr(model, "n_iter_", None),
        smallest=int(np.bincount(model.labels_).min()),
        history=[asdict(entry) for entry in getattr(model, "history_", [])],
        warnings=[str(entry.message) for entry in caught],
    )


def _kept(path: Path, cell: Cell, key: str) -> CellResult | None:
    """The result of an earlier run, if it was of the same data, code and number of seeds."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["key"] != key:
            return None
        result = CellResult(**{**content["result"], "cell": cell, "kept": True})
        whole = result.scores and all(set(entry) == _SCORES for entry in result.scores)
        return result if whole and Cell(**content["result"]["cell"]) == cell else None
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not there, or not one of ours: run it


def _key(name: str, data_home: str | None, n_seeds: int) -> str:
    """What a kept result depends on: the data, the code that computes, and the seeds."""
    digest = hashlib.sha256(f"{__version__} {n_seeds}".encode())
    data = _data(name, data_home)
    for view in data.views.values():
        stored: Any = view
        sparse = isinstance(stored, csr_array)
        parts = [stored.data, stored.indices, stored.indptr] if sparse else [stored]
        for part in parts:
            digest.update(np.ascontiguousarray(part).tobytes())
    digest.update(data.target.tobytes())
    package = Path(manyview.__file__).parent
    rooms = ("_kernels", "inputs", "graphs", "spectral", "predict", "methods")
    for path in sorted(path for room in rooms for path in (package / room).glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@lru_cache(maxsize=8)
def _data(name: str, data_home: str | None) -> MultiViewData:
    return load(name, data_home)


def _order(cell: Cell, data_home: str | None) -> Any:
    n = _data(cell.data, data_home).n_samples
    if cell.order == "stored":
        return np.arange(n)
    return np.random.default_rng(_SHUFFLE_SEED).permutation(n)


@lru_cache(maxsize=32)
def _warm_up(method: str) -> None:
    """Compile what the method needs, so that no cell's time includes it."""
    views = [view[:60] for view in load("blobs", None).views.values()]
    for form in (views, [csr_array(view) for view in views]):
        METHODS[method].make(5, random_state=0).fit(form)


def _start_worker(threads: int, parent: int) -> None:
    """Share the cores, and do not outlive the process that asked for the work."""
    import numba
    from threadpoolctl import threadpool_limits

    numba.set_num_threads(min(threads, numba.get_num_threads()))
    threadpool_limits(threads)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
