"""Running cells, in one process or several, and keeping those that are done."""

from __future__ import annotations

import json
import os
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from manyview._files import write_whole
from manyview._version import __version__
from manyview.datasets import MultiViewData
from manyview.labels import kmeans_labels
from manyview.metrics import clustering_scores
from manyview.reproduce._plan import METHODS, Cell, load

_SHUFFLE_SEED = 20_201


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
    """Run what is not yet in `folder`; a cell that fails is a result too, and is tried again."""
    folder.mkdir(parents=True, exist_ok=True)
    results = {cell: _kept(folder / cell.file, cell, n_seeds) for cell in cells}
    todo = [cell for cell, result in results.items() if result is None]
    progress(len(cells) - len(todo), len(cells), "starting")
    for result in _run(todo, n_seeds, processes, data_home, progress, len(cells)):
        results[result.cell] = result
        if result.error is None:
            content = {"version": __version__, "seeds": n_seeds, "result": asdict(result)}
            write_whole(folder / result.cell.file, json.dumps(content, indent=1))
    return [result for result in results.values() if result is not None]


def _run(
    todo: list[Cell],
    n_seeds: int,
    processes: int,
    data_home: str | None,
    progress: Callable[[int, int, str], None],
    total: int,
) -> Iterator[CellResult]:
    done = total - len(todo)
    if processes == 1:
        for cell in todo:
            progress(done, total, cell.title)
            yield run_cell(cell, n_seeds, data_home)
            done += 1
            progress(done, total, cell.title)
        return
    # Spawned, not forked: OpenMP does not survive a fork.
    share = max(1, (os.cpu_count() or 1) // processes)
    pool = ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=_limit_threads, initargs=(share,)
    )
    with pool:
        futures = [pool.submit(run_cell, cell, n_seeds, data_home) for cell in todo]
        try:
            for future in as_completed(futures):
                result = future.result()
                done += 1
                progress(done, total, result.cell.title)
                yield result
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


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


def _kept(path: Path, cell: Cell, n_seeds: int) -> CellResult | None:
    """The result of an earlier run, if it was of this version and as many seeds."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["version"] != __version__ or content["seeds"] != n_seeds:
            return None
        result = content["result"]
        if Cell(**result.pop("cell")) != cell:
            return None
        return CellResult(cell, **{**result, "kept": True})
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not there, or not one of ours: run it


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
    views = load("blobs", None).views
    METHODS[method].make(5, random_state=0).fit({name: view[:60] for name, view in views.items()})


def _limit_threads(count: int) -> None:
    import numba
    from threadpoolctl import threadpool_limits

    numba.set_num_threads(min(count, numba.get_num_threads()))
    threadpool_limits(count)
