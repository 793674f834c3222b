"""The tables, and their Markdown, CSV and LaTeX."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from manyview.datasets import MultiViewData
from manyview.reproduce._plan import METHODS, ORDERS, PAPER_ACC, PAPER_DATA, PAPER_NMI, paper_figure
from manyview.reproduce._run import ExperimentResult
from manyview.result import csv_text

# For a figure that does not exist.
_NONE = "--"
_TEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "±": r"$\pm$"}

Texts = Callable[[str, str], Sequence[str]]
# Name, caption, score, and the figures of the paper.
_SCORE_TABLES = (
    ("table2", "Table 2. ACC, percent", "ACC", PAPER_ACC),
    ("table3_arithmetic", "Table 3a. NMI with the arithmetic mean, percent", "NMI", PAPER_NMI),
    ("table3_geometric", "Table 3b. NMI with the geometric mean, percent", "NMI (geometric)",
     PAPER_NMI),
)  # fmt: skip


@dataclass(frozen=True)
class Table:
    """Rows of text. `name` is that of its files; the first `text_columns` are left-aligned."""

    name: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    text_columns: int = 1

    def markdown(self) -> str:
        lines = [" | ".join(row) for row in (self.columns, *self.rows)]
        lines.insert(1, " | ".join(["---", *["--:"] * (len(self.columns) - 1)]))
        table = "\n".join(f"| {line} |" for line in lines)
        return f"**{self.caption}**\n\n{table}\n" + (f"\n{self.note}\n" if self.note else "")

    def csv(self) -> str:
        return csv_text([self.columns, *self.rows])

    def latex(self) -> str:
        head, *body = (" & ".join(map(_escape, row)) + r" \\" for row in (self.columns, *self.rows))
        caption = re.sub(r"^Table \w+\. ", "", self.caption)  # LaTeX numbers tables itself
        lines = [
            r"\begin{table}",
            rf"\caption{{{_escape(f'{caption}. {self.note}'.strip())}}}",
            r"\begin{tabular}{l" + "r" * (len(self.columns) - 1) + "}",
            r"\hline", head, r"\hline", *body, r"\hline",
            r"\end{tabular}",
            r"\end{table}",
        ]  # fmt: skip
        return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return "".join(_TEX.get(sign, sign) for sign in text)


class Results:
    """Results by data set, row of the tables and order of samples."""

    def __init__(self, results: Sequence[ExperimentResult]) -> None:
        keys = [(r.experiment.data, r.experiment.row, r.experiment.order) for r in results]
        self._by_key = dict(zip(keys, results, strict=True))
        self.all = list(results)
        self.datasets = list(dict.fromkeys(data for data, _, _ in keys))

    def get(self, data: str, row: str, order: str = "stored") -> ExperimentResult | None:
        if row == "best single view":
            finished = [r for r in self.views(data, order) if r.error is None]
            return max(finished, key=lambda r: r.mean("ACC"), default=None)
        return self._by_key.get((data, row, order))

    def finished(self, data: str, row: str, order: str = "stored") -> ExperimentResult | None:
        """As `get`, but None for experiments that failed."""
        result = self.get(data, row, order)
        return None if result is None or result.error else result

    def views(self, data: str, order: str = "stored") -> list[ExperimentResult]:
        single = [r for r in self.all if r.experiment.view is not None]
        return [r for r in single if (r.experiment.data, r.experiment.order) == (data, order)]

    def rows(self) -> list[str]:
        """Rows of the score tables, in the order of the methods."""
        ran = {r.experiment.method for r in self.all}
        return ["best single view" if m == "single views" else m for m in METHODS if m in ran]

    def table(
        self, name: str, caption: str, heads: Sequence[str], texts: Texts, note: str = ""
    ) -> Table:
        """One row per method; per data set, one column per head with `texts(data, row)`."""
        columns = [f"{data} {head}".strip() for data in self.datasets for head in heads]
        rows = [
            [row, *(text for data in self.datasets for text in texts(data, row))]
            for row in self.rows()
        ]
        return Table(name, caption, ["method", *columns], rows, note)


def tables_of(datasets: dict[str, MultiViewData], results: Results) -> list[Table]:
    """The tables of the page, without those that have no rows."""
    tables = [_data_table(datasets), *score_tables(results)]
    tables += [_view_table(results), _time_table(results)]
    return [table for table in tables if table.rows]


def score_tables(results: Results) -> list[Table]:
    return [_score_table(results, *table) for table in _SCORE_TABLES]


def _data_table(datasets: dict[str, MultiViewData]) -> Table:
    most = max(len(data.views) for data in datasets.values())
    rows = []
    for name, data in datasets.items():
        widths = [str(view.shape[1]) for view in data.views.values()]
        counts = map(str, (data.n_samples, len(widths), data.n_clusters))
        rows.append([name, *counts, *widths, *[_NONE] * (most - len(widths))])
    columns = ["data set", "N", "V", "C", *(f"d{v + 1}" for v in range(most))]
    return Table("table1", "Table 1. Data sets", columns, rows)


def _score_table(
    results: Results, name: str, caption: str, score: str, paper: Mapping[str, tuple[float, ...]]
) -> Table:
    in_paper = any(paper_figure(paper, row, d) for row in results.rows() for d in results.datasets)

    def texts(data: str, row: str) -> list[str]:
        ours = [score_text(results.get(data, row, order), score) for order in ORDERS]
        figure = paper_figure(paper, row, data)
        return [_NONE if figure is None else f"{figure:.2f}", *ours] if in_paper else ours

    note = (
        "Stored: samples in the order of the data file; shuffled: in random order. Methods with "
        "k-means at the end: mean ± standard deviation over the seeds. The best single view is "
        "chosen by its ACC, which needs the true labels."
    )
    return results.table(name, caption, ["paper", *ORDERS] if in_paper else ORDERS, texts, note)


def summary_table(results: Results) -> Table:
    """ACC in the stored order, with the paper's in brackets: narrow enough for a terminal."""

    def texts(data: str, row: str) -> list[str]:
        figure, ours = paper_figure(PAPER_ACC, row, data), score_text(results.get(data, row), "ACC")
        return [ours if figure is None else f"{ours} ({figure:.2f})"]

    in_paper = any(data in PAPER_DATA for data in results.datasets)
    caption = "ACC in percent" + (" (the paper's in brackets)" if in_paper else "")
    return results.table("summary", caption, [""], texts)


