"""A page from sections of text, tables and figures."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from manyview._version import __version__

# Figures are drawn in this colour where the page's own text colour is meant.
_INK = "#010203"
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


@dataclass(frozen=True)
class Table:
    """Rows of text; the first `text_columns` are set to the left, figures to the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    text_columns: int = 1


@dataclass(frozen=True)
class Section:
    """A heading, a paragraph, and a table, figures (a caption and SVG text each) or a list."""

    title: str
    text: str = ""
    table: Table | None = None
    figures: Sequence[tuple[str, str]] = ()
    items: Sequence[str] = ()


def render_page(title: str, subtitle: str, sections: Sequence[Section]) -> str:
    """The page as HTML; every text is escaped, figures are taken as they are."""
    from manyview.report._assets import environment, own_file

    template = environment().get_template("page.html.j2")
    return template.render(
        title=title,
        subtitle=subtitle,
        sections=sections,
        version=__version__,
        base_css=own_file("base.css"),
    )


def figure_svg(draw: Callable[[Any], Any], width: float = 5.2, height: float = 3.6) -> str:
    """What `draw` puts on an Axes, as SVG that takes the page's text colour."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    ink = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    style: Any = dict.fromkeys(ink, _INK) | {
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "manyview",  # the same figure gives the same file
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure.add_subplot())
        stream = io.StringIO()
        with warnings.catch_warnings():
            # The browser sets the text, in a font of its own: it need not be in matplotlib's.
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            figure.savefig(stream, format="svg", transparent=True, dpi=150, metadata=_NO_METADATA)
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :].replace(f": {_INK}", ": currentColor")
    # Every figure numbers its groups from 1, but a page's ids are unique; nothing refers to these.
    return re.sub(r'<g id="[^"]*"', "<g", svg)
