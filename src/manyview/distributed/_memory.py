"""What a fit needs on every worker of a cluster."""

from __future__ import annotations

from typing import Any

from manyview.distributed._client import Session
from manyview.graphs import FitSize
from manyview.runtime import Estimate, NotEnoughMemoryError, format_bytes, logger, memory_left
from manyview.spectral import SPARE_VECTORS

_FLOAT, _SINGLE, _INT = 8, 4, 4


class DaskWorkersError(RuntimeError):
    """Workers of a cluster were lost too often for a fit to end."""


def worker_memory(size: FitSize, n_workers: int) -> Estimate:
    """The most that one of so many workers holds."""
    n, n_views = size.n_samples, len(size.views)
    rows = _FLOAT * sum(view.cells for view in size.views) / n_workers
    widest = _FLOAT * max(view.cells for view in size.views) / n_workers
    k = int(size.n_neighbors or 0)
    own = size.all_edges / n_workers
    edges = (_FLOAT + _INT) * sum(size.graph_edges) / n_workers
    # A view that is searched: its rows once more for their owner, those of others that ask or are
    # asked, all of them side by side, and what faiss or scikit-learn makes of them.
    searched = 5 * widest + 3 * _FLOAT * (k + 1) * n / n_workers
    # Pattern, mirrors and what comes in; weights, those that come in, parts before and after, U.
    stack = own * (4 * _INT + _FLOAT * (4 * n_views + 3))
    both_ways = 2 * size.both_ways(own) * (_INT + _SINGLE)
    width = -8 * (-(size.n_clusters + 1 + SPARE_VECTORS) // 8)
    vectors = _SINGLE * n * width * 3 + _FLOAT * n * 3
    return Estimate(
        {
            "neighbors": int(2 * rows + edges + searched),
            "rounds": int(edges + stack + both_ways + vectors),
        }
    )


def limit_of(session: Session) -> int | None:
    """The least memory that a worker may use; None where there is no limit."""
    limits = [limit for limit in session.client.run(_own_limit).values() if limit]
    return min(limits) if limits else None


def _own_limit(dask_worker: Any) -> int | None:
    limit: int | None = dask_worker.memory_manager.memory_limit
    return limit


def check(session: Session, size: FitSize, who: str) -> str:
    """Refuse a fit that workers have no room for; what each is estimated to need, in words."""
    n_workers = len(session.workers)
    estimate = worker_memory(size, n_workers)
    limit = limit_of(session)
    need = f"about {format_bytes(estimate.peak)} ({estimate.stage})"
    if limit is not None:
        need += f" of its limit of {format_bytes(limit)}"
    logger.info("%s needs %s on each of %d workers", who, need, n_workers)
    left = None if limit is None else memory_left(limit)
    if left is not None and estimate.peak > left:
        options = [
            option for option in size.savings(estimate.stage) if not option.endswith("the rest")
        ]
        raise NotEnoughMemoryError(
            f"{who} needs about {format_bytes(estimate.peak)} of memory ({estimate.stage}) on each of "
            f"{n_workers} workers, but {format_bytes(left)} is the limit of one; expected "
            + ", ".join(["more workers", "workers with more memory", *options])
        )
    return need
