"""Clusters by a resolution instead of a number: the Leiden algorithm."""

import random
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

import manyview
from manyview import ConsensusGraph, cli
from manyview.datasets import load_digits_views, make_blob_views
from manyview.metrics import clustering_accuracy
from manyview.spectral import leiden_labels

pytest.importorskip("igraph")


@pytest.fixture
def blobs():
    return make_blob_views(200, 4, separation=7.0, random_state=0)


def test_separate_groups():
    groups = np.arange(30) % 3
    graph = csr_array((groups[:, None] == groups) * 1.0 - np.eye(30))
    np.testing.assert_array_equal(leiden_labels(graph, 1.0, 0), groups)
    heavy = np.where(groups == 0, 5.0, 1.0)
    np.testing.assert_array_equal(leiden_labels(graph, 1.0, 0, heavy), groups)


def test_more_clusters_at_a_higher_resolution():
    data = load_digits_views()
    found = [
        ConsensusGraph(resolution=r, random_state=0, n_resamples=0).fit(data.views)
        for r in (0.3, 1.0, 3.0)
    ]
    numbers = [model.n_clusters_ for model in found]
    assert numbers == sorted(set(numbers))
    assert clustering_accuracy(data.target, found[1].labels_) > 0.85


def test_a_fit(blobs):
    state = random.getstate()
    result = manyview.cluster(blobs.views, resolution=1.0)
    assert random.getstate() == state
    assert result.n_clusters == 4
    assert clustering_accuracy(blobs.target, result.labels) == 1
    assert result.stability.mean() > 0.95
    assert result.estimator.embedding_.shape == (200, 8)
    again = manyview.cluster(blobs.views, resolution=1.0)
    np.testing.assert_array_equal(again.stability, result.stability)
    np.testing.assert_array_equal(result.model().predict(blobs.views).labels, result.labels)


def test_what_does_not_go_together(blobs):
    with pytest.raises(ValueError, match=r"n_clusters=3 with resolution=1.0; expected one of them"):
        manyview.cluster(blobs.views, 3, resolution=1.0)
    with pytest.raises(ValueError, match=r"resolution=1.0 with a client"):
        ConsensusGraph(resolution=1.0).fit(blobs.views, client=object())
    with pytest.raises(ValueError, match="resolution=0; expected"):
        ConsensusGraph(resolution=0).fit(blobs.views)


def test_the_command(blobs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, view in blobs.views.items():
        np.save(f"{name}.npy", view)
    words = ["cluster", *(f"{name}.npy" for name in blobs.views), "--resolution", "1"]
    assert cli.main([*words, "--output", "out"]) == 0
    assert "200 samples in 4 clusters" in capsys.readouterr().out
    assert cli.main([*words, "--clusters", "3", "--output", "other"]) == 2
    assert "expected one of them" in capsys.readouterr().err
    assert cli.main([*words, "--method", "gbs", "--output", "other"]) == 2
    assert "--resolution with --method gbs; expected one of consensus, " in capsys.readouterr().err


def test_the_extra_is_named(blobs, monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(ImportError, match=r"pip install 'manyview\[leiden\]'"):
        ConsensusGraph(resolution=1.0).fit(blobs.views)
