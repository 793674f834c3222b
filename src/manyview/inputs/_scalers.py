"""Scaling: what is done to the columns and rows of a view before distances are measured.

`choose_scaling` is the rule of ``scaling="auto"``. It looks at the numbers alone, never at labels.
docs/preparing-data.md explains it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array, diags_array, vstack

from manyview._typing import BoolArray, FloatArray, IntArray, Matrix
from manyview.inputs._blocks import row_blocks
from manyview.inputs._scaling import (
    DenseRows,
    SparseRows,
    normalize_rows,
    powers_of_two,
)
from manyview.runtime import check_choice, in_threads, some_eigenpairs

#: Scalings by name, with what they do.
SCALINGS: dict[str, str] = {
    "zscore": "each sample: mean 0 and variance 1 over its features",
    "unit": "each sample: length 1",
    "none": "unchanged",
    "tfidf": "square roots, rare features weigh more, each sample: length 1",
    "sqrt": "square roots, each sample: length 1, principal components",
    "logratio": "logarithms, each sample: mean 0, principal components",
    "standard": "each column: logarithms if it has a long tail, mean 0 and variance 1; then "
    "principal components",
    "center": "each column: mean 0, each sample: length 1, principal components",
}
#: What the parameter `scaling` may be for a view.
SCALING_NAMES = ("auto", "paper", *SCALINGS)
#: One name, None for "none", one per view by name, or one per view in their order.
Scaling: TypeAlias = str | Mapping[str, str | None] | Sequence[str | None] | None

# Statistics of columns come from at most so many samples, and so many bytes of them.
STATISTICS_SAMPLES = 50_000
STATISTICS_BYTES = 32 * 2**20
# Principal components kept; one for every 8 samples if that is less.
N_COMPONENTS = 50
_SAMPLES_PER_COMPONENT = 8
# In units of the largest number of the training samples; single precision can still square it.
_FAR_OUT = 1e12

# A smaller deviation, of numbers of about 1, is rounding.
_FLAT = 1e-12

# Limits of `choose_scaling`.
_TEXT_FILL, _TEXT_WIDTH = 0.3, 100  # text and sparse counts: share of non-zeros, columns
_SAME_TOTAL = 0.02  # shares and histograms: how much the samples' totals vary
_BALANCED = 0.5  # and how much less than the columns do
_NARROW = 60  # a table of single measurements rarely has more columns
_COUNT_MEAN = 1.5  # counts vary so much that mean / deviation of a column is less
_COUNT_TAIL = 20.0  # largest count of a column / median of its counts above 0
_CENTRED = 0.05  # mean / deviation of the columns of an embedding
# Centred columns in different units: large / small deviations, and their mean correlation, which
# components do not have.
_UNITS_CENTRED, _CORRELATED = 20.0, 0.1
_UNITS_WIDE = 100.0  # wide tables in different units: large / small deviations of columns

# Columns without negative numbers that are more skewed are replaced by logarithms.
_LONG_TAIL = 2.0
# Principal components are divided by singular values to this power: strong directions shall not
# hide all others. Standardised columns count about equally already.
_POWER, _POWER_STANDARD = 0.5, 0.25


def _nothing() -> FloatArray:
    return np.zeros(0)


@dataclass(frozen=True)
class Scaler:
    """A scaling with what it needs to know of a view's columns."""

    name: str
    largest: float | None = None  # the largest absolute value of the view, for "none"
    # What the name needs of these: of each column a factor, a unit where it is replaced by
    # log(1 + x / unit), else NaN, a power of two to divide it by first, and then its mean; the mean
    # of the scaled samples, and the directions that they are projected on.
    factor: FloatArray = field(default_factory=_nothing)
    unit: FloatArray = field(default_factory=_nothing)
    power: FloatArray = field(default_factory=_nothing)
    mean: FloatArray = field(default_factory=_nothing)
    centre: FloatArray = field(default_factory=_nothing)
    components: FloatArray = field(default_factory=_nothing)

    def rows(self, matrix: Matrix, chosen: IntArray | None = None) -> DenseRows | SparseRows:
        """Samples as distances are measured between them: all, or some in the order given."""
        in_cells = self.name in ("zscore", "unit", "none")  # no column matters
        if self.name == "tfidf" or (in_cells and isinstance(matrix, csr_array)):
            matrix = matrix if chosen is None else matrix[chosen]
            if self.name == "tfidf":
                return self._text_rows(matrix)
            scaled: SparseRows = self._normalized(matrix, self.largest)
            return scaled
        n, width = matrix.shape if chosen is None else (len(chosen), matrix.shape[1])
        largest = self._largest_of(matrix, chosen) if self.name == "none" else None
        rows = np.empty((n, width if in_cells else self.components.shape[1]))

        def scale(some: slice) -> None:
            block = matrix[some if chosen is None else chosen[some]]
            if in_cells:
                rows[some] = self._normalized(_dense(block), largest).data
            else:
                rows[some] = (self.columns(block) - self.centre) @ self.components

        in_threads(scale, list(row_blocks((n, width))), 8 * n * width)
        return DenseRows(rows)

    def _normalized(self, matrix: Matrix, largest: float | None) -> Any:
        return normalize_rows(matrix, None if self.name == "none" else self.name, largest)

    def _largest_of(self, matrix: FloatArray, chosen: IntArray | None) -> float:
        """The largest absolute value, of these samples where that of the view is not known."""
        if self.largest is not None:
            return self.largest
        own = np.arange(len(matrix)) if chosen is None else chosen
        blocks = (matrix[own[some]] for some in row_blocks((len(own), matrix.shape[1])))
        return float(max(np.abs(block).max() for block in blocks))

    def columns(self, matrix: Matrix) -> FloatArray:
        """Samples before they are projected on principal components."""
        dense = _dense(matrix)
        if self.name == "sqrt":
            return _unit(np.sqrt(np.maximum(dense, 0.0)))
        if self.name == "logratio":
            logs = np.log1p(np.maximum(dense, 0.0))
            return np.asarray(logs - logs.mean(axis=1, keepdims=True))
        if self.name == "center":
            return _unit(_quotient(dense, self.power) - self.mean)
        columns = _quotient(_logarithms(dense, self.unit), self.power) - self.mean
        return _quotient(columns, self.factor)

    def _text_rows(self, matrix: Matrix) -> SparseRows:
        sparse = csr_array(matrix, dtype=np.float64)
        roots = csr_array(
            (np.sqrt(np.maximum(sparse.data, 0.0)), sparse.indices, sparse.indptr), sparse.shape
        )
        weighted = normalize_rows(csr_array(roots @ diags_array(self.factor)), "unit")
        if not isinstance(weighted, SparseRows):
            raise AssertionError("sparse rows stay sparse")
        return weighted

    def empty(self, matrix: Matrix) -> BoolArray | None:
        """Samples without any feature, which are similar to none; None where they mean nothing."""
        if self.name != "tfidf":
            return None
        return np.asarray(np.asarray((matrix != 0).sum(axis=1)).ravel() == 0)


