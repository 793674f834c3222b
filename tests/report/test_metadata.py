"""Metadata of samples, and its association with clusters."""

import numpy as np
import pandas as pd
import pytest

from manyview.report._metadata import cluster_association, metadata_columns, metadata_effects

LABELS = np.array([0, 0, 0, 1, 1, 1])
IDS = tuple("abcdef")


def test_rows_are_joined_by_id_or_in_order():
    frame = pd.DataFrame({"age": [1, 2], "kind": ["x", None]}, index=["c", "a"])
    age, kind = metadata_columns(frame, IDS, has_ids=True)
    np.testing.assert_array_equal(age.values, [2, np.nan, 1, *[np.nan] * 3])
    assert kind.categories == ("x",)
    assert kind.values.tolist() == [-1, -1, 0, -1, -1, -1]
    (whole,) = metadata_columns({"flag": [True, False] * 3}, IDS, has_ids=False)
    assert [whole.categories[code] for code in whole.values] == ["True", "False"] * 3


@pytest.mark.parametrize(
    ("metadata", "has_ids", "message"),
    [
        ({"a": [1, 2]}, False, "2 rows in column 'a'; expected 6"),
        (pd.DataFrame({"a": [1, 2]}, index=["a", "a"]), True, "2 rows with the id 'a'"),
        (pd.DataFrame({"a": [1, 2]}), True, "none of them of a sample; expected some such as 'a'"),
    ],
)
def test_metadata_that_does_not_fit(metadata, has_ids, message):
    with pytest.raises(ValueError, match=message):
        metadata_columns(metadata, IDS, has_ids)
    with pytest.raises(TypeError, match="metadata is a list; expected a data frame"):
        metadata_columns([1], IDS, has_ids)


def test_associations_and_effects():
    columns = metadata_columns(
        {"same": list("xxxyyy"), "none": list("xyzxyz"), "number": [0.0, 0, 0, 1, 1, 1],
         "flat": [1.0] * 6, "own": list("uvwxyz")}, IDS, has_ids=False,
    )  # fmt: skip
    found = [cluster_association(column, LABELS) for column in columns]
    np.testing.assert_allclose(found, [1, 0, 1, np.nan, np.nan], atol=1e-12)
    effects = metadata_effects(columns, LABELS, 2)
    assert not any(name.startswith("own") for name in effects.features)
    by_name = dict(zip(effects.features, effects.effects[0], strict=True))
    assert by_name["same: x"] == pytest.approx(np.pi)  # from none to all
    assert by_name["same: y"] == pytest.approx(-np.pi)
    assert by_name["none: x"] == by_name["flat"] == 0
    assert by_name["number"] < 0
    assert metadata_effects([], LABELS, 2) is None
