"""Work in threads has the results of a loop, bit by bit, and passes errors on."""

import threading

import numba
import numpy as np
import pytest

from manyview.runtime import RowShare, in_threads
from manyview.runtime import _threads as threads


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("count", [0, 1, 3, 50])
def test_same_as_a_loop(count, n_threads, monkeypatch):
    monkeypatch.setattr(threads, "n_threads", lambda: n_threads)
    seen = set()

    def square(part):
        seen.add(threading.current_thread())
        return part**2

    assert in_threads(square, range(count), threads._WORTH_THREADS) == [k**2 for k in range(count)]
    assert threading.main_thread() not in seen
    seen.clear()
    assert in_threads(square, range(count), threads._WORTH_THREADS - 1) == [
        k**2 for k in range(count)
    ]
    assert seen <= {threading.main_thread()}


def test_errors_are_passed_on():
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda part: 1 / part, [2, 1, 0, 1], threads._WORTH_THREADS)


@pytest.mark.parametrize("worth", [0, np.inf])
def test_rows_by_segment(rng, monkeypatch, worth):
    """Products of segments, wherever they are computed."""
    monkeypatch.setattr(threads, "_WORTH_THREADS", worth)
    share, rows, turn = RowShare(1000), rng.random((1000, 7)), rng.random((7, 3))
    found = share.by_row(lambda some: some @ turn, rows)
    expected = np.concatenate([rows[some] @ turn for some in share.segments])
    np.testing.assert_array_equal(found, expected)
    assert len(share.segments) == 4
    assert share.draw(rng, lambda own, count: own.random((count, 2))).shape == (1000, 2)


def test_threads_are_those_of_numba():
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        assert threads.n_threads() == 1
    finally:
        numba.set_num_threads(before)
