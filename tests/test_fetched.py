"""Fetching the paper's data sets, without the network."""

import hashlib

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_array, issparse

from manyview import datasets
from manyview.datasets import _fetched


def matlab_file(path, views, labels):
    cells = np.empty((1, len(views)), dtype=object)
    truth = np.empty((1, len(views)), dtype=object)
    for v, view in enumerate(views):
        cells[0, v], truth[0, v] = view, np.asarray(labels)[:, None]
    savemat(path, {"data": cells, "truelabel": truth})


@pytest.fixture
def offline(monkeypatch):
    """Downloads fail at once, as without a network."""
    import pooch

    def refuse(*_, **__):
        raise ConnectionError("no route to host\nand more")

    monkeypatch.setattr(pooch, "retrieve", refuse)


def test_the_matlab_layout_is_turned_round(tmp_path, rng):
    dense, thin = rng.random((3, 7)), csc_array(rng.random((4, 7)) * (rng.random((4, 7)) < 0.4))
    matlab_file(tmp_path / "HW.mat", [dense, thin], [5, 5, 9, 2, 2, 9, 5])
    data = datasets.fetch_hw(data_home=tmp_path)
    np.testing.assert_array_equal(data.views["view0"], dense.T)
    assert issparse(data.views["view1"])
    np.testing.assert_array_equal(data.views["view1"].toarray(), thin.toarray().T)
    assert data.target.tolist() == [1, 1, 2, 0, 0, 2, 1]
    assert data.target_names == ("class 2", "class 5", "class 9")


def test_the_folder_may_come_from_the_environment(tmp_path, monkeypatch, rng):
    matlab_file(tmp_path / "3sources.mat", [rng.random((2, 4))], [1, 1, 2, 2])
    monkeypatch.setenv("MANYVIEW_DATA", str(tmp_path))
    assert datasets.data_folder() == tmp_path
    assert datasets.fetch_3sources().n_samples == 4
    assert datasets.data_folder("elsewhere").name == "elsewhere"


@pytest.mark.parametrize("name", ["BBC", "NGs", "WebKB", "100leaves"])
def test_the_papers_files(shared_data, name):
    from conftest import SHARED

    source = datasets.SOURCES[name]
    data = datasets.fetch(name.lower(), SHARED / "data")
    assert data.name == name
    assert data.n_samples == source.n_samples
    assert data.n_clusters == source.n_clusters
    assert tuple(view.shape[1] for view in data.views.values()) == source.widths
    assert (SHARED / "data" / source.file).stat().st_size == source.n_bytes
    np.testing.assert_array_equal(data.target, shared_data(name).target)


def test_a_file_that_is_not_the_one_expected_is_refused(tmp_path, rng):
    matlab_file(tmp_path / "BBC.mat", [rng.random((2, 4))], [1, 1, 2, 2])
    found = hashlib.sha256((tmp_path / "BBC.mat").read_bytes()).hexdigest()
    with pytest.raises(OSError, match=f"BBC.mat has the SHA-256 {found}; expected 330742c2"):
        datasets.fetch_bbc(tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b"not a MATLAB file" * 20, b"MATLAB 5.0 MAT-file" + bytes(200)]
)
def test_a_file_that_cannot_be_read(tmp_path, content):
    (tmp_path / "HW.mat").write_bytes(content)
    with pytest.raises(OSError, match=r"HW\.mat is not a data set of this kind"):
        datasets.fetch_hw(tmp_path)


def test_a_file_without_the_expected_variables(tmp_path):
    savemat(tmp_path / "HW.mat", {"X": np.eye(3)})
    with pytest.raises(OSError, match=r"HW\.mat is not a data set of this kind: 'data'"):
        datasets.fetch_hw(tmp_path)


def test_without_network_the_error_says_which_file_goes_where(tmp_path, offline):
    with pytest.raises(OSError, match="could not be downloaded") as caught:
        datasets.fetch_webkb(tmp_path)
    text = str(caught.value)
    for part in ("WebKB.mat", str(tmp_path), "no route to host", "hiroyuki-kasai/CI-GMVC"):
        assert part in text
    assert "\n" not in text
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_known_checksum_is_not_downloaded(tmp_path):
    with pytest.raises(OSError, match=r"its checksum is not known.*put HW2sources\.mat from"):
        datasets.fetch_hw2sources(tmp_path)


def test_download_asks_for_the_checksum(tmp_path, monkeypatch):
    import pooch

    asked = []

    def retrieve(url, known_hash, fname, path):
        asked.append((url, known_hash, fname, path))
        (path / fname).write_bytes(b"altered on the way")

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    with pytest.raises(OSError, match="has the SHA-256"):
        datasets.fetch_ngs(tmp_path)
    source = _fetched.SOURCES["NGs"]
    assert asked == [(source.url, f"sha256:{source.sha256}", "NGs.mat", tmp_path)]


def test_unknown_name():
    with pytest.raises(ValueError, match="data set 'Iris'; expected one of BBC, NGs"):
        datasets.fetch("Iris")
