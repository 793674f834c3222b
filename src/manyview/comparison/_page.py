"""The page about a comparison."""

from typing import Any

from manyview._version import __version__
from manyview.comparison._columns import MEANINGS
from manyview.plotting import plot_alluvial, plot_cluster_number
from manyview.report import environment, figure_svg, package_file

# With more clusterings than this, the alluvial figure has no room for their titles.
_MOST_COLUMNS = 24


def render_comparison(comparison: Any, title: str, command: str | None) -> str:
    """The page about a comparison, as the text of one HTML file."""
    rows, columns = comparison.rows, comparison.shown()
    cells = zip(*columns.values(), strict=True)
    count = len(comparison.results)
    return environment().get_template("comparison/page.html.j2").render(
        title=title or f"{count} clusterings of {len(comparison.ids):,} samples",
        command=command, version=__version__, comparison=comparison,
        headings=list(columns), lines=list(zip(rows, cells, strict=True)),
        meanings={name: text for name, text in MEANINGS.items() if name in columns},
        titles=list(comparison.results), agreement=comparison.agreement.tolist(),
        figures=_figures(comparison), most_columns=_MOST_COLUMNS,
        base_css=package_file("report/base.css"),
    )  # fmt: skip


def _figures(comparison: Any) -> dict[str, str]:
    """SVG by caption."""
    figures, number = {}, comparison.cluster_number
    count = len(comparison.results)
    if 2 <= count <= _MOST_COLUMNS:
        caption = (
            "Columns are clusterings, boxes are clusters. A band is the samples that two clusters "
            "share, in the colour of their cluster in the first column."
        )
        width = max(5.0, 1.5 * count)
        figures[caption] = figure_svg(lambda ax: plot_alluvial(comparison, ax), width, 4.2)
    if number is not None:
        caption = f"Evidence for each number of clusters; {number.n_clusters} was suggested."
        figures[caption] = figure_svg(lambda ax: plot_cluster_number(number, ax), 4.8, 3.4)
    return figures
