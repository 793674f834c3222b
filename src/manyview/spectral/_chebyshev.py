"""The smallest eigenpairs of large sparse matrices: Chebyshev-filtered subspace iteration.

A block of vectors is multiplied by a Chebyshev polynomial of the matrix (the filter) that is small
on the unwanted eigenvalues and grows quickly below them. Rayleigh-Ritz then finds the best
eigenvectors in the span of the block. This repeats until the residuals are small. The degree of the
polynomial is chosen from the gap seen so far. Nothing is factorised, and the result is a good start
for a similar matrix. Blocks are in single precision unless tolerances or eigenvalues are too small
for it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csc_array, csr_array

from manyview._typing import FloatArray, IntArray
from manyview.runtime import RowShare, logger, one_blas_thread, total_of

#: Limit of the residuals ||H x - w x|| as a share of the bound of the eigenvalues, which bounds the
#: error of the eigenvalues. Residuals must also be below ten times this share of the gap between w
#: and the unwanted eigenvalues, which bounds the error of the eigenvectors.
TOLERANCE = 1e-4
#: A tolerance at which the vectors are those of a direct solver; all in double precision.
EXACT = 1e-12
# Below this share of the bound, residuals are rounding errors.
_FLOOR = 1e-14
# Tolerances below this can't be reached in single precision; eigenvalues below this share of the
# bound can't be told from 0 in it.
_DOUBLE, _FAINT = 1e-5, 1e-7
#: Product limit; then the best block is returned with converged=False.
MAX_PRODUCTS = 600
#: Vectors in a block beyond the wanted ones; the filter damps what is above the last of them.
SPARE_VECTORS = 4
_RANDOM_VECTORS = 2
# Columns of a block that are multiplied at a time: rows of more would not stay in the cache.
_PANEL = 32
# Degrees of the filter: of a first one without a start, of a first one with a start, and at most.
_FIRST_DEGREE = 10
_NEXT_DEGREE = 8
_MAX_DEGREE = 60
# Filters are small from some eigenvalue on, at most from this share of the bound.
_HIGHEST_EDGE = 0.99
# Products after which the predicted number of further products is trusted.
_FAIR_TRIAL = 80
# How much larger the residuals of soft vectors may be that hardly count.
_SOFTEST = 10
# Smallest eigenvalue of the inner products of columns that are far from dependent; below the other
# one, what is left is rounding errors. Attempts at making them independent.
_INDEPENDENT, _NEGLIGIBLE, _ATTEMPTS = 1e-6, 1e-15, 4
# How much more the filter may amplify the lowest eigenvectors than the last wanted one.
_MAX_SKEW: dict[type, float] = {np.float32: 1e5, np.float64: 1e10}


@dataclass(frozen=True)
class Step:
    """One step of the Chebyshev recurrence: factor (H - shift) block - back before."""

    shift: float
    factor: float
    back: float


#: H block.
PRODUCT = Step(shift=0.0, factor=1.0, back=0.0)


def chebyshev_steps(degree: int, edge: float, bound: float) -> Iterator[Step]:
    """The steps to p(H) block, p a Chebyshev polynomial with p(0) = 1, small from edge to bound."""
    centre, radius = (bound + edge) / 2, (bound - edge) / 2
    scale = -radius / centre
    turn = 2 / scale
    yield Step(shift=centre, factor=scale / radius, back=0.0)
    for _ in range(degree - 1):
        next_scale = 1 / (turn - scale)
        yield Step(shift=centre, factor=2 * next_scale / radius, back=scale * next_scale)
        scale = next_scale


class SymmetricOperator(Protocol):
    """A symmetric matrix H with eigenvalues from 0 to `bound`, known by products with blocks.

    Blocks have the rows of `share`, all or some.
    """

    @property
    def share(self) -> RowShare: ...

    @property
    def bound(self) -> float: ...

    def times(self, block: FloatArray) -> FloatArray:
        """H block, in double precision, or in that of the block."""

    def filter(self, block: FloatArray, degree: int, edge: float, precision: type) -> FloatArray:
        """p(H) block, p as in `chebyshev_steps`; may be written over the block."""


@dataclass(frozen=True)
class Operator:
    """H = diag(diagonal) - weights, or rows of it from `first` on."""

    diagonal: FloatArray
    weights: csr_array
    bound: float
    first: int = 0

    @property
    def share(self) -> RowShare:
        return RowShare(int(self.weights.shape[1]))

    def times(self, block: FloatArray) -> FloatArray:
        out = np.empty(block.shape, block.dtype)
        for columns in _panels(block):
            panel = cache_aligned(block[:, columns], block.dtype.type)
            self.step(PRODUCT, panel, panel, out, column=columns.start)
        return out

    def filter(self, block: FloatArray, degree: int, edge: float, precision: type) -> FloatArray:
        for columns in _panels(block):
            block[:, columns] = self._filtered(block[:, columns], degree, edge, precision)
        return block

    def _filtered(self, panel: FloatArray, degree: int, edge: float, precision: type) -> FloatArray:
        from manyview import _kernels

        before = now = cache_aligned(panel, precision)
        spare = [aligned_room(panel.shape, precision) for _ in range(2)]
        for step in chebyshev_steps(degree, edge, self.bound):
            after = spare.pop()
            self.step(step, now, before, after, _kernels.filter_step)
            if before is not now:
                spare.append(before)
            before, now = now, after
        return np.asarray(now)

    def step(
        self, step: Step, block: Any, before: Any, out: Any, kernel: Any = None, column: int = 0
    ) -> None:
        """Write a step into `out`, from a column on, in the precision of the block; `block` has all
        rows, the others these."""
        from manyview import _kernels

        kernel = kernel or _kernels.chebyshev_step
        kind = block.dtype.type
        diagonal: Any = (self.diagonal - step.shift).astype(kind)
        weights = self.weights
        kernel(
            weights.indptr, weights.indices, weights.data, diagonal, self.first, block, before,
            kind(step.factor), kind(step.back), out, column,
        )  # fmt: skip


@dataclass(frozen=True)
class NullSpace:
    """Known eigenvectors of 0: one per connected component, `vector` there and 0 elsewhere."""

    components: IntArray
    vector: FloatArray

    def remove_from(self, block: FloatArray, share: RowShare) -> None:
        """Make every column orthogonal to all of them, in place."""
        from manyview import _kernels

        count = share.count(self.components)

        def sums(vector: FloatArray, components: IntArray, block: FloatArray) -> FloatArray:
            own = csc_array(
                (vector, components, np.arange(len(vector) + 1)), shape=(count, len(vector))
            )
            return np.column_stack([own @ block, own @ vector])

        found = share.total(sums, self.vector, self.components, block)
        coefficients = found[:, :-1] / found[:, -1:]
        _kernels.subtract_projections(block, self.components, self.vector, coefficients)


@dataclass(frozen=True)
class Eigenpairs:
    """Approximate eigenpairs, smallest first: the wanted ones and a few more for a warm start."""

    values: FloatArray
    vectors: FloatArray
    residual: float  # the largest residual of the wanted ones, as a share of the bound
    converged: bool  # whether all residuals are below their tolerances
    n_products: int
    next_degree: int  # first degree of the filter for a similar problem
    is_hard: bool = False  # whether starting from here was tried and took too long

    @property
    def edge(self) -> float:
        """About where the unwanted eigenvalues begin."""
        return float(self.values[-1])


def block_width(wanted: int) -> int:
    """Vectors in a block, to find so many eigenvectors: rows are whole or half cache lines."""
    least = wanted + 1 + SPARE_VECTORS
    step = 8 if least <= 16 else 16
    return -step * (-least // step)


def _panels(block: FloatArray) -> list[slice]:
    """Columns that are multiplied at a time."""
    return [slice(c, c + _PANEL) for c in range(0, block.shape[1], _PANEL)]


def cache_aligned(block: Any, kind: type) -> Any:
    """The block, or a copy of it, that begins at a cache line.

    16 numbers in single precision then are one line. Products read rows in random order, so their
    time depends on the number of lines.
    """
    if block.dtype == kind and block.flags.c_contiguous and block.ctypes.data % 64 == 0:
        return block
    out = aligned_room(block.shape, kind)
    out[...] = block
    return out


def aligned_room(shape: tuple[int, ...], kind: type) -> Any:
    """An array without values that begins at a cache line."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    raw = np.empty(size + 64, dtype=np.uint8)
    offset = -raw.ctypes.data % 64
    return raw[offset : offset + size].view(kind).reshape(shape)


