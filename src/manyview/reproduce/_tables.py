"""Tables as rows of text, and their Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from manyview.datasets import MultiViewData
from manyview.reproduce._cells import CellResult
from manyview.reproduce._plan import METHODS, ORDERS, PAPER_ACC, PAPER_DATA, PAPER_NMI, paper_figure

# What stands in a cell that has no figure.
_NONE = "--"


@dataclass(frozen=True)
class NamedTable:
    """A table with the name of its files, a caption and a note."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    text_columns: int = 1

    def markdown(self) -> str:
        lines = [
            f"**{self.caption}**",
            "",
            "| " + " | ".join(self.columns) + " |",
            "| --- |" + " --: |" * (len(self.columns) - 1),
            *("| " + " | ".join(row) + " |" for row in self.rows),
        ]
        return "\n".join([*lines, "", self.note, ""] if self.note else [*lines, ""])

    def csv(self) -> str:
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows([self.columns, *self.rows])
        return stream.getvalue()

    def latex(self) -> str:
        def line(cells: Sequence[str]) -> str:
            return " & ".join(_escape(cell) for cell in cells) + r" \\"

        return "\n".join(
            [
                r"\begin{table}",
                rf"\caption{{{_escape(_without_number(self.caption))} {_escape(self.note)}}}",
                r"\begin{tabular}{l" + "r" * (len(self.columns) - 1) + "}",
                r"\hline",
                line(self.columns),
                r"\hline",
                *(line(row) for row in self.rows),
                r"\hline",
                r"\end{tabular}",
                r"\end{table}",
                "",
            ]
        )


def _without_number(caption: str) -> str:
    """LaTeX numbers tables by itself."""
    return re.sub(r"^Table \w+\. ", "", caption)


def _escape(text: str) -> str:
    for raw, tex in [("\\", r"\textbackslash{}"), ("&", r"\&"), ("%", r"\%"), ("_", r"\_"),
                     ("#", r"\#"), ("±", r"$\pm$")]:  # fmt: skip
        text = text.replace(raw, tex)
    return text


class Results:
    """Cell results by data set, row and order."""

    def __init__(self, results: Sequence[CellResult]) -> None:
        self._by_key = {(r.cell.data, r.cell.row, r.cell.order): r for r in results}
        self.all = list(results)
        self.datasets = list(dict.fromkeys(r.cell.data for r in results))

    def get(self, data: str, row: str, order: str = "stored") -> CellResult | None:
        if row == "best single view":
            done = [r for r in self.views(data, order) if r.error is None]
            return max(done, key=lambda r: r.mean("ACC")) if done else None
        return self._by_key.get((data, row, order))

    def views(self, data: str, order: str = "stored") -> list[CellResult]:
        return [
            r for r in self.all
            if r.cell.data == data and r.cell.view is not None and r.cell.order == order
        ]  # fmt: skip

    def rows(self) -> list[str]:
        """Rows of the score tables, in the order of the methods."""
        ran = {r.cell.method for r in self.all}
        return ["best single view" if m == "single views" else m for m in METHODS if m in ran]


def data_table(datasets: dict[str, MultiViewData]) -> NamedTable:
    widest = max(len(data.views) for data in datasets.values())
    rows = []
    for name, data in datasets.items():
        widths = [str(view.shape[1]) for view in data.views.values()]
        widths += [_NONE] * (widest - len(widths))
        rows.append(
            (name, str(data.n_samples), str(len(data.views)), str(data.n_clusters), *widths)
        )
    columns = ("data set", "N", "V", "C", *(f"d{v + 1}" for v in range(widest)))
    return NamedTable("table1", "Table 1. Data sets", columns, tuple(rows))


def score_tables(results: Results) -> list[NamedTable]:
    return [
        _score_table(results, "table2", "Table 2. ACC, percent", "ACC", PAPER_ACC),
        _score_table(
            results, "table3_arithmetic", "Table 3a. NMI with the arithmetic mean, percent",
            "NMI", PAPER_NMI,
        ),
        _score_table(
            results, "table3_geometric", "Table 3b. NMI with the geometric mean, percent",
            "NMI (geometric)", PAPER_NMI,
        ),
    ]  # fmt: skip


