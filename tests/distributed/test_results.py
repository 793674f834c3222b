"""`manyview.cluster` on a cluster of processes, and what is done with a fit afterwards."""

import json
from functools import partial

import numpy as np
import pytest

import manyview
from manyview import datasets
from manyview.spectral import _spectrum
from tests.helpers.masks import removed

pytest.importorskip("distributed", reason="needs the extra 'dask'")
pytest.importorskip("pyarrow", reason="needs the extra 'files'")

import dask.array as da
import dask.dataframe as dd
import pandas as pd

from tests.helpers.dask_clusters import cluster as dask_cluster

# The default is the same on Dask up to rounding only.
cluster = partial(manyview.cluster, method="angular")


@pytest.fixture(scope="module")
def client():
    with dask_cluster(3, processes=True) as client:
        yield client


@pytest.fixture(scope="module")
def data():
    """Groups that come apart in a few rounds: each takes its time on a small cluster."""
    return datasets.make_blob_views(120, 3, widths=(8, 12), separation=8.0, random_state=0)


@pytest.fixture(scope="module")
def found(client, data):
    return cluster(data.views, 3, client=client)


@pytest.fixture(scope="module")
def expected(data):
    return cluster(data.views, 3)


def assert_same(found, expected):
    """All that is told of a fit on one machine is told of one on a cluster."""
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_array_equal(found.view_weights, expected.view_weights)
    np.testing.assert_array_equal(found.tables.present, expected.tables.present)
    assert found.tables.features == expected.tables.features
    # Data frames keep their index; rows on workers have none.
    ours, theirs = (one.to_frame().reset_index(drop=True) for one in (found, expected))
    pd.testing.assert_frame_equal(
        ours.drop(columns="confidence"), theirs.drop(columns="confidence")
    )
    np.testing.assert_allclose(ours["confidence"], theirs["confidence"], rtol=1e-12)
    ours, theirs = found.summary(), expected.summary()
    for summary in (ours, theirs):
        del summary["seconds"], summary["stage_seconds"]
    assert ours.pop("mean_confidence") == pytest.approx(theirs.pop("mean_confidence"), rel=1e-12)
    assert ours == theirs


def test_tables_that_are_here(found, expected):
    assert_same(found, expected)
    assert found.is_distributed
    assert not expected.is_distributed


def test_data_frames_are_joined_by_their_index(client, data, rng):
    frames = {}
    for name, view in data.views.items():
        kept = rng.permutation(120)[:110]
        index = [f"s{i}" for i in kept]
        frames[name] = pd.DataFrame(view[kept], index=index).add_prefix("f")
    found = cluster(frames, 3, client=client)
    assert not found.tables.present.all()
    assert_same(found, cluster(frames, 3))


@pytest.mark.filterwarnings("ignore:view .* has hardly anything in common:UserWarning")
def test_tables_that_are_elsewhere(client, data, tmp_path):
    named = {name: pd.DataFrame(view).add_prefix(name) for name, view in data.views.items()}
    named["noise"] = np.random.default_rng(0).normal(size=(120, 4))
    named["here"] = np.random.default_rng(1).normal(size=(120, 4))
    first, second = data.views
    named[first].to_parquet(tmp_path / "first.parquet", index=False)
    spread = {
        first: tmp_path / "first.parquet",
        second: dd.from_pandas(named[second], npartitions=4),
        "noise": da.from_array(named["noise"], chunks=(37, 3)),
        "here": named["here"],
    }
    assert_same(cluster(spread, 3, client=client), cluster(named, 3))


def test_chosen_views_and_rows_of_nan(client, data):
    mask = removed(120, 2, 0.2, np.random.default_rng(0))
    views = {
        name: np.where(mask[:, [v]], view, np.nan)
        for v, (name, view) in enumerate(data.views.items())
    }
    spread = {name: da.from_array(view, chunks=50) for name, view in views.items()}
    found = cluster({**spread, "other": spread["view0"]}, 3, views=list(views), client=client)
    assert_same(found, cluster(views, 3))


def test_neighbours_by_view(client, data):
    given = {"view1": 7}
    found = cluster(data.views, 3, n_neighbors=given, client=client)
    assert_same(found, cluster(data.views, 3, n_neighbors=given))
    assert found.estimator.n_neighbors_ == (11, 7)


def test_files_with_report_and_model(found, expected):
    files = found.files("command", model=True)
    assert list(files) == ["labels.csv", "report.html", "model.zip", "summary.json"]
    assert json.loads(files["summary.json"])["command"] == "command"
    assert b"drawn at random" not in files["report.html"]  # so few are all kept


