"""Where our figures differ from the paper's, and why as far as known."""

from __future__ import annotations

from manyview.reproduce._plan import METHODS, PAPER_ACC, PAPER_NMI, paper_figure
from manyview.reproduce._tables import Results

_NOT_NORMALISED = (
    "the paper took this row from another paper, where the inputs were not normalised; here every "
    "method gets the same normalised input"
)
_TIES = "ties that rounding decides in the published program; here they do not depend on it"


def differences(results: Results) -> list[str]:
    """One line for every cell that is more than a point away from the paper's figure."""
    lines = []
    for row in results.rows():
        for data in results.datasets:
            lines += _accuracy(results, row, data) + _information(results, row, data)
    return lines


def _accuracy(results: Results, row: str, data: str) -> list[str]:
    result, figure = results.get(data, row), paper_figure(PAPER_ACC, row, data)
    if result is None or result.error is not None or figure is None:
        return []
    ours = 100 * result.mean("ACC")
    if abs(ours - figure) <= 1:
        return []
    why = _TIES if row in ("GBS", "CI-GMVC") else _NOT_NORMALISED
    return [f"{row} on {data}: ACC {ours:.2f} against {figure:.2f}: {why}."]


def _information(results: Results, row: str, data: str) -> list[str]:
    result, figure = results.get(data, row), paper_figure(PAPER_NMI, row, data)
    if result is None or result.error is not None or figure is None:
        return []
    both = {"arithmetic": 100 * result.mean("NMI")}
    both["geometric"] = 100 * result.mean("NMI (geometric)")
    nearest = min(both, key=lambda mean: abs(both[mean] - figure))
    if abs(both[nearest] - figure) > 1:
        why = _TIES if row in ("GBS", "CI-GMVC") else _NOT_NORMALISED
        return [
            f"{row} on {data}: NMI {both[nearest]:.2f} ({nearest}) against {figure:.2f}: {why}."
        ]
    other = "geometric" if nearest == "arithmetic" else "arithmetic"
    if abs(both[other] - figure) > 0.3 and METHODS[row].paper:
        return [
            f"{row} on {data}: the paper's NMI of {figure:.2f} is the {nearest} mean "
            f"({both[nearest]:.2f}), not the {other} one ({both[other]:.2f})."
        ]
    return []


def remarks(results: Results) -> list[str]:
    """What holds for the tables as a whole."""
    lines = []
    if {"GBS", "CI-GMVC"} <= set(results.rows()):
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