def _score_table(
    results: Results, name: str, caption: str, score: str, paper: Mapping[str, tuple[float, ...]]
) -> NamedTable:
    in_paper = any(paper_figure(paper, row, d) for row in results.rows() for d in results.datasets)
    heads = ("paper", *ORDERS) if in_paper else ORDERS
    columns = ("method", *(f"{data} {head}" for data in results.datasets for head in heads))
    rows = []
    for row in results.rows():
        cells = [row]
        for data in results.datasets:
            if in_paper:
                figure = paper_figure(paper, row, data)
                cells.append(_NONE if figure is None else f"{figure:.2f}")
            cells += [score_text(results.get(data, row, order), score) for order in ORDERS]
        rows.append(tuple(cells))
    note = (
        "Each data set in the order its file has and shuffled. Methods that end with k-means: mean "
        "± standard deviation over the seeds. The best single view is chosen by its ACC, which "
        "nobody without the labels could do."
    )
    return NamedTable(name, caption, columns, tuple(rows), note)


def summary_table(results: Results) -> NamedTable:
    """ACC in the stored order with the paper's figure in brackets: narrow enough for a terminal."""
    rows = []
    for row in results.rows():
        cells = [row]
        for data in results.datasets:
            figure = paper_figure(PAPER_ACC, row, data)
            ours = score_text(results.get(data, row), "ACC")
            cells.append(ours if figure is None else f"{ours} ({figure:.2f})")
        rows.append(tuple(cells))
    in_paper = any(data in PAPER_DATA for data in results.datasets)
    caption = "ACC in percent" + (" (the paper's in brackets)" if in_paper else "")
    return NamedTable("summary", caption, ("method", *results.datasets), tuple(rows))


def view_table(results: Results) -> NamedTable | None:
    """Every single view by itself."""
    rows = [
        (data, r.cell.row, score_text(r, "ACC"), score_text(r, "NMI"),
         score_text(results.get(data, r.cell.row, "shuffled"), "ACC"))
        for data in results.datasets
        for r in results.views(data)
    ]  # fmt: skip
    columns = ("data set", "view", "ACC", "NMI", "ACC shuffled")
    caption = "Table 4. Spectral clustering of every single view, percent"
    if not rows:
        return None
    return NamedTable("table4_views", caption, columns, tuple(rows), text_columns=2)


def cell_table(results: Results) -> NamedTable:
    """Every cell by itself, figures as fractions, for machines to read."""
    scores = ("ACC", "NMI", "NMI (geometric)", "ARI")
    columns = ["data set", "method", "order", "seeds"]
    for score in scores:
        columns += [f"{score} mean", f"{score} std"]
    columns += ["seconds", "rounds", "smallest cluster", "error"]
    rows = []
    for r in results.all:
        row = [r.cell.data, r.cell.row, r.cell.order, str(len(r.scores))]
        for score in scores:
            both = [r.mean(score), r.deviation(score)] if r.scores else []
            row += [f"{value:.6f}" for value in both] or ["", ""]
        counts = [r.n_iter, r.smallest, r.error]
        row += [f"{r.seconds:.3f}", *("" if count is None else str(count) for count in counts)]
        rows.append(tuple(row))
    return NamedTable("cells", "Every cell", tuple(columns), tuple(rows))


def time_table(results: Results) -> NamedTable:
    """Seconds of the fits, and the smallest cluster found."""
    heads = ("s", "s shuffled", "smallest")
    columns = ("method", *(f"{d} {what}" for d in results.datasets for what in heads))
    rows = []
    for row in results.rows():
        cells = [row]
        for data in results.datasets:
            r = results.get(data, row)
            again = results.get(data, row, "shuffled")
            times = [f"{x.seconds:.2f}" if x and not x.error else _NONE for x in (r, again)]
            cells += [*times, str(r.smallest) if r and not r.error else _NONE]
        rows.append(tuple(cells))
    note = "Seconds of one fit; size of the smallest cluster. cells.csv has every cell by itself."
    return NamedTable(
        "table5_seconds", "Table 5. Time, and tiny clusters", columns, tuple(rows), note
    )


def score_text(result: CellResult | None, score: str) -> str:
    if result is None:
        return _NONE
    if result.error is not None:
        return "failed"
    text = f"{100 * result.mean(score):.2f}"
    return f"{text} ± {100 * result.deviation(score):.2f}" if len(result.scores) > 1 else text
