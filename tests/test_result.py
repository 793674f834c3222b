"""Tables, summary and model of a clustering."""

import json
from xml.etree import ElementTree

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
    with pytest.raises(ValueError, match=r"lacks 1 of the 8 columns .*: 'f3';"):
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


def test_a_result_is_shown_in_a_few_lines():
    result = manyview.cluster(blobs(), 3, method="gbs")
    lines = repr(result).splitlines()
    assert lines[0].startswith("ClusterResult: 3 clusters of 90 samples in 3 views (gbs, ")
    assert len(lines) == 3
    assert max(map(len, lines)) < 100
    with pytest.warns(UserWarning, match="has no information"):
        doubtful = manyview.cluster({**blobs().views, "flat": np.ones((90, 2))}, 3, method="gbs")
    assert repr(doubtful).splitlines()[-1] == "  1 warning(s): see .warnings"


def test_a_notebook_shows_sizes_weights_and_map():
    views = dict(zip(["<b>", "x & y", "z"], blobs().views.values(), strict=True))
    result = manyview.cluster(views, 3, method="gbs")
    page = result._repr_html_()
    root = ElementTree.fromstring(page.replace("&#9679;", "o"))
    cells = [cell.text for cell in root.iter("td")]
    assert {"<b>", "x & y", "z"} <= set(cells)  # escaped, or they would be elements
    sizes = [f"{size}" for size in np.bincount(result.labels)]
    assert [row[1].text for row in root.iter("tr")][1:4] == sizes
    dots = list(root.iter("circle"))
    assert len(dots) == 90
    assert all(0 <= float(dot.get(key)) <= 240 for dot in dots for key in ("cx", "cy"))
    colors = [dot.get("fill") for dot in dots]
    assert len(set(zip(colors, result.labels.tolist(), strict=True))) == len(set(colors)) == 3
    assert result._repr_html_() is page  # the map is computed once


def test_many_samples_and_clusters_in_a_notebook(monkeypatch):
    monkeypatch.setattr("manyview.report._notebook.MAX_MAPPED", 80)
    result = manyview.cluster(blobs(), 25, method="average")
    assert "and 13 more" in repr(result)
    page = result._repr_html_()
    assert "<svg" not in page
    assert "result.report(" in page
    assert "and 5 more" in page


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