@one_blas_thread()
def chebyshev_eigenpairs(
    operator: SymmetricOperator,
    wanted: int,
    null: NullSpace | None,
    start: Eigenpairs | None,
    rng: np.random.Generator,
    *,
    tolerance: float = TOLERANCE,
    max_products: int = MAX_PRODUCTS,
    is_soft: bool = False,
) -> Eigenpairs:
    """The `wanted` smallest eigenpairs besides the null space, and roughly the next one.

    `is_soft` tells that vectors count less the nearer they are to the unwanted ones. Then residuals
    may grow with the root of the first gap / their own, up to ten times, and single precision is
    always enough.
    """
    share, bound = operator.share, operator.bound
    n = share.n_samples
    width = min(n, block_width(wanted))
    precision: type = np.float64 if tolerance < _DOUBLE else np.float32
    previous = np.inf
    block: Any = _starting_block(share, width, start, rng, precision)
    n_products, passes = 0, 0
    next_degree = _NEXT_DEGREE if start is None else start.next_degree
    # Logarithms: how much filters have amplified the last wanted vector over the rest, and how
    # much is needed.
    gained, enough = 0.0, 0.0
    if start is not None and start.edge < bound:
        block = operator.filter(block, next_degree, start.edge, precision)
        n_products, passes = next_degree, 1
        last = start.values[min(wanted, len(start.values) - 1)]
        gained = next_degree * float(_growth(last, start.edge, bound))
    elif start is None:
        _remove(null, block, share)  # before the filter amplifies it most
        edge = min(_mean_eigenvalue(operator, block[:, :1]), _HIGHEST_EDGE * bound)
        block = operator.filter(block, _FIRST_DEGREE, edge, precision)
        n_products = _FIRST_DEGREE + 1
    while True:
        _remove(null, block, share)
        overlaps, lengths = independent(block, share)
        image = operator.times(block)
        n_products += 1
        inner = share.by_segment(inner_products, block, image)
        values, turn = share.combine(partial(_ritz, overlaps, lengths), inner)
        compare = partial(_turn_and_compare, turn.astype(block.dtype), values.astype(block.dtype))
        residuals = np.sqrt(share.total(compare, block, image))[: wanted + 1]
        del image
        gaps = values[-1] - values[: wanted + 1]
        floor = max(1e-5 * tolerance, _FLOOR)
        if is_soft:
            shares = np.maximum(gaps / max(gaps[0], floor), 1 / _SOFTEST**2)
            tolerances = tolerance * bound / np.sqrt(shares)
        else:
            tolerances = np.clip(10 * tolerance * gaps, floor * bound, tolerance * bound)
        # The one after the wanted ones: only its value counts, and mainly whether it is 0.
        roughly = min(values[wanted] / 2, 10 * tolerance**0.5 * bound)
        tolerances[-1] = max(roughly, tolerances[-1])
        worst = float((residuals / tolerances).max())
        if tolerance < _DOUBLE:
            # A wanted vector may be in the block only by its share, about 1 / sqrt(n), in the
            # random vectors. After this gain its Rayleigh quotient is among the wanted ones.
            least = max(values[wanted], _FLOOR * bound)
            enough = np.log(10 * np.sqrt(n * bound / least))
        is_blurred = precision is np.float32 and not is_soft and values[0] < _FAINT * bound
        done = worst <= 1 and gained >= enough and not is_blurred
        if done or n_products >= max_products:
            break
        if is_blurred or (worst > previous / 2 and not is_soft):  # single may be the limit
            precision = np.float64
        edge = min(float(values[-1]), _HIGHEST_EDGE * bound)
        rates = np.maximum(_growth(values[: wanted + 1], edge, bound), 1e-3)
        skew = float(_growth(0.0, edge, bound)) - rates[-1]
        degree, needed = _degree(residuals / tolerances, rates, skew, _MAX_SKEW[precision])
        if n_products > _FAIR_TRIAL and n_products + needed > max_products:
            break
        previous = worst
        gained += degree * float(_growth(values[wanted], edge, bound))
        block = block.astype(precision, copy=False)
        block = operator.filter(block, degree, edge, precision)
        n_products += degree
        passes += 1
    residual = float(residuals[:wanted].max(initial=0.0)) / bound
    logger.debug("%d products with %d vectors, residual %.1e", n_products, width, residual)
    if start is not None and passes > 1:
        next_degree = min(next_degree + 3, _MAX_DEGREE)
    elif start is not None and worst < 0.2:
        next_degree = max(next_degree - 1, 4)
    return Eigenpairs(values, block, residual, bool(done), n_products, next_degree)


