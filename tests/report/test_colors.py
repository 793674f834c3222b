"""Colours of clusters."""

import re

import pytest

from manyview.report._colors import cluster_colors


@pytest.mark.parametrize("count", [1, 12, 13, 200])
def test_colours_differ(count):
    colors = cluster_colors(count)
    assert len(colors) == count
    for shade in zip(*colors, strict=True):
        assert len(set(shade)) == count
        assert all(re.fullmatch("#[0-9a-f]{6}", color) for color in shade)