@pytest.mark.parametrize("method", ["consensus", "cigmvc"])
def test_predictions_are_those_of_one_machine(client, data, method, tmp_path):
    found, local = (cluster(data.views, 3, method=method, client=c) for c in (client, None))
    found.save_model(tmp_path / "model.zip")
    model = manyview.load_model(tmp_path / "model.zip")
    for ours in (found.predict(data.views), model.predict(data.views)):
        np.testing.assert_array_equal(ours.labels, local.predict(data.views).labels)
        np.testing.assert_allclose(ours.shares, local.predict(data.views).shares, atol=1e-9)
    np.testing.assert_allclose(
        found.estimator.transform(data.views), local.estimator.transform(data.views), atol=1e-6
    )


def test_predictions_for_dask_collections(client, data, expected):
    """Arrays and frames, in blocks, an empty one among them."""
    names = list(data.views)
    spread = {
        names[0]: da.from_array(data.views[names[0]], chunks=((50, 0, 70), 3)),
        names[1]: da.from_array(data.views[names[1]], chunks=((50, 0, 70), -1)),
    }
    local = expected.predict(data.views)
    for ours in (expected.predict(spread), expected.model().predict(spread)):
        np.testing.assert_array_equal(ours.labels, local.labels)
        np.testing.assert_allclose(ours.shares, local.shares)
    frames = {
        name: dd.from_pandas(pd.DataFrame(view), npartitions=3) for name, view in data.views.items()
    }
    found = expected.estimator.predict(frames)
    np.testing.assert_array_equal(found, local.labels)
    with pytest.raises(ValueError, match="'view1' is a ndarray beside Dask collections"):
        expected.predict({names[0]: spread[names[0]], names[1]: data.views[names[1]]})
    with pytest.raises(ValueError, match="views differ in their blocks: 'view0' has 3, 'view1'"):
        expected.predict(
            {names[0]: spread[names[0]], names[1]: frames[names[1]].repartition(npartitions=2)}
        )


def test_a_report_on_some_of_the_samples(client, data, monkeypatch):
    from manyview.distributed import _kept_samples

    monkeypatch.setattr(_kept_samples, "KEPT_SAMPLES", 60)
    monkeypatch.setattr(_spectrum, "CHEBYSHEV_LIMIT", 100)  # graphs stay on the workers
    found = cluster(data.views, 3, method="consensus", client=client)
    local = cluster(data.views, 3, method="consensus")
    np.testing.assert_array_equal(found.labels, local.labels)
    np.testing.assert_allclose(found.stability, local.stability, atol=0.1)
    page = found.report_html()
    assert "this page shows 60 of 120 samples, drawn at random" in page
    assert "3 clusters of 120 samples" in page
    assert found.estimator._views.n_samples == 60
    np.testing.assert_array_equal(found.predict(data.views).labels, local.labels)
    with pytest.raises(AttributeError, match="the graphs stayed on the Dask workers"):
        found.estimator.view_graphs_  # noqa: B018
    # What was said of that fit is not said of the next one.
    found.estimator.fit(data.views)
    np.testing.assert_array_equal(found.estimator.confidence_, local.confidence)


@pytest.mark.parametrize("on_ranks", [False, True])
def test_the_number_of_clusters(client, data, monkeypatch, on_ranks):
    if on_ranks:
        monkeypatch.setattr(_spectrum, "CHEBYSHEV_LIMIT", 100)
    found, local = (
        manyview.suggest_n_clusters(data.views, max_clusters=5, client=c) for c in (client, None)
    )
    assert found.n_clusters == local.n_clusters == 3
    np.testing.assert_allclose(found.scores, local.scores, atol=0.05)
    np.testing.assert_array_equal(found.labels[1], local.labels[1])


def test_clusters_go_to_obs(client, data):
    ad = pytest.importorskip("anndata")
    annotated = ad.AnnData(np.ascontiguousarray(next(iter(data.views.values()))))
    found = cluster(annotated, 3, client=client)
    found.add_to(annotated, key="group")
    assert annotated.obs["group"].tolist() == list(map(str, found.labels))
    assert not annotated.obsp  # the graph stays on the workers
    assert "connectivities_key" not in annotated.uns["group"]


@pytest.mark.parametrize("method", ["average", "mgl", "mcgl"])
def test_methods_that_are_not_for_clusters(client, data, method):
    with pytest.raises(ValueError, match=f"client with method='{method}'; expected one of 'cons"):
        cluster(data.views, 3, method=method, client=client)


def test_a_client_is_asked_for(data):
    with pytest.raises(ValueError, match=r"client is a str; expected a distributed\.Client"):
        cluster(data.views, 3, client="tcp://127.0.0.1:8786")
