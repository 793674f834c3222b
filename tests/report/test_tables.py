"""Rows of the tables on the page."""

import numpy as np
import pytest

from manyview.report._tables import cluster_rows, column_heads, heat_cell
from tests.helpers.html import two_groups


def test_cluster_rows_count_and_average():
    rows = cluster_rows(two_groups(5, confidence=np.array([1.0, 0.5, np.nan, 0.2, 0.4])))
    assert [row["size"].text for row in rows] == ["3", "2"]
    assert [row["confidence"].text for row in rows] == ["0.75", "0.30"]
    assert rows[1]["size"].value == pytest.approx(2 / 3, abs=1e-4)


def test_the_table_of_samples_starts_with_doubtful_ones():
    columns = [{"name": "confidence", "group": ""}, {"name": "a", "group": "b", "heated": True}]
    assert [head["sorted"] for head in column_heads(columns)] == [None, "descending"]
    assert [head["sorted"] for head in column_heads(columns[:1])] == ["ascending"]


def test_huge_effects_are_not_shown_to_the_digit():
    minus = "\N{MINUS SIGN}"
    shown = [heat_cell(effect).text for effect in (0.5, -0.5, 9.99, 1000.0, -1000.0)]
    assert shown == ["+0.50", f"{minus}0.50", "+9.99", "> +10", f"< {minus}10"]
