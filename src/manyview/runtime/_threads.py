"""Threads of BLAS, and threads of ours."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import chain
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Part = TypeVar("Part")
Found = TypeVar("Found")

# Work on fewer bytes is done before threads have started.
_WORTH_THREADS = 2**23
# Pieces of work per thread, so that all are done at about the same time.
_PIECES = 4


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, for code that shares its rows out to threads of its own.

    Idle threads of BLAS would spin on the cores that others need, and sums that are split among
    threads depend on their number.
    """
    with thread_pools().limit(limits=1, user_api="blas"):
        yield


@cache
def thread_pools() -> ThreadpoolController:
    """The libraries that have threads: BLAS, and OpenMP, which scikit-learn uses.

    Looking for them takes as long as k-means of a hundred samples.
    """
    return ThreadpoolController()


def n_threads() -> int:
    """How many threads there are for the work of a fit: numba's."""
    import numba

    return int(numba.get_num_threads())


def in_threads(
    function: Callable[[Part], Found], parts: Sequence[Part], n_bytes: int
) -> list[Found]:
    """What a function makes of each part, in threads if it goes through enough bytes in all."""
    if n_bytes < _WORTH_THREADS:
        return [function(part) for part in parts]
    count = n_threads()
    length = max(-(-len(parts) // (_PIECES * count)), 1)
    pieces = [parts[a : a + length] for a in range(0, len(parts), length)]
    with ThreadPoolExecutor(count) as threads:
        found = threads.map(lambda piece: [function(part) for part in piece], pieces)
        return list(chain.from_iterable(found))
