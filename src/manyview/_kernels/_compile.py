"""How kernels are compiled: serial for small inputs, parallel over rows for large ones."""

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from numba import get_num_threads, njit

P = ParamSpec("P")
T = TypeVar("T")

#: Inputs of more rows go to the parallel version. It takes two to four times as long to compile,
#: and some ten microseconds to start its threads.
PARALLEL_ROWS = 5_000


def row_kernel(function: Callable[P, T], per_row: float = 1) -> Callable[P, T]:
    """Compile a loop over rows; the first argument has about `per_row` entries of each.

    `prange` is `range` in the serial version. Both have the same results: each row is computed by
    one thread.
    """
    serial = njit(cache=True)(function)
    name = f"{function.__name__}_in_parallel"  # numba's cache tells functions apart by their names
    twin = FunctionType(function.__code__, function.__globals__, name)
    twin.__module__, twin.__qualname__ = function.__module__, name
    parallel = njit(parallel=True, cache=True)(twin)

    @wraps(function)
    def kernel(*arguments: P.args, **named: P.kwargs) -> T:
        rows: Any = arguments[0]
        large = len(rows) > per_row * PARALLEL_ROWS and get_num_threads() > 1
        result: T = (parallel if large else serial)(*arguments, **named)
        return result

    return kernel
