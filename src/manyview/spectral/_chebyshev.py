"""The lowest eigenvectors of large sparse matrices: subspace iteration with a Chebyshev filter.

A block of vectors is multiplied by a polynomial of the matrix that is large below the eigenvalues
not wanted and small on all of them, and turned towards the eigenvectors inside it
(Rayleigh-Ritz); again, until the residuals are small. The block of the last round is a good start
for the next one. The polynomial takes the place of a preconditioner: nothing is factorised, and
its degree is fitted to the gap seen so far. Products with the filter run in single precision, what
is accepted is measured in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.linalg import eigh, eigvalsh
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from manyview._typing import FloatArray, IntArray
from manyview.runtime import logger

#: Residuals ||H x - w x|| of the wanted vectors, as a share of the bound of the eigenvalues; and
#: ten times this share of the gap between w and the eigenvalues not looked for. The first limits
#: the error of what the eigenvalues are compared with, the second that of the vectors' directions.
TOLERANCE = 1e-4
#: A tolerance at which the vectors are those of a direct solver; all in double precision.
EXACT = 1e-12
# Below this share of the bound, rounding is what is left.
_FLOOR = 1e-14
# Tolerances that single precision can't reach.
_DOUBLE = 1e-7
#: Products with the whole block before the best so far is returned, and said to be no more.
MAX_PRODUCTS = 600
#: Vectors beyond the wanted ones: the filter's edge is drawn behind them.
SPARE_VECTORS = 4
_RANDOM_VECTORS = 2
# Degrees of the filter before anything is known, and for a block that was good a round ago.
_FIRST_DEGREE = 10
_NEXT_DEGREE = 8
_MAX_DEGREE = 60
# Products after which a forecast of how many more are needed is believed.
_FAIR_TRIAL = 80
# Low eigenvectors grow faster than the wanted ones; the precisions bear this much of it.
_MAX_SKEW: dict[type, float] = {np.float32: 1e5, np.float64: 1e10}


@dataclass(frozen=True)
class Step:
    """One of the steps of a filter: factor (H - shift) block - back before."""

    shift: float
    factor: float
    back: float


#: H block.
PRODUCT = Step(shift=0.0, factor=1.0, back=0.0)


def chebyshev_steps(degree: int, edge: float, bound: float) -> Iterator[Step]:
    """The steps to p(H) block, p a Chebyshev polynomial with p(0) = 1, small from `edge` on."""
    centre, radius = (bound + edge) / 2, (bound - edge) / 2
    scale = -radius / centre
    turn = 2 / scale
    yield Step(shift=centre, factor=scale / radius, back=0.0)
    for _ in range(degree - 1):
        next_scale = 1 / (turn - scale)
        yield Step(shift=centre, factor=2 * next_scale / radius, back=scale * next_scale)
        scale = next_scale


class Symmetric(Protocol):
    """A symmetric matrix H as its lowest eigenvectors are looked for: by products with blocks."""

    @property
    def n_samples(self) -> int: ...

    @property
    def bound(self) -> float:
        """No eigenvalue lies above it, and none below 0."""

    def times(self, block: FloatArray) -> FloatArray:
        """H block, in double precision."""

    def filter(self, block: FloatArray, degree: int, edge: float, precision: type) -> FloatArray:
        """p(H) block, p as in `chebyshev_steps`."""


@dataclass(frozen=True)
class Operator:
    """H = diag(diagonal) - links, symmetric, eigenvalues between 0 and `bound`; or rows of it."""

    diagonal: FloatArray
    links: csr_array
    bound: float
    first: int = 0

    @property
    def n_samples(self) -> int:
        return int(self.links.shape[1])

    def times(self, block: FloatArray) -> FloatArray:
        block = cache_aligned(block, np.float64)
        out = np.empty_like(block)
        self.step(PRODUCT, block, block, out)
        return out

    def filter(self, block: FloatArray, degree: int, edge: float, precision: type) -> FloatArray:
        before = now = cache_aligned(block, precision)
        spare = [cache_aligned(block, precision), cache_aligned(block, precision)]
        for step in chebyshev_steps(degree, edge, self.bound):
            after = spare.pop()
            self.step(step, now, before, after)
            if before is not now:
                spare.append(before)
            before, now = now, after
        return np.asarray(now, dtype=np.float64)

    def step(self, step: Step, block: Any, before: Any, out: Any) -> None:
        """Write a step, in the precision of the block; it has all rows, the others have these."""
        from manyview import _kernels

        kind = block.dtype.type
        diagonal: Any = (self.diagonal - step.shift).astype(kind)
        links = self.links
        _kernels.chebyshev_step(
            links.indptr, links.indices, links.data, diagonal, self.first, block, before,
            kind(step.factor), kind(step.back), out,
        )  # fmt: skip


@dataclass(frozen=True)
class NullSpace:
    """Eigenvectors of 0 that are known beforehand: one a piece, not 0 on that piece alone."""

    pieces: IntArray
    vector: FloatArray

    def remove_from(self, block: FloatArray) -> None:
        """Make every column orthogonal to all of them, in place."""
        from manyview import _kernels

        n = len(self.pieces)
        sums = csr_array((self.vector, (self.pieces, np.arange(n))))
        shares = (sums @ block) / sums.power(2).sum(axis=1)[:, None]
        _kernels.subtract_projections(block, self.pieces, self.vector, shares)


@dataclass(frozen=True)
class Eigenpairs:
    """Approximate eigenpairs, lowest first: the wanted ones and a few more to start from again.

    Attributes
    ----------
    values, vectors
    residual : float
        The largest of the wanted ones, as a share of the bound.
    converged : bool
        Whether all are below their tolerances.
    n_products : int
    next_degree : int
        Degree of the filter that a similar problem should begin with.
    is_hard : bool
        Whether going on from here was tried and took too long.
    """

    values: FloatArray
    vectors: FloatArray
    residual: float
    converged: bool
    n_products: int
    next_degree: int
    is_hard: bool = False

    @property
    def edge(self) -> float:
        """Where the eigenvalues that are not looked for begin, roughly."""
        return float(self.values[-1])


def cache_aligned(block: Any, kind: type) -> Any:
    """A copy that begins where a cache line does.

    Rows of 16 numbers in single precision then are one line each: large graphs are read row by
    row in no order, and what counts is how many lines that touches.
    """
    size = block.size * np.dtype(kind).itemsize
    raw = np.empty(size + 64, dtype=np.uint8)
    offset = -raw.ctypes.data % 64
    out = raw[offset : offset + size].view(kind).reshape(block.shape)
    out[...] = block
    return out


def chebyshev_eigenpairs(
    operator: Symmetric,
    wanted: int,
    null: NullSpace | None,
    start: Eigenpairs | None,
    rng: np.random.Generator,
    *,
    tolerance: float = TOLERANCE,
    max_products: int = MAX_PRODUCTS,
) -> Eigenpairs:
    """The `wanted` lowest eigenpairs besides the null space, and the next one roughly."""
    # One BLAS thread: idle ones would spin on the cores that the products need, and a sum that is
    # split among threads depends on their number.
    with threadpool_limits(1, "blas"):
        return _iterate(operator, wanted, null, start, rng, tolerance, max_products)


def _iterate(
    operator: Symmetric,
    wanted: int,
    null: NullSpace | None,
    start: Eigenpairs | None,
    rng: np.random.Generator,
    tolerance: float,
    max_products: int,
) -> Eigenpairs:
    n, bound = operator.n_samples, operator.bound
    width = min(n, -8 * (-(wanted + 1 + SPARE_VECTORS) // 8))
    precision: type = np.float64 if tolerance < _DOUBLE else np.float32
    previous = np.inf
    block = _starting_block(n, width, start, rng)
    n_products, passes = 0, 0
    next_degree = _NEXT_DEGREE if start is None else start.next_degree
    # How much the filter has lifted what is wanted above the rest, as a logarithm.
    lifted, enough = 0.0, 0.0
    if start is not None and start.edge < bound:
        block = operator.filter(block, next_degree, start.edge, precision)
        n_products, passes = next_degree, 1
        last = start.values[min(wanted, len(start.values) - 1)]
        lifted = next_degree * float(_growth(last, start.edge, bound))
    while True:
        if null is not None:
            null.remove_from(block)
        block, overlaps = _independent(block)
        image = operator.times(block)
        n_products += 1
        values, turn = eigh(block.T @ image, overlaps, check_finite=False)
        block, image = block @ turn, image @ turn
        residuals = np.linalg.norm(image - block * values, axis=0)[: wanted + 1]
        gaps = values[-1] - values[: wanted + 1]
        floor = max(1e-5 * tolerance, _FLOOR)
        tolerances = np.clip(10 * tolerance * gaps, floor * bound, tolerance * bound)
        # Of the one after those wanted only the value counts, and first of all whether it is 0.
        roughly = min(values[wanted] / 2, 10 * tolerance**0.5 * bound)
        tolerances[-1] = max(roughly, tolerances[-1])
        worst = float((residuals / tolerances).max())
        if tolerance < _DOUBLE:
            # A direction that only the random vectors have a share in, about 1 / sqrt(n), shows
            # when it is lifted so far that their Rayleigh quotients are among those wanted.
            least = max(values[wanted], _FLOOR * bound)
            enough = np.log(10 * np.sqrt(n * bound / least))
        if (worst <= 1 and lifted >= enough) or n_products >= max_products:
            break
        if worst > previous / 2:  # single precision may be what stands in the way
            precision = np.float64
        degree = _FIRST_DEGREE
        if n_products > 1:  # before that, values of random vectors tell nothing
            degree, needed = _degree(values, residuals, tolerances, bound, _MAX_SKEW[precision])
            if n_products > _FAIR_TRIAL and n_products + needed > max_products:
                break
        previous = worst
        lifted += degree * float(_growth(values[wanted], values[-1], bound))
        block = operator.filter(block, degree, float(values[-1]), precision)
        n_products += degree
        passes += 1
    residual = float(residuals[:wanted].max(initial=0.0)) / bound
    logger.debug("%d products with %d vectors, residual %.1e", n_products, width, residual)
    if start is not None and passes > 1:
        next_degree = min(next_degree + 3, _MAX_DEGREE)
    elif start is not None and worst < 0.2:
        next_degree = max(next_degree - 1, 4)
    converged = bool(worst <= 1 and lifted >= enough)
    return Eigenpairs(values, block, residual, converged, n_products, next_degree)


def _starting_block(
    n: int, width: int, start: Eigenpairs | None, rng: np.random.Generator
) -> FloatArray:
    """The last round's vectors, and at least two random ones.

    A group of samples that has come loose since then may have no share in any of those vectors;
    the filter would never find it, and the residuals would not tell.
    """
    if start is None:
        return rng.standard_normal((n, width))
    kept = start.vectors[:, : width - _RANDOM_VECTORS]
    more = rng.standard_normal((n, width - kept.shape[1])) / np.sqrt(n)
    return np.hstack([kept, more])


def _independent(block: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Columns of length 1 with the same span, and their inner products.

    They need not be orthogonal, which Rayleigh-Ritz sees to in one go, but must be far from
    depending on each other.
    """
    lengths = np.linalg.norm(block, axis=0)
    block = block / np.where(lengths > 0, lengths, 1.0)
    overlaps = block.T @ block
    if eigvalsh(overlaps, check_finite=False)[0] < 1e-6:
        block = np.linalg.qr(block)[0]
        overlaps = np.eye(block.shape[1])
    return block, overlaps


def _growth(value: Any, edge: float, bound: float) -> FloatArray:
    """Logarithm of what one degree of the filter gains an eigenvalue over those beyond the edge."""
    x = np.maximum((bound + edge - 2 * value) / (bound - edge), 1.0)
    return np.asarray(np.log(x + np.sqrt(x * x - 1)))


def _degree(
    values: FloatArray,
    residuals: FloatArray,
    tolerances: FloatArray,
    bound: float,
    max_skew: float,
) -> tuple[int, float]:
    """The degree of the next filter, and how many products are likely to be needed in all.

    That is what should bring every residual below its tolerance, with a little to spare.
    """
    edge = values[-1]
    rates = np.maximum(_growth(values[: len(residuals)], edge, bound), 1e-3)
    needed = np.log(np.maximum(3 * residuals / tolerances, 1.0)) / rates
    skew = float(_growth(0.0, edge, bound)) - rates[-1]
    limit = min(_MAX_DEGREE, np.log(max_skew) / max(skew, 1e-9))
    return int(np.clip(np.ceil(needed.max()), 4, max(limit, 4))), float(needed.max())
