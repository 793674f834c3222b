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


def test_predictions_take_what_was_clustered(frames):
    result = manyview.cluster(frames, 3)
    found = result.predict(frames)  # joined by index, in different orders and with gaps
    assert found.ids == result.ids
    assert (found.labels == result.labels).mean() >= 0.97
    table = found.to_frame()
    assert list(table.columns) == ["cluster", "confidence", "novelty"]
    assert tuple(table.index) == result.ids
    one = result.predict({"view1": frames["view1"]}).to_frame()["cluster"]  # two views missing
    assert (one == result.to_frame()["cluster"][one.index]).mean() > 0.95
    arrays = [view.to_numpy() for view in frames.values()]
    assert result.predict(arrays).ids is None
    assert "80 samples in 3 clusters" in repr(result.predict(arrays))
    with pytest.raises(ValueError, match="view 'other'; expected some of view0, view1, view2"):
        result.predict({"other": frames["view0"]})


def test_a_result_of_arrays_labels_frames(frames):
    """Columns without names are taken in their order."""
    views = blobs().views
    result = manyview.cluster(views, 3)
    framed = {name: pd.DataFrame(view).add_prefix("f") for name, view in views.items()}
    np.testing.assert_array_equal(result.predict(framed).labels, result.predict(views).labels)
