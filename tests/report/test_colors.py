"""Colours of clusters."""

import re
from importlib.resources import files

import pytest

from manyview.report._colors import cluster_colors


@pytest.mark.parametrize("count", [1, 12, 13, 200])
def test_colours_differ(count):
    colors = cluster_colors(count)
    assert len(colors) == count
    for shade in zip(*colors, strict=True):
        assert len(set(shade)) == count
        assert all(re.fullmatch("#[0-9a-f]{6}", color) for color in shade)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_effects_do_not_look_like_clusters(scheme):
    style = files("manyview").joinpath("report/clusters.css").read_text(encoding="utf-8")
    for name in ("plus", "minus"):
        color = re.findall(rf"--{name}: (#[0-9a-f]{{6}})", style)[scheme]
        for other in cluster_colors(12):
            parts = zip(_parts(color), _parts(other[scheme]), strict=True)
            assert sum(abs(a - b) for a, b in parts) > 80, (color, other)


def _parts(color):
    return [int(color[at : at + 2], 16) for at in (1, 3, 5)]
