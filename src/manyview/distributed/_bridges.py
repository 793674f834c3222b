"""Joining pieces of graphs whose samples are spread."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from distributed import Future

from manyview._typing import FloatArray, IntArray
from manyview.distributed._client import DaskSession
from manyview.distributed._knn import SampleRows, concat_rows, concat_samples
from manyview.graphs import GAP_DIGITS, Bridges, spanning_bridges

# Samples that look for others at a time: their rows go to every worker.
_BATCH_BYTES = 32 * 2**20
_BLOCK_BYTES = 32 * 2**20


def distributed_bridges(
    session: DaskSession, shares: Sequence[Sequence[Future]], pieces: IntArray, row_bytes: int
) -> Bridges:
    """As `closest_bridges`, for the shares of every view and block; samples by their numbers.

    `row_bytes` is what a sample takes in all views.
    """
    scales = [_mean_norm(session, own, len(pieces)) for own in shares]
    by_block = [list(own) for own in zip(*shares, strict=True)]
    step = max(1, _BATCH_BYTES // row_bytes)

    def look(seekers: IntArray, pieces: IntArray) -> tuple[FloatArray, IntArray]:
        known = session.broadcast(pieces)
        gap = np.full(len(seekers), np.inf)
        partner = np.zeros(len(seekers), dtype=np.intp)
        for start, stop in pairwise([*range(0, len(seekers), step), len(seekers)]):
            own = slice(start, stop)
            some = session.broadcast(seekers[own])
            rows = [session.submit("bridges", _picked, list(parts), some) for parts in shares]
            answers = session.gather(
                [
                    session.submit("bridges", _outside, rows, parts, some, known, scales, block=b)
                    for b, parts in enumerate(by_block)
                ]
            )
            for theirs, who in answers:  # of equally near ones the first
                nearer = (theirs < gap[own]) | ((theirs == gap[own]) & (who < partner[own]))
                gap[own] = np.where(nearer, theirs, gap[own])
                partner[own] = np.where(nearer, who, partner[own])
        return gap, partner

    return spanning_bridges(pieces, look)


def _mean_norm(session: DaskSession, shares: Sequence[Future], n_samples: int) -> float:
    """Added up in the order of the samples' numbers, as on one machine."""
    norms = np.full(n_samples, np.nan)
    for numbers, own in session.gather(
        [session.submit("bridges", _norms, share) for share in shares]
    ):
        norms[numbers] = own
    return float(norms[~np.isnan(norms)].mean()) or 1.0


def _norms(share: SampleRows) -> tuple[IntArray, FloatArray]:
    return share.samples, share.rows.sq_norms()


def _picked(parts: Sequence[SampleRows], numbers: IntArray) -> SampleRows:
    return concat_samples([part.select(np.isin(part.samples, numbers)) for part in parts])


def _outside(
    seeking: Sequence[SampleRows],
    own: Sequence[SampleRows],
    seekers: IntArray,
    pieces: IntArray,
    scales: Sequence[float],
) -> tuple[FloatArray, IntArray]:
    """For each seeker the nearest sample here that is in another piece, and how far it is."""
    here = np.unique(np.concatenate([share.samples for share in own]))
    gap, partner = np.full(len(seekers), np.inf), np.zeros(len(seekers), dtype=np.intp)
    step = max(1, _BLOCK_BYTES // (8 * max(len(here), 1)))
    for start in range(0, len(seekers) if len(here) else 0, step):
        some = seekers[start : start + step]
        total, shared = np.zeros((len(some), len(here))), np.zeros((len(some), len(here)))
        for asking, theirs, scale in zip(seeking, own, scales, strict=True):
            asking = asking.select(np.isin(asking.samples, some))
            if len(asking) and len(theirs):
                rows = np.searchsorted(some, asking.samples)
                columns = np.searchsorted(here, theirs.samples)
                total[np.ix_(rows, columns)] += _gaps(asking, theirs) / scale
                shared[np.ix_(rows, columns)] += 1
        total *= len(own) / np.maximum(shared, 1)
        total = np.round(total, GAP_DIGITS)
        total[(shared == 0) | (pieces[some][:, None] == pieces[here])] = np.inf
        gap[start : start + step] = total.min(axis=1)
        partner[start : start + step] = here[total.argmin(axis=1)]
    return gap, partner


def _gaps(asking: SampleRows, theirs: SampleRows) -> FloatArray:
    """Squared distances between all of two shares."""
    both = concat_rows([theirs.rows, asking.rows])
    norms, n = both.sq_norms(), len(theirs)
    products = both.inner_products(np.arange(n, both.n_samples))[:, :n]
    return np.maximum(norms[n:, None] + norms[:n] - 2 * products, 0.0)
