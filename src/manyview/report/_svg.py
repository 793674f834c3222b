"""Figures as SVG text."""

import io
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

# Stands for the page's text colour in a figure.
_INK = "#010203"
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def figure_svg(
    draw: Callable[[Any], Any],
    width: float = 5.2,
    height: float = 3.6,
    colors: Mapping[str, str] | None = None,
) -> str:
    """What `draw` draws on an Axes, as SVG in the page's text colour; `colors` replace others."""
    ink = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    style: Any = dict.fromkeys(ink, _INK) | {
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "manyview",  # the same figure gives the same file
    }
    stream = io.StringIO()
    with mpl.rc_context(style), warnings.catch_warnings():
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure.add_subplot())
        # The browser renders the text, so its characters need not be in matplotlib's font.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(stream, format="svg", transparent=True, dpi=150, metadata=_NO_METADATA)
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :]
    for drawn, shown in ({_INK: "currentColor"} | dict(colors or {})).items():
        svg = svg.replace(f": {drawn}", f": {shown}")
    svg = re.sub(r' d="[^"]*"', _rounded, svg)
    # Every figure numbers its groups from 1, but ids must be unique on a page; nothing uses them.
    return re.sub(r'<g id="[^"]*"', "<g", svg)


def _rounded(path: re.Match[str]) -> str:
    """Coordinates with two digits: a hundredth of a pixel."""
    return re.sub(r"(\.\d\d)\d+", r"\1", path[0])
