"""Bridges between the connected components of distributed graphs."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from distributed import Future

from manyview._typing import FloatArray, IntArray
from manyview.distributed._client import DaskSession
from manyview.distributed._knn import SampleRows, concat_rows, concat_samples
from manyview.graphs import GAP_DIGITS, Bridges, spanning_bridges

# Bytes of the rows that search at a time: they are sent to every worker.
_BATCH_BYTES = 32 * 2**20
_BLOCK_BYTES = 32 * 2**20


def distributed_bridges(
    session: DaskSession, views: Sequence[list[Future]], components: IntArray, row_bytes: int
) -> Bridges:
    """As `closest_bridges`, for one future of `SampleRows` per view and block.

    `row_bytes` is the size of a sample in all views.
    """
    scales = [_mean_norm(session, blocks, len(components)) for blocks in views]
    by_block = [list(own) for own in zip(*views, strict=True)]
    step = max(1, _BATCH_BYTES // row_bytes)

    def nearest_outside(seekers: IntArray, components: IntArray) -> tuple[FloatArray, IntArray]:
        known = session.broadcast(components)
        gap = np.full(len(seekers), np.inf)
        partner = np.zeros(len(seekers), dtype=np.intp)
        for start, stop in pairwise([*range(0, len(seekers), step), len(seekers)]):
            own = slice(start, stop)
            some = session.broadcast(seekers[own])
            rows = [session.submit("bridges", _select, blocks, some) for blocks in views]
            answers = session.gather(
                [
                    session.submit("bridges", _outside, rows, parts, some, known, scales, block=b)
                    for b, parts in enumerate(by_block)
                ]
            )
            for gaps, partners in answers:  # of equally near samples, the first
                closer = (gaps < gap[own]) | ((gaps == gap[own]) & (partners < partner[own]))
                gap[own] = np.where(closer, gaps, gap[own])
                partner[own] = np.where(closer, partners, partner[own])
        return gap, partner

    return spanning_bridges(components, nearest_outside)


def _mean_norm(session: DaskSession, blocks: list[Future], n_samples: int) -> float:
    """The mean squared norm, summed in canonical order as on one machine."""
    norms = np.full(n_samples, np.nan)
    for samples, own in session.gather(session.map_blocks("bridges", _norms, blocks)):
        norms[samples] = own
    return float(norms[~np.isnan(norms)].mean()) or 1.0


def _norms(own: SampleRows) -> tuple[IntArray, FloatArray]:
    return own.samples, own.rows.sq_norms()


def _select(blocks: Sequence[SampleRows], samples: IntArray) -> SampleRows:
    return concat_samples([own.select(np.isin(own.samples, samples)) for own in blocks])


def _outside(
    seeking: Sequence[SampleRows],
    own: Sequence[SampleRows],
    seekers: IntArray,
    components: IntArray,
    scales: Sequence[float],
) -> tuple[FloatArray, IntArray]:
    """The distance of the nearest sample of this block in another component, and that sample.

    `seeking` and `own` are the rows, one per view, of the seekers and of this block.
    """
    here = np.unique(np.concatenate([rows.samples for rows in own]))
    gap, partner = np.full(len(seekers), np.inf), np.zeros(len(seekers), dtype=np.intp)
    step = max(1, _BLOCK_BYTES // (8 * max(len(here), 1)))
    for start in range(0, len(seekers) if len(here) else 0, step):
        some = seekers[start : start + step]
        total, shared = np.zeros((len(some), len(here))), np.zeros((len(some), len(here)))
        for left, right, scale in zip(seeking, own, scales, strict=True):
            left = left.select(np.isin(left.samples, some))
            if len(left) and len(right):
                rows = np.searchsorted(some, left.samples)
                columns = np.searchsorted(here, right.samples)
                total[np.ix_(rows, columns)] += _sq_distances(left, right) / scale
                shared[np.ix_(rows, columns)] += 1
        total *= len(own) / np.maximum(shared, 1)
        total = np.round(total, GAP_DIGITS)
        total[(shared == 0) | (components[some][:, None] == components[here])] = np.inf
        gap[start : start + step] = total.min(axis=1)
        partner[start : start + step] = here[total.argmin(axis=1)]
    return gap, partner


def _sq_distances(left: SampleRows, right: SampleRows) -> FloatArray:
    both = concat_rows([right.rows, left.rows])
    norms, n = both.sq_norms(), len(right)
    products = both.inner_products(np.arange(n, both.n_samples))[:, :n]
    return np.maximum(norms[n:, None] + norms[:n] - 2 * products, 0.0)
