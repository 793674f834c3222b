"""The files that a run writes: tables, figure, Markdown, and one page."""

import io
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from matplotlib.figure import Figure

from manyview._version import __version__
from manyview.datasets import MultiViewData
from manyview.plotting import plot_convergence
from manyview.report import environment, figure_svg, package_file
from manyview.reproduce._plan import PAPER_DATA
from manyview.reproduce._run import ExperimentResult
from manyview.reproduce._tables import Results, Table, experiment_table, tables_of
from manyview.reproduce._text import differences, remarks
from manyview.runtime import write_files

# The paper's convergence figure shows these two.
_FIGURE_DATA = ("WebKB", "100leaves")
# Files that only some runs write; those of an earlier run are removed.
_OPTIONAL = ("table4_views.csv", "table4_views.tex", "convergence.png", "convergence.svg")

#: By data set and row: histories as `plot_convergence` takes them.
Curves = Mapping[str, Mapping[str, Any]]


def write_outputs(
    datasets: dict[str, MultiViewData],
    experiments: Sequence[ExperimentResult],
    folder: Path,
    command: str,
) -> Path:
    """Write all files into `folder`, or none; returns the path of the page."""
    results = Results(experiments)
    tables = tables_of(datasets, results)
    texts = {
        "Differences from the paper": differences(results),
        "Remarks": remarks(results),
        "Failures and warnings": _problems(results),
    }
    curves = _curves(results)
    files = {"experiments.csv": experiment_table(results).csv()}
    for table in tables:
        files |= {f"{table.name}.csv": table.csv(), f"{table.name}.tex": table.latex()}
    files["results.md"] = _markdown(tables, texts, bool(curves), command)
    files["report.html"] = render_page(tables, texts, curves, command)
    content = _figure_files(curves) | {name: text.encode() for name, text in files.items()}
    write_files(folder, content, without=_OPTIONAL)
    return folder / "report.html"


def _problems(results: Results) -> list[str]:
    lines = [f"{r.experiment.title} failed: {r.error}." for r in results.all if r.error]
    finished = [r for r in results.all if r.error is None]
    return lines + [f"{r.experiment.title}: {text}." for r in finished for text in r.warnings]


def _markdown(
    tables: Sequence[Table], texts: Mapping[str, Sequence[str]], figure: bool, command: str
) -> str:
    parts = [f"Made by `{command}`.", *(table.markdown() for table in tables)]
    if figure:
        parts.append("**Convergence**, from round 1 on\n\n![curves](convergence.png)\n")
    for title, lines in texts.items():
        if lines:
            parts.append("\n".join([f"**{title}**", "", *(f"- {line}" for line in lines), ""]))
    return "\n\n".join(parts)


def _curves(results: Results) -> Curves:
    """Histories of GBS and CI-GMVC on at most two data sets."""
    wanted = [data for data in _FIGURE_DATA if data in results.datasets]
    if not wanted:
        wanted = [data for data in results.datasets if data not in PAPER_DATA][:2]
    curves: dict[str, dict[str, Any]] = {}
    for data in wanted:
        for row in ("GBS", "CI-GMVC"):
            result = results.get(data, row)
            if result is not None and result.history:
                rounds = [SimpleNamespace(**entry) for entry in result.history]
                curves.setdefault(data, {})[row] = SimpleNamespace(history_=rounds)
    return curves


def _figure_files(curves: Curves) -> dict[str, bytes]:
    if not curves:
        return {}
    figure = Figure(figsize=(9, 3.2 * len(curves)), layout="constrained")
    axes = figure.subplots(len(curves), 2, squeeze=False)
    for row, (data, models) in zip(axes, curves.items(), strict=True):
        for ax, against in zip(row, ("round", "seconds"), strict=True):
            plot_convergence(models, ax, against=against).set_title(data)
    files = {}
    for kind in ("png", "svg"):
        stream = io.BytesIO()
        figure.savefig(stream, format=kind, dpi=150)
        files[f"convergence.{kind}"] = stream.getvalue()
    return files


def render_page(
    tables: Sequence[Table], texts: Mapping[str, Sequence[str]], curves: Curves, command: str
) -> str:
    """The page as HTML, with all texts escaped."""
    figures = [
        (f"{data}, by {against}", figure_svg(partial(plot_convergence, models, against=against)))
        for data, models in curves.items()
        for against in ("round", "seconds")
    ]
    return environment().get_template("reproduce/page.html.j2").render(
        tables=tables, figures=figures, texts=texts, command=command, version=__version__,
        base_css=package_file("report/base.css"),
    )  # fmt: skip
