"""Rows of the tables on the page."""

import numpy as np
import pytest

from manyview.report._tables import cluster_rows, most_disagreeing
from tests.helpers.html import two_groups


def test_cluster_rows_count_and_average():
    rows = cluster_rows(two_groups(5, confidence=np.array([1.0, 0.5, np.nan, 0.2, 0.4])))
    assert [row["size"].text for row in rows] == ["3", "2"]
    assert [row["confidence"].text for row in rows] == ["0.75", "0.30"]
    assert rows[1]["size"].value == pytest.approx(2 / 3, abs=1e-4)


def test_most_disagreeing_come_first():
    values = np.array([[0.1, 0.9], [np.nan, 0.95], [np.nan, np.nan], [0.2, 0.3]])
    rows = most_disagreeing(two_groups(4, disagreement=values), {1: 7})
    assert [row["id"] for row in rows] == ["1", "0", "3"]  # the values of sample 2 are unknown
    assert [row["point"] for row in rows] == [7, None, None]
    assert [cell.text for cell in rows[0]["views"]] == ["–", "0.950"]  # noqa: RUF001