def _remove(null: NullSpace | None, block: FloatArray, share: RowShare) -> None:
    if null is not None:
        null.remove_from(block, share)


def _mean_eigenvalue(operator: SymmetricOperator, vector: FloatArray) -> float:
    """About the mean of all eigenvalues: the Rayleigh quotient of a random vector."""
    share, vector = operator.share, np.ascontiguousarray(vector)
    product = share.total(inner_products, vector, operator.times(vector))
    square = share.total(inner_products, vector, vector)
    return float(product[0, 0] / square[0, 0]) if square[0, 0] > 0 else 0.0


def _starting_block(
    share: RowShare, width: int, start: Eigenpairs | None, rng: np.random.Generator, kind: type
) -> FloatArray:
    """The vectors of the start, and at least two random ones, in the precision `kind`.

    A group of samples that became disconnected since then may have no share in the vectors of the
    start; without random ones it would never be found, and residuals would not show it.
    """
    kept = None if start is None else start.vectors[:, : width - _RANDOM_VECTORS]
    count = width - (0 if kept is None else kept.shape[1])
    length = np.sqrt(share.n_samples)

    def draw(own: np.random.Generator, rows: int) -> FloatArray:
        return np.asarray(own.standard_normal((rows, count), dtype=kind) / kind(length))

    more = share.draw(rng, draw)
    return more if kept is None else np.hstack([kept.astype(kind, copy=False), more])


