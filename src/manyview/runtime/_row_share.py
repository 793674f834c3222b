"""Sums over the rows of all samples, with the same terms in the same order wherever rows are.

Rows are summed in segments whose length depends on their number alone, and the sums of the segments
are added up in order. Rows that are distributed over several processes, whole segments in each,
then have the same sums bit by bit.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from manyview.runtime._threads import in_threads

Found = TypeVar("Found")

# There are at most so many segments, of at least so many rows.
_SEGMENTS, _SHORTEST = 128, 256
# About so many bytes are drawn for a row.
_BYTES_DRAWN = 32


def segment_length(n_samples: int) -> int:
    return max(-(-n_samples // _SEGMENTS), _SHORTEST)


class RowShare:
    """The rows from `start` to `stop` of N, which are here: by default all.

    Attributes
    ----------
    n_samples : number of all rows
    start, stop : the rows that are here
    first_segment : number of segments before
    """

    def __init__(
        self, n_samples: int, start: int = 0, stop: int | None = None, first_segment: int = 0
    ) -> None:
        self.n_samples = n_samples
        self.start = start
        self.stop = n_samples if stop is None else stop
        self.first_segment = first_segment

    def combine(self, function: Callable[[list[Any]], Found], part: Any) -> Found:
        """What a function makes of the parts of all shares, in order; the same in every share."""
        return function([part])

    def __len__(self) -> int:
        return self.stop - self.start

    @cached_property
    def segments(self) -> list[slice]:
        """The segments, as slices of the rows here."""
        length = segment_length(self.n_samples)
        return [slice(a, min(a + length, len(self))) for a in range(0, len(self), length)]

    def by_segment(self, function: Callable[..., Any], *arrays: NDArray[Any]) -> list[Any]:
        """What a function makes of the rows of each segment here, in threads if there are many."""
        n_bytes = sum(array.nbytes for array in arrays)
        return in_threads(
            lambda rows: function(*(array[rows] for array in arrays)), self.segments, n_bytes
        )

    def by_row(self, function: Callable[..., Any], *arrays: NDArray[Any]) -> NDArray[Any]:
        """What a function makes of all rows here, by segments: the bits of a matrix product depend
        on its number of rows."""
        none = function(*(array[:0] for array in arrays))
        out = np.empty((len(self), *none.shape[1:]), none.dtype)

        def fill(rows: NDArray[Any], *own: NDArray[Any]) -> None:
            rows[...] = function(*own)

        self.by_segment(fill, out, *arrays)
        return out

    def total(self, function: Callable[..., Any], *arrays: NDArray[Any]) -> NDArray[Any]:
        """The sum of what a function makes of the rows of each segment."""
        return np.asarray(self.combine(total_of, self.by_segment(function, *arrays)))

    def sum(self, values: NDArray[Any]) -> NDArray[Any]:
        """The sum of all rows, in double precision."""
        return self.total(partial(np.sum, axis=0, dtype=np.float64), values)

    def highest(self, values: NDArray[Any]) -> Any:
        """The largest of all values."""
        return self.combine(max, values.max() if len(values) else -np.inf)

    def count(self, labels: NDArray[Any]) -> int:
        """How many clusters or components there are, numbered from 0."""
        return int(self.highest(labels)) + 1

    def collect(self, rows: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
        """Of some rows of all, in ascending order, the values of those that are here."""
        own = rows[np.searchsorted(rows, self.start) : np.searchsorted(rows, self.stop)]
        return np.asarray(values[own - self.start])

    def draw(
        self, rng: np.random.Generator, draw: Callable[[np.random.Generator, int], NDArray[Any]]
    ) -> NDArray[Any]:
        """Random values for the rows here: one generator per segment, and its length."""
        key = int(rng.integers(2**63))
        lengths = [rows.stop - rows.start for rows in self.segments]
        drawn = in_threads(
            lambda s: draw(np.random.default_rng([key, self.first_segment + s]), lengths[s]),
            range(len(lengths)),
            n_bytes=_BYTES_DRAWN * len(self),
        )
        return np.concatenate(drawn) if drawn else draw(np.random.default_rng(key), 0)


def total_of(parts: Sequence[Sequence[Any]]) -> Any:
    """The sum of the sums of all segments of all parts."""
    return np.sum([one for part in parts for one in part], axis=0)
