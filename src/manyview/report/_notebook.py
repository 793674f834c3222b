"""A result in a notebook: sizes of clusters, view weights and the map, as a piece of HTML."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from manyview._typing import FloatArray, IntArray
from manyview.plotting import map_samples
from manyview.report._colors import cluster_colors

# A notebook waits for the map: with more samples it is left to the report.
MAX_MAPPED = 2_000
# Clusters that the table shows.
_MAX_ROWS = 20
_SIZE = 240  # of the map, in pixels


def notebook_html(result: Any) -> str:
    """Sizes, weights and map of a result of `manyview.cluster`; names are escaped."""
    colors = [color for color, _ in cluster_colors(result.n_clusters)]
    parts = [_sizes(result, colors), _weights(result)]
    if not result.is_distributed and len(result.labels) <= MAX_MAPPED:
        parts.append(_map(map_samples(result), result.labels, colors))
    else:
        parts.append("<p>For the map: <code>result.report('report.html')</code></p>")
    head = f"<p><b>{escape(result.headline())}</b></p>"
    notes = "".join(f"<p>Warning: {escape(text)}</p>" for text in result.warnings)
    body = "".join(f"<div>{part}</div>" for part in parts)
    style = "display: flex; flex-wrap: wrap; gap: 2em; align-items: flex-start"
    return f'<div>{head}<div style="{style}">{body}</div>{notes}</div>'


def _sizes(result: Any, colors: Sequence[str]) -> str:
    sizes = np.bincount(result.labels, minlength=result.n_clusters)
    confidence = np.bincount(result.labels, np.nan_to_num(result.confidence)) / np.maximum(sizes, 1)
    rows = [
        (f'<span style="color: {color}">&#9679;</span> {c}', f"{size:,}", f"{mean:.2f}")
        for c, (color, size, mean) in enumerate(zip(colors, sizes, confidence, strict=True))
    ]
    left = len(rows) - _MAX_ROWS
    more = f"<p>and {left} more</p>" if left > 0 else ""
    return _table(("cluster", "samples", "mean confidence"), rows[:_MAX_ROWS]) + more


def _weights(result: Any) -> str:
    pairs = zip(result.view_names, result.view_weights, strict=True)
    return _table(("view", "weight"), [(escape(name), f"{weight:.2f}") for name, weight in pairs])


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [[f"<th>{name}</th>" for name in head]]
    lines += [[f"<td>{cell}</td>" for cell in row] for row in rows]
    return "<table>" + "".join(f"<tr>{''.join(line)}</tr>" for line in lines) + "</table>"


def _map(coordinates: FloatArray, labels: IntArray, colors: Sequence[str]) -> str:
    """Samples as dots in the colours of their clusters."""
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    spread = max(float((high - low).max()), 1e-12)
    places = 4 + (_SIZE - 8) * (coordinates - (low + high - spread) / 2) / spread
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{colors[label]}"/>'
        for (x, y), label in zip(places.tolist(), labels.tolist(), strict=True)
    )
    size = f'width="{_SIZE}" height="{_SIZE}" viewBox="0 0 {_SIZE} {_SIZE}"'
    return f'<svg {size} role="img" aria-label="map of the samples">{dots}</svg>'