def independent(block: FloatArray, share: RowShare) -> tuple[FloatArray, FloatArray]:
    """Inner products of the columns as if they had length 1, and their lengths.

    Rayleigh-Ritz makes columns orthogonal; they only must be far from linearly dependent. If they
    are not, others with the same span are written over the block.
    """
    for attempt in range(_ATTEMPTS):
        inner = share.by_segment(inner_products, block, block)
        overlaps, lengths, turn = share.combine(_whitening, inner)
        if turn is None or attempt == _ATTEMPTS - 1:
            break
        share.by_segment(partial(_turn, (turn / lengths[:, None]).astype(block.dtype)), block)
    return overlaps, lengths


def _whitening(parts: Any) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Inner products of the columns at length 1, their lengths, and what makes them orthogonal if
    they are nearly dependent."""
    overlaps = total_of(parts)
    lengths = np.sqrt(np.diag(overlaps))
    lengths = np.where(lengths > 0, lengths, 1.0)
    overlaps = overlaps / (lengths[:, None] * lengths)
    values, vectors = eigh(overlaps, check_finite=False)
    if values[0] >= _INDEPENDENT:
        return overlaps, lengths, None
    return overlaps, lengths, vectors / np.sqrt(np.maximum(values, _NEGLIGIBLE))


def _ritz(overlaps: FloatArray, lengths: FloatArray, parts: Any) -> tuple[FloatArray, FloatArray]:
    inner = total_of(parts) / (lengths[:, None] * lengths)
    values, turn = eigh(inner, overlaps, check_finite=False)
    return values, turn / lengths[:, None]


def inner_products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Inner products of columns, in double precision."""
    return np.asarray(left.T @ right, dtype=np.float64)


def _turn(turn: FloatArray, block: FloatArray) -> None:
    """Write block @ turn over the block."""
    block[...] = block @ turn


def _turn_and_compare(
    turn: FloatArray, values: FloatArray, block: FloatArray, image: FloatArray
) -> FloatArray:
    """Squared residuals of the Ritz vectors block @ turn, which are written over the block."""
    _turn(turn, block)
    gaps = image @ turn
    gaps -= block * values
    return np.asarray(np.einsum("ij,ij->j", gaps, gaps, dtype=np.float64))


def _growth(value: Any, edge: float, bound: float) -> FloatArray:
    """Log of how much one degree amplifies an eigenvalue over those above the edge."""
    x = np.maximum((bound + edge - 2 * value) / (bound - edge), 1.0)
    return np.asarray(np.log(x + np.sqrt(x * x - 1)))


def _degree(
    excess: FloatArray, rates: FloatArray, skew: float, max_skew: float
) -> tuple[int, float]:
    """The degree of the next filter, and the predicted number of further products.

    The degree should bring every residual, `excess` times its tolerance now, below it, with a
    margin. Per degree, `rates` are the logarithms of what vectors are amplified by, and `skew` is
    how much more that is for the lowest than for the last.
    """
    needed = float((np.log(np.maximum(3 * excess, 1.0)) / rates).max())
    limit = min(_MAX_DEGREE, np.log(max_skew) / max(skew, 1e-9))
    return int(np.clip(np.ceil(needed), 4, max(limit, 4))), needed