def _view_table(results: Results) -> Table:
    """One row per view; empty where no single views were run."""
    rows = [
        [data, r.experiment.row, score_text(r, "ACC"), score_text(r, "NMI"),
         score_text(results.get(data, r.experiment.row, "shuffled"), "ACC")]
        for data in results.datasets
        for r in results.views(data)
    ]  # fmt: skip
    columns = ["data set", "view", "ACC", "NMI", "ACC shuffled"]
    caption = "Table 4. Spectral clustering of every single view, percent"
    return Table("table4_views", caption, columns, rows, text_columns=2)


def _time_table(results: Results) -> Table:
    def texts(data: str, row: str) -> list[str]:
        stored, shuffled = (results.finished(data, row, order) for order in ORDERS)
        times = [f"{result.seconds:.2f}" if result else _NONE for result in (stored, shuffled)]
        return [*times, str(stored.smallest) if stored else _NONE]

    caption = "Table 5. Time, and size of the smallest cluster"
    note = "s: seconds of one fit. experiments.csv has the results of every experiment."
    return results.table("table5_seconds", caption, ["s", "s shuffled", "smallest"], texts, note)


def experiment_table(results: Results) -> Table:
    """One row per experiment, with scores as fractions and all digits."""
    scores = ("ACC", "NMI", "NMI (geometric)", "ARI")
    columns = ["data set", "method", "order", "seeds"]
    columns += [f"{score} {kind}" for score in scores for kind in ("mean", "std")]
    columns += ["seconds", "rounds", "smallest cluster", "error"]
    rows = []
    for r in results.all:
        means = [""] * 2 * len(scores)
        if r.scores:
            means = [f"{f(score):.6f}" for score in scores for f in (r.mean, r.deviation)]
        counts = ["" if value is None else str(value) for value in (r.n_iter, r.smallest, r.error)]
        names = [r.experiment.data, r.experiment.row, r.experiment.order, str(len(r.scores))]
        rows.append([*names, *means, f"{r.seconds:.3f}", *counts])
    return Table("experiments", "Experiments", columns, rows)


def score_text(result: ExperimentResult | None, score: str) -> str:
    if result is None:
        return _NONE
    if result.error is not None:
        return "failed"
    text = f"{100 * result.mean(score):.2f}"
    return f"{text} ± {100 * result.deviation(score):.2f}" if len(result.scores) > 1 else text
