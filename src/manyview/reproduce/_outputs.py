"""Everything that a run writes: tables, figure, text, and one page with all of it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from matplotlib.figure import Figure

from manyview import plotting
from manyview.datasets import MultiViewData
from manyview.report import Section, Table, figure_svg, render_page
from manyview.reproduce._cells import CellResult
from manyview.reproduce._plan import PAPER_DATA
from manyview.reproduce._tables import (
    NamedTable,
    Results,
    cell_table,
    data_table,
    score_tables,
    time_table,
    view_table,
)
from manyview.reproduce._text import differences, remarks
from manyview.runtime import write_files

#: The paper's convergence figure is of these two.
_FIGURE_DATA = ("WebKB", "100leaves")
#: What only some runs write.
_SOMETIMES = ("table4_views.csv", "table4_views.tex", "convergence.png", "convergence.svg")


def write_outputs(
    datasets: dict[str, MultiViewData], cells: Sequence[CellResult], folder: Path, command: str
) -> Path:
    """Write all files into `folder`, together; returns the page."""
    results = Results(cells)
    views = view_table(results)
    tables = [data_table(datasets), *score_tables(results), *([views] if views else [])]
    tables.append(time_table(results))
    texts = {"What differs from the paper": differences(results), "Remarks": remarks(results)}
    texts["What failed or warned"] = _troubles(results)
    curves = _curves(results)
    files = {"cells.csv": cell_table(results).csv().encode()}
    for table in tables:
        files[f"{table.name}.csv"] = table.csv().encode()
        files[f"{table.name}.tex"] = table.latex().encode()
    files |= _figure_files(curves) if curves else {}
    files["results.md"] = _markdown(tables, texts, bool(curves), command).encode()
    files["report.html"] = _page(tables, texts, curves, command).encode()
    # What an earlier run wrote must not stand beside this one's results.
    write_files(folder, files, without=_SOMETIMES)
    return folder / "report.html"


def _troubles(results: Results) -> list[str]:
    lines = [f"{r.cell.title} failed: {r.error}." for r in results.all if r.error is not None]
    for r in results.all:
        if r.error is None:
            lines += [f"{r.cell.title}: {warning}." for warning in r.warnings]
    return lines


def _markdown(
    tables: list[NamedTable], texts: dict[str, list[str]], figure: bool, command: str
) -> str:
    parts = [f"Made by `{command}`.", *(table.markdown() for table in tables)]
    if figure:
        parts.append("**Convergence**, from the first round on\n\n![curves](convergence.png)\n")
    for title, lines in texts.items():
        if lines:
            parts.append("\n".join([f"**{title}**", "", *(f"- {line}" for line in lines), ""]))
    return "\n\n".join(parts)


def _curves(results: Results) -> dict[str, dict[str, Any]]:
    """Histories of GBS and CI-GMVC, as `plot_convergence` takes them, by data set."""
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


def _figure_files(curves: dict[str, dict[str, Any]]) -> dict[str, bytes]:
    figure = Figure(figsize=(9, 3.2 * len(curves)), layout="constrained")
    axes = figure.subplots(len(curves), 2, squeeze=False)
    for row, (data, models) in zip(axes, curves.items(), strict=True):
        for ax, against in zip(row, ("round", "seconds"), strict=True):
            plotting.plot_convergence(models, ax, against=against).set_title(data)
    files = {}
    for kind in ("png", "svg"):
        stream = io.BytesIO()
        figure.savefig(stream, format=kind, dpi=150)
        files[f"convergence.{kind}"] = stream.getvalue()
    return files


def _page(
    tables: list[NamedTable],
    texts: dict[str, list[str]],
    curves: dict[str, dict[str, Any]],
    command: str,
) -> str:
    sections = [
        Section(
            table.caption,
            table=Table(table.columns, table.rows, table.note, table.text_columns),
        )
        for table in tables
    ]
    if curves:
        drawn = []
        for data, models in curves.items():
            for against in ("round", "seconds"):
                draw = partial(plotting.plot_convergence, models, against=against)
                drawn.append((f"{data}, against {against}", figure_svg(draw)))
        text = "The objective without its penalties, after every round."
        sections.append(Section("Convergence", text, figures=drawn))
    sections += [Section(title, items=lines) for title, lines in texts.items() if lines]
    return render_page("The evaluation, run again", f"Made by {command}", sections)