def fit_scaler(sample: Matrix, scaling: str, largest: float | None = None) -> Scaler:
    """The scaler of a view, from (some of) its samples."""
    if scaling in ("zscore", "unit", "none"):
        return Scaler(scaling, largest)
    if scaling == "tfidf":
        counts = np.asarray((abs(csr_array(sample)) > 0).sum(axis=0)).ravel()
        rarity = np.log((1 + sample.shape[0]) / (1 + counts)) + 1
        return Scaler(scaling, factor=np.sqrt(rarity))
    dense = _dense(sample)
    scaler = Scaler(scaling)
    if scaling == "center":
        power = float(powers_of_two(np.abs(dense).max(initial=0.0)))
        powers = np.full(dense.shape[1], power)
        scaler = Scaler(scaling, power=powers, mean=(dense / power).mean(axis=0))
    elif scaling == "standard":
        scaler = _standard(dense)
    columns = scaler.columns(dense)
    centre = columns.mean(axis=0)
    power = _POWER_STANDARD if scaling == "standard" else _POWER
    return replace(scaler, centre=centre, components=_components(columns - centre, power))


def statistics_sample(matrix: Matrix, n_blocks: int = 1, chosen: IntArray | None = None) -> Matrix:
    """Samples by which the columns are judged, evenly spaced among all or the chosen ones; the
    share of one block of several."""
    n, width = matrix.shape if chosen is None else (len(chosen), matrix.shape[1])
    limit = min(STATISTICS_SAMPLES, STATISTICS_BYTES // (8 * width))
    count = min(n, max(limit // n_blocks, 2))
    if count < n:
        some = np.linspace(0, n - 1, count).astype(np.intp)
        matrix = matrix[some if chosen is None else chosen[some]]
    elif chosen is not None:
        matrix = matrix[chosen]
    return matrix if isinstance(matrix, csr_array) else _dense(matrix)


def view_rows(
    matrix: Matrix, scaling: str, chosen: IntArray | None = None
) -> DenseRows | SparseRows:
    """A view's samples, scaled: all, or some in the order given."""
    return fit_scaler(statistics_sample(matrix, chosen=chosen), scaling).rows(matrix, chosen)


def joint_rows(known: Matrix, new: Matrix, scaling: str) -> DenseRows | SparseRows:
    """Training samples of a view and new ones after them, scaled as the training samples were."""
    if scaling == "none":
        new = _within_reach(known, new)
    both = vstack if isinstance(known, csr_array) else np.vstack
    return fit_scaler(statistics_sample(known), scaling).rows(both([known, new]))


def resolved_scaling(matrix: Matrix, name: str, scaling: str | None) -> str:
    """The scaling of a view for the parameter `scaling`; `matrix` may be a sample of the view."""
    width = matrix.shape[1]
    if scaling == "zscore" and width == 1:
        raise ValueError(
            f"view '{name}' has n_features=1, and z-scoring each sample over its features "
            "leaves nothing of it; expected at least 2 columns, or scaling='none'"
        )
    if scaling == "paper":
        return "zscore" if width > 2 else "none"
    sample = statistics_sample(matrix)
    chosen = choose_scaling(sample) if scaling == "auto" else scaling or "none"
    # Equal samples are neighbours after "standard" and "tfidf", but not if all are equal.
    return "none" if chosen in ("standard", "tfidf") and _is_constant(sample) else chosen


def check_scaling(parameter: str, scaling: Any) -> None:
    """Refuse what is neither a scaling nor several."""
    several = list(scaling.values()) if isinstance(scaling, Mapping) else scaling
    for name in several if isinstance(several, list | tuple) else [several]:
        check_choice(parameter, name, (*SCALING_NAMES, None))


def choose_scaling(sample: Matrix) -> str:
    """The scaling that fits the numbers of a view.

    Counts of words and other sparse counts: "tfidf". Shares and histograms, whose totals are the
    same in all samples: "sqrt". Counts in few columns: "logratio". Embeddings: "center". Few
    columns of other numbers, or many in different units: "standard". Many columns without negative
    numbers: "sqrt". Others: "center".
    """
    if isinstance(sample, csr_array):
        return "tfidf" if sample.data.min(initial=0.0) >= 0 else "unit"
    width, positive = sample.shape[1], bool(sample.min() >= 0)
    if positive and width >= _TEXT_WIDTH and (sample != 0).mean() < _TEXT_FILL:
        return "tfidf"
    power = powers_of_two(np.abs(sample).max(axis=0))
    scaled = sample / power
    deviation = scaled.std(axis=0)
    varies = deviation > _FLAT
    if positive and (not varies.any() or _are_shares(sample / power.max())):
        return "sqrt"
    if not varies.any():
        return "center"
    relative_mean = float(np.median(np.abs(scaled.mean(axis=0)[varies]) / deviation[varies]))
    if width <= _NARROW:
        if positive and relative_mean < _COUNT_MEAN and _are_counts(sample):
            return "logratio"
        centred = relative_mean <= _CENTRED
        in_units = centred and _are_units(scaled[:, varies], power[varies])
        return "standard" if in_units or not centred else "center"
    # Of many columns some hardly vary, whatever their units. A quarter is never too large.
    low, high = np.percentile(deviation[varies] * (power[varies] / 4), (5, 95))
    if high / _UNITS_WIDE > low and relative_mean > _CENTRED:
        return "standard"
    return "sqrt" if positive else "center"


def _are_units(scaled: FloatArray, power: FloatArray) -> bool:
    """Whether centred columns, divided by powers of two, are measurements in different units."""
    n, width = scaled.shape
    low, high = np.percentile(np.log2(scaled.std(axis=0)) + np.log2(power), (5, 95))
    if width < 2 or high - low < np.log2(_UNITS_CENTRED):
        return False
    correlation = (np.abs(np.corrcoef(scaled.T)).sum() - width) / (width * (width - 1))
    return bool(correlation > max(_CORRELATED, 2 / n**0.5))


def _is_constant(sample: Matrix) -> bool:
    ends = (sample.max(axis=0), sample.min(axis=0))
    high, low = (end if isinstance(end, np.ndarray) else end.toarray() for end in ends)
    return bool((high == low).all())


def _are_shares(sample: FloatArray) -> bool:
    """Whether all samples have the same total, and not because one large column hardly varies:
    where some columns of shares grow, others shrink."""
    totals = sample.sum(axis=1)
    spread = np.sqrt(sample.var(axis=0).sum())  # of the totals, if columns varied by themselves
    return bool(totals.std() < min(_SAME_TOTAL * totals.mean(), _BALANCED * spread))


def _are_counts(sample: FloatArray) -> bool:
    """Whether numbers that are not negative are whole and, in most columns, have a long tail."""
    if (sample % 1).any():
        return False
    tails = [column.max() / _median(column[column > 0]) for column in sample.T if column.any()]
    return _median(np.array(tails)) > _COUNT_TAIL


def _median(values: FloatArray) -> float:
    """The median, also if the two numbers in the middle are too large to add up."""
    with np.errstate(over="ignore"):
        return float(min(np.median(values), values.max()))


def _skewness(values: FloatArray) -> float:
    """Skewness of numbers that are not negative; 0 if they hardly vary."""
    scaled = values / values.max()
    centred = scaled - scaled.mean()
    deviation = np.sqrt((centred**2).mean())
    return float(((centred / deviation) ** 3).mean()) if deviation > _FLAT else 0.0


def _standard(dense: FloatArray) -> Scaler:
    """Columns of mean 0 and variance 1; those with a long tail by logarithms in units of their
    median, so that neither units nor single large values matter."""
    unit = np.full(dense.shape[1], np.nan)
    for column in np.flatnonzero((dense.min(axis=0) >= 0) & (dense.max(axis=0) > 0)):
        values = dense[:, column]
        if _skewness(values) > _LONG_TAIL:
            unit[column] = _median(values[values > 0])
    logs = _logarithms(dense, unit)
    power = np.where(np.isnan(unit), powers_of_two(np.abs(dense).max(axis=0)), 1.0)
    mean, deviation = (logs / power).mean(axis=0), (logs / power).std(axis=0)
    flat = deviation <= _FLAT * np.maximum(np.abs(mean), 1e-300)
    factor = np.where(flat, np.inf, deviation)  # constant columns become 0
    return Scaler("standard", factor=factor, unit=unit, power=power, mean=mean)


def _logarithms(dense: FloatArray, unit: FloatArray) -> FloatArray:
    """Columns that have a unit as log(1 + x / unit)."""
    logged = ~np.isnan(unit)
    out = np.array(dense, dtype=np.float64)
    with np.errstate(over="ignore"):
        ratio = np.maximum(out[:, logged], 0.0) / unit[logged]
    out[:, logged] = np.log1p(np.minimum(ratio, np.finfo(np.float64).max))
    return out


def _components(centred: FloatArray, power: float) -> FloatArray:
    """Directions of the largest variance, divided by a power of their singular values: samples
    then are U S^(1 - power)."""
    n, width = centred.shape
    count = min(N_COMPONENTS, width, max(n // _SAMPLES_PER_COMPONENT, 2))
    by_columns = width <= n
    gram = centred.T @ centred if by_columns else centred @ centred.T
    last = len(gram) - 1
    values, vectors = some_eigenpairs(gram, max(last - count + 1, 0), last)
    kept = values > 1e-12 * max(values[-1], 1e-300)
    if not kept.any():
        return np.zeros((width, 1))
    values, vectors = values[kept][::-1], vectors[:, kept][:, ::-1]
    if not by_columns:
        vectors = centred.T @ vectors / np.sqrt(values)
    # The sign of a vector is arbitrary; distances do not depend on it.
    return np.asarray(vectors / values ** (power / 2))


def _dense(matrix: Matrix) -> FloatArray:
    return np.asarray(matrix.toarray() if isinstance(matrix, csr_array) else matrix, np.float64)


def _unit(rows: FloatArray) -> FloatArray:
    scaled = normalize_rows(rows, "unit")
    if not isinstance(scaled, DenseRows):
        raise AssertionError("dense rows stay dense")
    return scaled.data


def _quotient(values: FloatArray, scale: FloatArray) -> FloatArray:
    """values / scale, clipped far outside of the training samples, which are near 1."""
    with np.errstate(over="ignore"):
        return np.clip(values / scale, -_FAR_OUT, _FAR_OUT)


def _within_reach(known: Matrix, new: Matrix) -> Matrix:
    """New samples clipped far outside of the known ones, which alone set the scale."""
    values = known.data if isinstance(known, csr_array) else known
    far = _FAR_OUT * float(np.abs(values).max(initial=0.0))
    if isinstance(new, csr_array):
        return csr_array((np.clip(new.data, -far, far), new.indices, new.indptr), shape=new.shape)
    return np.clip(new, -far, far)
