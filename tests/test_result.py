"""Tables, summary and model of a clustering."""

import json

import numpy as np
import pandas as pd
import pytest

import manyview
from manyview import load_model
from manyview.inputs import aligned_tables
from tests.helpers.blobs import blobs, incomplete_frames


@pytest.fixture(scope="module")
def frames():
    return incomplete_frames(blobs().views)


def test_csv_and_summary(frames):
    result = manyview.cluster(frames, 3)
    lines = result.to_csv().splitlines()
    assert lines[0] == "id,cluster,confidence,stability," + ",".join(
        f"disagreement_{v}" for v in frames
    )
    assert len(lines) == 1 + len(result.ids)
    table = pd.read_csv(pd.io.common.StringIO(result.to_csv()), index_col="id")
    np.testing.assert_array_equal(table["cluster"], result.labels)
    np.testing.assert_allclose(table["stability"], result.stability, rtol=1e-5)
    np.testing.assert_allclose(table.iloc[:, 3:], result.disagreement, rtol=1e-5)
    summary = json.loads(json.dumps(result.summary("the command"), allow_nan=False))
    assert summary["cluster_sizes"] == np.bincount(result.labels).tolist()
    assert [view["n_samples"] for view in summary["views"]] == [80, 80, 80]
    assert summary["command"] == "the command"


def test_models_come_with_names_of_features(frames, tmp_path):
    result = manyview.cluster(frames, 3)
    result.save_model(tmp_path / "model.zip")
    model = load_model(tmp_path / "model.zip")
    assert model.views[0].features == result.tables.features["view0"]
    turned = {name: frame[frame.columns[::-1]] for name, frame in frames.items()}
    found = model.predict(aligned_tables(turned))
    assert (found.labels == result.labels).mean() >= 0.99
    assert found.ids == result.ids
    lacking = aligned_tables({"view0": frames["view0"].drop(columns="f3")})
    with pytest.raises(ValueError, match=r"lacks 1 of the 8 columns .* the first is 'f3'"):
        model.predict(lacking)


@pytest.mark.parametrize(
    "index",
    [
        None,
        [7 * i for i in range(60)],
        pd.date_range("2020-01-01", periods=60, name="day"),
        pd.MultiIndex.from_product([["a", "b"], range(30)], names=["site", "patient"]),
    ],
    ids=["default", "integers", "dates", "several levels"],
)
def test_the_index_that_was_given_is_kept(index):
    data = manyview.datasets.make_blob_views(60, 3, separation=8.0, random_state=0)
    views = list(data.views.values())
    first, second = (pd.DataFrame(view, index=index).add_prefix("f") for view in views[:2])
    joined = first.join(manyview.cluster([first, second], 3).to_frame())
    assert joined["cluster"].notna().all()
    assert joined.index.equals(first.index)
    assert joined.index.names == first.index.names
    if index is None:
        return
    result = manyview.cluster([first[:50], second[10:][::-1]], 3)  # each lacks some
    frame = result.to_frame()
    assert frame.index.equals(first.index[[*range(50), *range(59, 49, -1)]])
    assert first.join(frame)["cluster"].notna().all()
    head = result.to_csv().splitlines()[0].split(",")[0]
    assert head == ("day" if first.index.name == "day" else "id")


def test_an_id_name_that_is_a_column_is_not_used_twice():
    data = manyview.datasets.make_blob_views(60, 3, separation=8.0, random_state=0)
    names = pd.Index([f"s{i}" for i in range(60)], name="cluster")
    frames = [pd.DataFrame(view, index=names) for view in data.views.values()]
    assert manyview.cluster(frames, 3).to_csv().startswith("id,cluster,")
