"""Where our figures differ from the paper's, and why as far as known."""

from __future__ import annotations

from collections.abc import Mapping

from manyview.reproduce._cells import CellResult
from manyview.reproduce._plan import ORDERS, PAPER_ACC, PAPER_DATA, PAPER_NMI, paper_figure
from manyview.reproduce._tables import Results

#: Rows that the paper ran itself; it took the others from another paper.
_OWN = ("GBS", "CI-GMVC")
_COPIED = "the paper took this row from another paper, where the inputs were not normalised"
_TIES = "ties that rounding decides in the published program; here they do not depend on it"


def differences(results: Results) -> list[str]:
    """Where ACC or NMI is more than a point away from the paper's, a line for each method."""
    lines = []
    for row in results.rows():
        gaps = _gaps(results, row, "ACC", PAPER_ACC) + _gaps(results, row, "NMI", PAPER_NMI)
        if gaps:
            worse = [text for text, gap in gaps if gap < 0]
            why = _TIES if row in _OWN else _COPIED
            if worse and row not in _OWN:
                why += "; that explains what is better here, not what is worse"
            listed = ", ".join(text for text, _ in gaps)
            lines.append(f"{row}, ours (the paper's): {listed}. Why: {why}.")
        if row in _OWN:
            lines += [_which_mean(results, row, data) for data in results.datasets]
        lines += [_order(results, row, data) for data in results.datasets]
    return [line for line in lines if line]


def _gaps(
    results: Results, row: str, score: str, paper: Mapping[str, tuple[float, ...]]
) -> list[tuple[str, float]]:
    """Texts and sizes of the gaps of more than a point, in percent."""
    gaps = []
    for data in results.datasets:
        result, figure = results.get(data, row), paper_figure(paper, row, data)
        if result is None or result.error is not None or figure is None:
            continue
        kind, ours = score, result.mean("ACC")
        if score == "NMI":
            mean, ours = _nearest_mean(result, figure)
            kind = f"NMI with the {mean} mean"
        if abs(100 * ours - figure) > 1:
            text = f"{kind} on {data} {100 * ours:.2f} ({figure:.2f})"
            gaps.append((text, 100 * ours - figure))
    return gaps


def _order(results: Results, row: str, data: str) -> str:
    """Said where the order of the samples changes ACC by more than a point."""
    stored, shuffled = (results.get(data, row, order) for order in ORDERS)
    if stored is None or shuffled is None or stored.error or shuffled.error:
        return ""
    one, other = 100 * stored.mean("ACC"), 100 * shuffled.mean("ACC")
    if abs(one - other) <= 1:
        return ""
    return f"{row} on {data} depends on the order of the samples: ACC {one:.2f}, {other:.2f}."


def _nearest_mean(result: CellResult, figure: float) -> tuple[str, float]:
    """The kind of NMI that comes closer to the paper's figure."""
    both = {"arithmetic": result.mean("NMI"), "geometric": result.mean("NMI (geometric)")}
    name = min(both, key=lambda mean: abs(100 * both[mean] - figure))
    return name, both[name]


def _which_mean(results: Results, row: str, data: str) -> str:
    """Which NMI the paper's figure is, where ours tells: equal to one, not to the other."""
    result, figure = results.get(data, row), paper_figure(PAPER_NMI, row, data)
    if result is None or result.error is not None or figure is None:
        return ""
    name, value = _nearest_mean(result, figure)
    other = "NMI (geometric)" if name == "arithmetic" else "NMI"
    if abs(100 * value - figure) > 0.05 or abs(100 * result.mean(other) - figure) <= 0.05:
        return ""
    return (
        f"{row} on {data}: the paper's NMI of {figure:.2f} is the {name} mean; the other is "
        f"{100 * result.mean(other):.2f}."
    )


def remarks(results: Results) -> list[str]:
    """What holds for the tables as a whole."""
    lines = []
    if {"GBS", "CI-GMVC"} <= set(results.rows()) and set(results.datasets) & set(PAPER_DATA):
        lines.append(
            "The paper's Table 3 mixes two definitions of NMI: its CI-GMVC row has the geometric "
            "mean of the entropies, its GBS row the arithmetic one. Both are given here."
        )
        tiny = [
            f"{r.smallest} of {row}'s on {data}"
            for data in results.datasets
            for row in ("GBS", "CI-GMVC")
            if (r := results.get(data, row)) and r.smallest is not None and r.smallest <= 20
        ]
        if tiny:
            lines.append(
                "The rank constraint counts components of any size, so GBS and CI-GMVC split off "
                f"tiny clusters. Samples in the smallest: {', '.join(tiny)}."
            )
    for data in results.datasets:
        done = {row: r for row in results.rows() if (r := results.get(data, row)) and not r.error}
        if "average graph" in done and "CI-GMVC" in done:
            gap = 100 * (done["average graph"].mean("ACC") - done["CI-GMVC"].mean("ACC"))
            if gap > 1:
                lines.append(
                    f"On {data} plain spectral clustering of the average graph, in which nothing "
                    f"is learned, is {gap:.1f} points of ACC above CI-GMVC."
                )
    return lines
