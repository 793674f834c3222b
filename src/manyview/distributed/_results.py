"""What ranks report to the client: results, warnings, timings, and progress while they run."""

import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from distributed import get_worker
from numpy.typing import NDArray

from manyview._typing import IntArray
from manyview.runtime import Run, warn


@dataclass(frozen=True)
class ByRow:
    """Values of rows, which the client has per sample."""

    rows: NDArray[Any]


class RankRun(Run):
    """A `Run` on a rank; the one with a topic sends its progress to the client."""

    def __init__(self, seed: int, state: Any, topic: str | None) -> None:
        super().__init__(seed)
        self.rng.bit_generator.state = state
        self._caught: list[Any] = []
        self._topic = topic

    def log(self, text: str, *values: object) -> None:
        if self._topic is not None:
            get_worker().log_event(self._topic, text % values)

    @contextmanager
    def recorded_warnings(self) -> Iterator[None]:
        """Keep warnings for the client, instead of showing them in the log of the worker."""
        with _RECORDER as self._caught:
            yield

    @property
    def warnings(self) -> list[tuple[type[Warning], str]]:
        """Those so far, each once."""
        return list(dict.fromkeys((one.category, str(one.message)) for one in self._caught))


class _Recorder:
    """Records the warnings of this process while any rank runs in it.

    `warnings.catch_warnings` is for one thread; ranks may be threads of one process.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ranks = 0
        self._context = warnings.catch_warnings(record=True)
        self._caught: Any = []

    def __enter__(self) -> list[Any]:
        with self._lock:
            if self._ranks == 0:
                self._context = warnings.catch_warnings(record=True)
                self._caught = self._context.__enter__()
                warnings.simplefilter("always")
            self._ranks += 1
            caught: list[Any] = self._caught
            return caught

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._ranks -= 1
            if self._ranks == 0:
                self._context.__exit__(None, None, None)


_RECORDER = _Recorder()


def parts_of(result: Any, run: RankRun, *, with_rest: bool) -> Any:
    """What one rank sends: values of rows, and from one of them all else."""
    arrays: list[Any] = []

    def numbered(one: ByRow) -> ByRow:
        arrays.append(one.rows)
        return ByRow(np.array(len(arrays) - 1))

    rest = _replaced(result, numbered)
    if not with_rest:
        return arrays, run.warnings
    state = run.rng.bit_generator.state
    return arrays, run.warnings, rest, run.seconds, state


def assembled(parts: Sequence[Any], order: IntArray, run: Run) -> Any:
    """The result, with values per sample; `order` has the sample in each row."""
    _, _, rest, seconds, state = parts[0]
    for category, text in dict.fromkeys(one for part in parts for one in part[1]):
        warn(text, category)
    run.add_stages(seconds)
    run.rng.bit_generator.state = state

    def by_sample(one: ByRow) -> NDArray[Any]:
        rows = np.concatenate([part[0][int(one.rows)] for part in parts])
        out = np.empty_like(rows)
        out[order] = rows
        return out

    return _replaced(rest, by_sample)


def _replaced(value: Any, change: Callable[[ByRow], Any]) -> Any:
    """The same with each `ByRow` in it changed."""
    if isinstance(value, ByRow):
        return change(value)
    if isinstance(value, dict):
        return {name: _replaced(one, change) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_replaced(one, change) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [entry.name for entry in fields(value)]
        changed = {name: _replaced(getattr(value, name), change) for name in names}
        return replace(value, **changed)
    return value
