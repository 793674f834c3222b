"""Results in MuData and AnnData."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

import manyview
from manyview.inputs import SampleResults, write_back
from tests.helpers.blobs import blobs
from tests.helpers.cells import mudata_of, quiet

ad = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")
N = 6


@pytest.fixture(scope="module", name="views")
def views_fixture():
    return blobs().views


def cells(names):
    return ad.AnnData(np.ones((len(names), 2)), obs=pd.DataFrame(index=list(names)))


def some_results(has_ids=True, n=N):
    rng = np.random.default_rng(0)
    graph = random_array((n, n), density=0.5, rng=rng, format="csr")
    return SampleResults(
        ids=tuple(f"c{i}" for i in range(n)),
        has_ids=has_ids,
        labels=np.arange(n) % 3,
        columns={"confidence": rng.random(n), "disagreement_layers/counts": rng.random(n)},
        embedding=rng.random((n, 2)),
        graph=csr_array(graph + graph.T),
        params={"method": "manyview"},
        about={},
    )


@given(st.lists(st.integers(0, N + 3), min_size=1, unique=True).filter(lambda ids: min(ids) < N))
def test_every_sample_gets_its_own(order):
    """Any samples in any order, some of which were not clustered."""
    results, data = some_results(), cells([f"c{i}" for i in order])
    write_back(data, "key", results)
    near, far = (data.obsp[f"key_{name}"].toarray() for name in ("connectivities", "distances"))
    known = np.array([i if i < N else -1 for i in order])
    for row, i in enumerate(known):
        if i < 0:
            assert pd.isna(data.obs["key"].iloc[row])
            assert np.isnan(data.obs["key_confidence"].iloc[row])
            assert np.isnan(data.obsm["X_key"][row]).all()
            assert not near[row].any()
            continue
        assert data.obs["key"].iloc[row] == str(results.labels[i])
        assert data.obs["key_confidence"].iloc[row] == results.columns["confidence"][i]
        np.testing.assert_array_equal(data.obsm["X_key"][row], results.embedding[i])
    kept = np.flatnonzero(known >= 0)
    graph = results.graph.toarray()[np.ix_(known[kept], known[kept])]
    np.testing.assert_allclose(near[np.ix_(kept, kept)], graph)
    points = results.embedding[known[kept]]
    lengths = np.linalg.norm(points[:, None] - points, axis=2)
    np.testing.assert_allclose(far[np.ix_(kept, kept)], np.where(graph > 0, lengths, 0))


def test_rows_without_ids_are_in_order():
    data = cells([f"barcode{i}" for i in range(N)])
    write_back(data, "key", some_results(has_ids=False))
    assert data.obs["key"].tolist() == ["0", "1", "2", "0", "1", "2"]


@pytest.mark.filterwarnings("ignore:view.* took .* of the weight:UserWarning")
@pytest.mark.parametrize("method", ["consensus", "cigmvc", "average", "mgl", "mcgl"])
def test_all_methods_have_a_graph_for_scanpy(method, views):
    data = ad.AnnData(views["view0"], obsm={"second": views["view1"]})
    result = manyview.cluster(data, 3, views=["X", "second"], method=method)
    result.add_to(data)
    about = data.uns["manyview"]
    near, far = (data.obsp[about[f"{name}_key"]] for name in ("connectivities", "distances"))
    assert abs(near - near.T).max() < 1e-12
    assert near.has_canonical_format
    np.testing.assert_array_equal(near.indices, far.indices)
    assert near.diagonal().max() == 0
    assert near.data.min() > 0
    assert about["params"]["use_rep"] in data.obsm
    assert about["params"]["n_neighbors"] == result.estimator.n_neighbors_


def test_clusters_are_text_in_a_mudata_and_its_modalities(views):
    data = mudata_of(views, n_missing=40)
    result = manyview.cluster(data, 3, views={"view0": "X_pca", "view2": "X"})
    result.add_to(data, key="group")
    written = data.obs["group"]
    assert list(written.cat.categories) == ["0", "1", "2"]
    assert [written[name] for name in result.ids] == [str(label) for label in result.labels]
    # view1 has cells that neither of the two views has.
    assert written.isna().sum() == data.n_obs - len(result.ids) > 0
    for modality in data.mod.values():
        own = modality.obs["group"]
        assert own.astype(object).equals(written[modality.obs_names].astype(object))
    columns = ["confidence", "stability", "disagreement_view0", "disagreement_view2"]
    assert list(data.obs.columns) == ["group", *(f"group_{name}" for name in columns)]
    disagreement = data.obs.loc[list(result.ids), "group_disagreement_view2"]
    np.testing.assert_array_equal(disagreement, result.disagreement[:, 1])
    about = data.uns["group"]
    assert about["views"].tolist() == ["view0", "view2"]
    np.testing.assert_array_equal(about["view_weights"], result.view_weights)
    assert json.loads(about["summary"]) == result.summary()


@pytest.mark.parametrize("kind", ["h5mu", "h5ad"])
def test_files_keep_it(kind, views, tmp_path):
    path = tmp_path / f"x.{kind}"
    with quiet():
        data = mudata_of(views)
        data = data if kind == "h5mu" else data.mod["view0"]
        manyview.cluster(data, 3).add_to(data)
        if kind == "h5mu":
            data.write_h5mu(path)
            back = mudata.read_h5mu(path)
        else:
            data.write_h5ad(path)
            back = ad.read_h5ad(path)
    columns = [name for name in data.obs if name.startswith("manyview")]
    pd.testing.assert_frame_equal(back.obs[columns], data.obs[columns], check_dtype=False)
    np.testing.assert_array_equal(back.obsm["X_manyview"], data.obsm["X_manyview"])
    before, after = data.uns["manyview"], back.uns["manyview"]
    for name in (before["connectivities_key"], before["distances_key"]):
        assert abs(back.obsp[name] - data.obsp[name]).max() == 0
    assert after["params"] == before["params"]
    assert after["summary"] == before["summary"]
    assert list(after["views"]) == list(before["views"])


def test_an_earlier_result_is_replaced(views):
    data = ad.AnnData(views["view0"])
    data.obs["manyview_note"] = "mine"
    manyview.cluster(data, 3).add_to(data)
    assert "manyview_stability" in data.obs
    manyview.cluster(data, 3, method="average").add_to(data)
    assert list(data.obs.columns) == ["manyview_note", "manyview", "manyview_confidence"]


@pytest.mark.parametrize(
    ("data", "key", "has_ids", "message"),
    [
        ({}, "key", True, "data is a dict; expected MuData or AnnData"),
        (cells("ab"), "a/b", True, "key='a/b'; expected a name without '/'"),
        (cells("ab"), "neighbors", True, "key='neighbors'; .* which scanpy uses"),
        (cells("ab"), "key", True, "samples 'a', 'b' was clustered; expected some of 'c0', 'c1'"),
        (cells("ab"), "key", False, "data has 2 samples, but 6 without ids were clustered"),
    ],
)
def test_what_is_refused(data, key, has_ids, message):
    with pytest.raises(ValueError, match=message):
        write_back(data, key, some_results(has_ids))
    assert not getattr(data, "obsm", {})
