"""Memory that a fit needs on each Dask worker."""

from typing import Any

from manyview.distributed._client import DaskSession
from manyview.graphs import FitSize
from manyview.runtime import Estimate, NotEnoughMemoryError, format_bytes, logger, memory_left
from manyview.spectral import SPARE_VECTORS


class DaskWorkersError(RuntimeError):
    """Dask workers were lost too often for a fit to finish."""


def worker_memory(size: FitSize, n_workers: int, n_ghosts: float | None = None) -> Estimate:
    """The most that one of `n_workers` workers holds, in bytes.

    `n_ghosts` are the rows of others that it looks up; without it, as many as its edges allow.
    """
    n, n_views = size.n_samples, len(size.views)
    rows = 8 * sum(view.n_values for view in size.views)
    widest = 8 * max(view.n_values for view in size.views)
    graphs = 12 * size.graph_edges
    # Copies of the rows of one view: sorted by cell, received, joined, and in the search itself.
    search = 5 * widest + 24 * n * ((size.n_neighbors or 0) + 1)
    # Indices; own and received weights, and consistent parts before and after; U.
    stack = (16 + 8 * (4 * n_views + 3)) * size.union_edges
    # Vectors of the eigensolver: in double precision those of own rows, a few times; in single
    # precision with those that others have, three times.
    width = -8 * (-(size.n_clusters + 1 + SPARE_VECTORS) // 8)
    own = n / n_workers
    if n_ghosts is None:
        n_ghosts = min(n - own, size.symmetrised_edges / n_workers)
    vectors = (12 * (own + n_ghosts) + 32 * own) * width + 24 * own
    rounds = (graphs + stack + 16 * size.symmetrised_edges) / n_workers + vectors
    neighbors = (2 * rows + graphs + search) / n_workers
    return Estimate({"neighbors": round(neighbors), "rounds": round(rounds)})


def limit_of(session: DaskSession) -> int | None:
    """The smallest memory limit of a worker; None if none has a limit."""
    limits = [limit for limit in session.client.run(_own_limit).values() if limit]
    return min(limits) if limits else None


def _own_limit(dask_worker: Any) -> int | None:
    limit: int | None = dask_worker.memory_manager.memory_limit
    return limit


def check(session: DaskSession, size: FitSize, who: str) -> str:
    """Refuse a fit that needs more memory than a worker has; returns the estimate as text."""
    n_workers = len(session.workers)
    estimate = worker_memory(size, n_workers)
    limit = limit_of(session)
    peak = format_bytes(estimate.peak)
    need = f"about {peak} ({estimate.stage})"
    if limit is not None:
        need += f" of its limit of {format_bytes(limit)}"
    logger.info("%s needs %s on each of %d workers", who, need, n_workers)
    left = None if limit is None else memory_left(limit)
    if left is not None and estimate.peak > left:
        savings = [text for text in size.savings(estimate.stage) if not text.endswith("the rest")]
        options = ", ".join(["more workers", "workers with more memory", *savings])
        raise NotEnoughMemoryError(
            f"{who} needs about {peak} of memory ({estimate.stage}) on each of {n_workers} "
            f"workers, but {format_bytes(left)} is the limit of one; expected {options}"
        )
    return need
