"""One table cut into views by its columns, in estimators and in `manyview.cluster`."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import manyview
from manyview import GBS
from manyview.inputs import view_columns
from tests.helpers.blobs import blobs

NAMES = [f"f{i}" for i in range(30)]  # 8 + 12 + 10 columns
FORMS = {
    "widths": [8, 12, 10],
    "slices": [slice(8), slice(8, 20), slice(20, None)],
    "positions": [range(8), list(range(8, 20)), np.arange(20, 30)],
    "names": [NAMES[:8], NAMES[8:20], NAMES[20:]],
    "dict": {"view0": NAMES[:8], "view1": slice(8, 20), "view2": list(range(20, 30))},
}


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(np.hstack(list(blobs().views.values())), columns=NAMES)


@pytest.fixture(scope="module")
def expected():
    return manyview.cluster(blobs().views, 3, method="gbs")


@pytest.mark.parametrize("form", FORMS)
def test_every_way_to_say_it_gives_the_same_views(form, frame, expected):
    columns = view_columns(FORMS[form], 30, NAMES)
    for (name, own), view in zip(columns.items(), blobs().views.values(), strict=True):
        np.testing.assert_array_equal(frame.iloc[:, own], view, err_msg=name)
    model = clone(GBS(3, views=FORMS[form], random_state=0)).fit(frame)
    np.testing.assert_array_equal(model.labels_, expected.labels)
    np.testing.assert_array_equal(model.predict(frame), expected.predict(blobs().views).labels)
    assert model.to_model().views[1].features == tuple(NAMES[8:20])


@pytest.mark.parametrize("wrap", [pd.DataFrame, pl.DataFrame, np.asarray, csr_array])
def test_cluster_and_predict_cut_alike(wrap, frame, expected):
    table = wrap(frame.to_numpy())
    result = manyview.cluster(table, 3, method="gbs", views=FORMS["widths"])
    np.testing.assert_array_equal(result.labels, expected.labels)
    again = result.predict(table)
    np.testing.assert_array_equal(again.labels, expected.predict(blobs().views).labels)
    np.testing.assert_array_equal(result.predict(blobs().views).labels, again.labels)


def test_a_frame_keeps_its_index_and_other_columns(frame, expected):
    named = frame.set_axis([f"s{i}" for i in range(90)]).assign(note="text")
    views = {"a": NAMES[:8], "b": NAMES[8:20], "c": NAMES[20:]}
    result = manyview.cluster(named, 3, method="gbs", views=views)
    np.testing.assert_array_equal(result.labels, expected.labels)
    assert result.ids[0] == "s0"
    assert result.view_names == ("a", "b", "c")
    assert result.tables.features["b"] == tuple(NAMES[8:20])
    np.testing.assert_array_equal(
        manyview.cluster(pl.from_pandas(named), 3, method="gbs", views=views).labels, result.labels
    )
    assert result.predict(named.drop(columns="note")).ids == result.ids


def test_some_columns_and_one_alone():
    found = view_columns({"a": "y", "b": 3, "c": slice(-2, None)}, 5, ["x", "y", "z", "u", "v"])
    assert {name: np.arange(5)[own].tolist() for name, own in found.items()} == {
        "a": [1], "b": [3], "c": [3, 4]
    }  # fmt: skip
    assert list(view_columns(None, 5)) == ["view0"]


@pytest.mark.parametrize(
    ("views", "said"),
    [
        ([3, 1], "views=[3, 1]; expected widths that add up to the 5 columns"),
        ([3, 0, 2], "width in views=0; expected an integer of at least 1"),
        ({}, "views={}; expected at least one view"),
        ("x", "views='x'; expected widths, columns per view"),
        (["x", "y"], "views has 'x'; expected a list of columns per view, such as [['x', ...]"),
        ({"a": ["x", "w"]}, "column 'w' in view 'a'; expected a position from 0 to 4 or one of"),
        ({"a": [5]}, "column 5 in view 'a'"),
        ({"a": [True]}, "column True in view 'a'"),
        ({"a": [-1]}, "column -1 in view 'a'"),
        ({"a": ["x", 0]}, "for view 'a'; expected distinct columns"),
        ({"a": []}, "for view 'a'; expected distinct columns"),
        ({"a": slice(2, 9)}, "for view 'a'; expected a slice of the 5 columns"),
        ({"a": slice("x", "z")}, "expected a slice of the 5 columns"),
        ([slice(3, 3)], "for view 'view0'; expected a slice of the 5 columns"),
    ],
)
def test_errors(views, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        view_columns(views, 5, ["x", "y", "z", "u", "v"])


def test_several_tables_are_not_cut(frame):
    with pytest.raises(ValueError, match="views has 'a'; expected some of the views"):
        manyview.cluster(blobs().views, 3, views={"a": slice(3)})
    with pytest.raises(ValueError, match=r"data is one DataFrame; .* or one table with views="):
        manyview.cluster(frame, 3)
