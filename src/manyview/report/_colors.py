"""Colours of clusters, for light and for dark pages."""

import colorsys
from collections.abc import Sequence

# Consecutive colours differ in lightness as well as in hue, for readers who are colour-blind.
_LIGHT = (
    "#2368b0", "#e58606", "#1b8f6a", "#c2428a", "#52a9e0", "#b3400e",
    "#7a56c4", "#8f9b25", "#80583c", "#0c7682", "#f08fa6", "#5f6b78",
)  # fmt: skip
_DARK = (
    "#5b9df0", "#ffb04a", "#3fc795", "#ef7fc0", "#9bd6ff", "#f0733f",
    "#ab8bf5", "#cdd75a", "#c79a78", "#35b5c2", "#ffc0ce", "#a3b1c0",
)  # fmt: skip
# Turns by the golden ratio keep each hue far from the hues just before it.
_GOLDEN_TURN = 0.618034
# Lightness on light and on dark pages, used in turn.
_LEVELS = ((0.42, 0.62), (0.58, 0.76), (0.33, 0.52))


def cluster_colors(count: int) -> Sequence[tuple[str, str]]:
    """(on light pages, on dark pages) for each cluster."""
    if count <= len(_LIGHT):
        return tuple(zip(_LIGHT, _DARK, strict=True))[:count]
    levels = [_LEVELS[c % len(_LEVELS)] for c in range(count)]
    return [(_hex(c, light), _hex(c, dark)) for c, (light, dark) in enumerate(levels)]


def _hex(number: int, lightness: float) -> str:
    hue = (0.58 + number * _GOLDEN_TURN) % 1
    rgb = colorsys.hls_to_rgb(hue, lightness, 0.62)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)
