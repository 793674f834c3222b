"""Threads of BLAS."""

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, for code that shares its rows out to threads of its own.

    Idle threads of BLAS would spin on the cores that others need, and sums that are split among
    threads depend on their number.
    """
    with threadpool_limits(1, "blas"):
        yield
