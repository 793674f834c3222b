"""`manyview.cluster`."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import manyview
from manyview import AngularCIGMVC, ConsensusGraph
from manyview.inputs._containers import aligned_tables
from manyview.metrics import clustering_accuracy
from tests.helpers.blobs import blobs, incomplete_frames
from tests.helpers.cells import mudata_of


@pytest.fixture(scope="module", name="blobs")
def blobs_fixture():
    return blobs()


@pytest.fixture(scope="module")
def frames(blobs):
    return incomplete_frames(blobs.views)


@pytest.mark.parametrize("form", ["dict", "list", "data set"])
def test_labels_are_those_of_the_estimator(form, blobs):
    data = {"dict": blobs.views, "list": list(blobs.views.values()), "data set": blobs}[form]
    result = manyview.cluster(data, 3)
    expected = ConsensusGraph(3, random_state=0).fit(blobs.views)
    np.testing.assert_array_equal(result.labels, expected.labels_)
    np.testing.assert_array_equal(result.disagreement, expected.sample_disagreement_)
    np.testing.assert_array_equal(result.confidence, expected.confidence_)
    assert result.ids[:3] == ("0", "1", "2")
    assert result.view_weights.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "method", ["consensus", "angular", "cigmvc", "gbs", "average", "mgl", "mcgl"]
)
def test_methods(method, blobs, tmp_path):
    result = manyview.cluster(blobs.views, 3, method=method, n_neighbors=10)
    assert clustering_accuracy(blobs.target, result.labels) > 0.95
    assert (result.disagreement is None) == (method not in ("consensus", "angular", "cigmvc"))
    assert result.confidence.mean() > 0.9
    page = result.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "3 clusters of 90 samples" in page


def test_the_number_of_clusters_is_found(blobs):
    result = manyview.cluster(blobs.views)
    assert result.n_clusters == 3
    assert result.summary()["n_clusters_suggested"]


def test_frames_are_joined_by_their_index(blobs, frames):
    result = manyview.cluster(frames, 3)
    target = [blobs.target[int(name[1:])] for name in result.ids]
    assert clustering_accuracy(target, result.labels) > 0.95
    frame = result.to_frame()
    assert list(frame.index) == list(result.ids)
    assert list(frame.columns) == [
        "cluster", "confidence", "stability", *(f"disagreement_{v}" for v in frames)
    ]  # fmt: skip
    for name, view in frames.items():
        absent = ~frame.index.isin(view.index)
        assert frame.loc[absent, f"disagreement_{name}"].isna().all()
    assert result.tables.features["view0"][0] == "f0"


def test_frames_without_names_are_taken_row_by_row(blobs):
    plain = {name: pd.DataFrame(view) for name, view in blobs.views.items()}
    np.testing.assert_array_equal(
        manyview.cluster(plain, 3).labels, manyview.cluster(blobs.views, 3).labels
    )


def test_indexes_that_are_cut_or_reversed(blobs):
    """A default index is matched by its values once it has been cut or reversed."""
    first, second, _ = (pd.DataFrame(view) for view in blobs.views.values())
    cut = manyview.cluster([first.iloc[10:], second.iloc[:-10]], 3)
    assert len(cut.ids) == 90
    for result in (cut, manyview.cluster([first, second.iloc[::-1]], 3)):
        target = blobs.target[[int(name) for name in result.ids]]
        assert clustering_accuracy(target, result.labels) > 0.95
    named = first.set_axis([f"s{i}" for i in range(90)])
    assert manyview.cluster([named, second.to_numpy()], 3).ids[:2] == ("s0", "s1")
    with pytest.raises(ValueError, match="'view0' has 90 rows, 'view1' has 80 rows"):
        manyview.cluster([first, second.iloc[:80]], 3)
    with pytest.raises(ValueError, match="have different indexes"):
        manyview.cluster([named, second, second.to_numpy()], 3)


def test_aligned_tables_can_be_cut_and_masked(frames):
    tables = aligned_tables(frames)
    assert manyview.cluster(tables, 3, views=["view2", "view0"]).view_names == ("view2", "view0")
    mask = np.ones_like(tables.present)
    mask[:5, 0] = False
    result = manyview.cluster(tables, 3, present=mask)
    expected = (tables.present & mask).sum(axis=0).tolist()
    assert [view["n_samples"] for view in result.summary()["views"]] == expected


@pytest.mark.parametrize("kind", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_missing_rows_may_hold_any_values(kind, blobs):
    first, *others = (view.copy() for view in blobs.views.values())
    mask = np.ones((90, 3), dtype=bool)
    mask[3, 0] = False
    first[3] = np.inf
    result = manyview.cluster([kind(first), *others], 3, present=mask)
    assert clustering_accuracy(blobs.target, result.labels) > 0.95
    assert np.isinf(first[3]).all()


def test_warnings_are_kept_and_raised(blobs):
    flat = np.ones((90, 4))
    with pytest.warns(UserWarning, match="view 'flat' has no information"):
        result = manyview.cluster({**blobs.views, "flat": flat}, 3)
    assert any("view 'flat' has no information" in text for text in result.warnings)
    assert "has no information about any sample" in result.report_html()


def test_mudata(blobs):
    data = mudata_of(blobs.views)
    result = manyview.cluster(data, 3)
    target = [blobs.target[int(name.removeprefix("cell"))] for name in result.ids]
    assert clustering_accuracy(target, result.labels) > 0.95
    two = manyview.cluster(data, 3, views=["view0", "view2"])
    assert two.view_names == ("view0", "view2")
    with pytest.raises(ValueError, match="views has 'rna'; expected some of the modalities"):
        manyview.cluster(data, 3, views=["rna"])
    found = result.model().predict(data)
    assert found.ids == result.ids
    np.testing.assert_array_equal(found.labels, result.labels)
    with pytest.raises(ValueError, match="X is a MuData; expected tables"):
        AngularCIGMVC(3).fit(data)
    parts = {name: data.mod[name] for name in ("view0", "view2")}
    np.testing.assert_array_equal(manyview.cluster(parts, 3).labels, two.labels)
    with pytest.raises(ValueError, match="view 'view0' is a AnnData; expected its matrix"):
        AngularCIGMVC(3).fit(parts)


@pytest.mark.filterwarnings("ignore:views 'X' and 'double' have nearly:UserWarning")
def test_anndata(blobs):
    anndata = pytest.importorskip("anndata")
    first, second, third = blobs.views.values()
    data = anndata.AnnData(first, obsm={"second": second, "third": third})
    data.layers["double"] = 2 * first
    result = manyview.cluster(data, 3, views=["X", "second", "double"])
    assert clustering_accuracy(blobs.target, result.labels) > 0.95
    assert manyview.cluster(data, 3).view_names == ("X",)


def test_errors(blobs, rng):
    with pytest.raises(ValueError, match="method='magic'; expected one of 'consensus'"):
        manyview.cluster(blobs.views, 3, method="magic")
    with pytest.raises(ValueError, match="data is one ndarray; expected MuData, AnnData"):
        manyview.cluster(rng.standard_normal((10, 3)), 3)
    with pytest.raises(ValueError, match="views='view0'; expected a list of names"):
        manyview.cluster(blobs.views, 3, views="view0")
    with pytest.raises(ValueError, match="graph='precomputed'; expected features"):
        manyview.cluster([np.eye(9)], 3, graph="precomputed")
    named = {name: pd.DataFrame(view, index=range(5, 95)) for name, view in blobs.views.items()}
    with pytest.raises(ValueError, match="joined by the ids of their rows"):
        manyview.cluster(named, 3, present=np.ones((90, 3), dtype=bool))
    with pytest.raises(ValueError, match="views is a dict, but data is no MuData or AnnData"):
        manyview.cluster(blobs.views, 3, views={"view0": "X"})
    with pytest.raises(ValueError, match=r"present has shape \(2, 2\)"):
        manyview.cluster(blobs.views, 3, present=np.ones((2, 2), dtype=bool))
    mask = np.ones((90, 3), dtype=bool)
    mask[3, 1] = False
    with pytest.raises(ValueError, match="expected complete views for MGL"):
        manyview.cluster(blobs.views, 3, method="mgl", present=mask)


def test_suggestions_take_what_cluster_takes(blobs, frames):
    suggest = partial(manyview.suggest_n_clusters, max_clusters=4)
    expected = suggest(blobs.views)
    assert expected.n_clusters == 3
    assert suggest(frames).n_clusters == 3  # joined by index
    assert suggest(mudata_of(blobs.views)).n_clusters == 3
    table = np.hstack(list(blobs.views.values()))
    cut = suggest(table, views={"a": slice(8), "b": slice(8, 20), "c": slice(20, 30)})
    np.testing.assert_array_equal(cut.scores, expected.scores)
    assert suggest(table).n_clusters == 3  # one view
    mask = np.ones((90, 3), dtype=bool)
    mask[:9, 1] = False
    assert suggest(blobs, present=mask).n_clusters == 3
