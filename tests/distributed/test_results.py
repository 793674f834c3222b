"""`manyview.cluster` on a cluster of processes, and what a fit there can't do afterwards."""

import json
from functools import partial

import numpy as np
import pytest

import manyview
from manyview import datasets
from tests.helpers.masks import removed

pytest.importorskip("distributed", reason="needs the extra 'dask'")
pytest.importorskip("pyarrow", reason="needs the extra 'files'")

import dask.array as da
import dask.dataframe as dd
import pandas as pd

from tests.helpers.dask_clusters import cluster as dask_cluster

# The default is the same on Dask up to rounding only.
cluster = partial(manyview.cluster, method="angular")
STAYS = "was fitted on Dask, where its (samples|graphs) stay; expected a fit without cli"


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


def test_files_without_a_report(found):
    assert list(found.files()) == ["labels.csv", "summary.json"]
    assert json.loads(found.files("command")["summary.json"])["command"] == "command"


@pytest.mark.parametrize("method", ["cigmvc", "gbs"])
def test_what_needs_samples_says_that_they_stayed(client, data, method):
    found, local = (cluster(data.views, 3, method=method, client=c) for c in (client, None))
    assert_same(found, local)
    views, estimator = data.views, found.estimator
    for ask in (estimator.predict, estimator.predict_proba, estimator.transform):
        with pytest.raises(ValueError, match=STAYS):
            ask(views)
    with pytest.raises(ValueError, match=STAYS):
        estimator.to_model()
    # What was said of that fit is not said of the next one.
    estimator.fit(views)
    np.testing.assert_array_equal(estimator.confidence_, local.confidence)
    np.testing.assert_array_equal(estimator.predict(views), local.estimator.predict(views))


def test_a_result_says_it_too(found, tmp_path):
    for ask in (
        found.model,
        found.report_html,
        lambda: found.report(tmp_path / "report.html"),
        lambda: found.save_model(tmp_path / "model.zip"),
        lambda: found.files(model=True),
    ):
        with pytest.raises(ValueError, match=STAYS):
            ask()
    assert not list(tmp_path.iterdir())


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
