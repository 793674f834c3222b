"""Sentences on where the results differ from the paper's, and why as far as known."""

from collections.abc import Mapping

from manyview.reproduce._plan import ORDERS, PAPER_ACC, PAPER_DATA, PAPER_NMI, paper_figure
from manyview.reproduce._run import ExperimentResult
from manyview.reproduce._tables import Results

#: Rows that the paper computed itself; it copied the others from another paper.
_OWN = ("GBS", "CI-GMVC")
_COPIED = "the paper copied this row from another paper, where inputs were not normalised"
_TIES = "the published program breaks ties by rounding errors, this one does not"
_NMI = {"arithmetic": "NMI", "geometric": "NMI (geometric)"}


def differences(results: Results) -> list[str]:
    """One line per method whose ACC or NMI differs from the paper's by more than a point, or
    changes with the order of the samples."""
    lines = []
    for row in results.rows():
        gaps = _gaps(results, row, "ACC", PAPER_ACC) + _gaps(results, row, "NMI", PAPER_NMI)
        if gaps:
            reason = _TIES if row in _OWN else _COPIED
            if row not in _OWN and any(gap < 0 for _, gap in gaps):
                reason += "; this explains the higher scores here, not the lower ones"
            listed = ", ".join(text for text, _ in gaps)
            lines.append(f"{row}, ours (the paper's): {listed}. Reason: {reason}.")
        if row in _OWN:
            lines += [_which_mean(results, row, data) for data in results.datasets]
        lines += [_order(results, row, data) for data in results.datasets]
    return [line for line in lines if line]


def _gaps(
    results: Results, row: str, score: str, paper: Mapping[str, tuple[float, ...]]
) -> list[tuple[str, float]]:
    """Texts and sizes of differences of more than a point, in percent."""
    gaps = []
    for data in results.datasets:
        result, figure = results.finished(data, row), paper_figure(paper, row, data)
        if result is None or figure is None:
            continue
        kind, ours = score, result.mean(score)
        if score == "NMI":
            mean = _nearest_mean(result, figure)
            kind, ours = f"NMI with the {mean} mean", result.mean(_NMI[mean])
        gap = 100 * ours - figure
        if abs(gap) > 1:
            gaps.append((f"{kind} on {data} {100 * ours:.2f} ({figure:.2f})", gap))
    return gaps


def _order(results: Results, row: str, data: str) -> str:
    """Where the order of the samples changes ACC by more than a point."""
    stored, shuffled = (results.finished(data, row, order) for order in ORDERS)
    if stored is None or shuffled is None:
        return ""
    one, other = 100 * stored.mean("ACC"), 100 * shuffled.mean("ACC")
    if abs(one - other) <= 1:
        return ""
    return (
        f"{row} on {data} depends on the order of the samples: ACC {one:.2f} stored, "
        f"{other:.2f} shuffled."
    )


def _nearest_mean(result: ExperimentResult, figure: float) -> str:
    """The mean with which NMI is closer to the paper's figure."""
    return min(_NMI, key=lambda mean: abs(100 * result.mean(_NMI[mean]) - figure))


def _which_mean(results: Results, row: str, data: str) -> str:
    """Which mean the paper's NMI uses, where ours equals it with one mean only."""
    result, figure = results.finished(data, row), paper_figure(PAPER_NMI, row, data)
    if result is None or figure is None:
        return ""
    mean = _nearest_mean(result, figure)
    other = next(name for name in _NMI if name != mean)
    ours, with_other = (100 * result.mean(_NMI[name]) for name in (mean, other))
    if abs(ours - figure) > 0.05 or abs(with_other - figure) <= 0.05:
        return ""
    return (
        f"{row} on {data}: the paper's NMI of {figure:.2f} is that with the {mean} mean; with the "
        f"{other} mean it is {with_other:.2f}."
    )


def remarks(results: Results) -> list[str]:
    """Sentences on the tables as a whole."""
    lines = []
    if set(_OWN) <= set(results.rows()) and set(results.datasets) & set(PAPER_DATA):
        lines.append(
            "The paper's Table 3 mixes two definitions of NMI: its CI-GMVC row uses the geometric "
            "mean of the entropies, its GBS row the arithmetic mean. Tables 3a and 3b have both."
        )
        tiny = [
            f"{r.smallest} ({row} on {data})"
            for data in results.datasets
            for row in _OWN
            if (r := results.finished(data, row)) and r.smallest is not None and r.smallest <= 20
        ]
        if tiny:
            lines.append(
                "The rank constraint counts connected components of any size, so GBS and CI-GMVC "
                f"split off tiny clusters. Samples in the smallest: {', '.join(tiny)}."
            )
    for data in results.datasets:
        average, fused = (results.finished(data, row) for row in ("average graph", "CI-GMVC"))
        gap = 100 * (average.mean("ACC") - fused.mean("ACC")) if average and fused else 0
        if gap > 1:
            lines.append(
                f"On {data}, spectral clustering of the average graph, which learns nothing, has "
                f"an ACC {gap:.1f} points higher than CI-GMVC."
            )
    return lines
