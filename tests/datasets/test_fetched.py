"""Fetching data sets; downloads come from a server on this machine."""

import hashlib
import re
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_array, issparse

from manyview import datasets
from manyview.datasets import _fetched
from tests.helpers.goldens import DATA

PAPER = ("BBC", "NGs", "WebKB", "100leaves")


def matlab_file(path, views, labels):
    cells = np.empty((1, len(views)), dtype=object)
    truth = np.empty((1, len(views)), dtype=object)
    for v, view in enumerate(views):
        cells[0, v], truth[0, v] = view, np.asarray(labels)[:, None]
    savemat(path, {"data": cells, "truelabel": truth})


def expect(monkeypatch, name, content):
    """From now on a file of this content is the one expected for a data set."""
    source = replace(_fetched.SOURCES[name], sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(_fetched.SOURCES, name, source)


@pytest.fixture
def offline(monkeypatch):
    """Downloads fail at once, as without a network."""
    import pooch

    def refuse(*_, **__):
        raise ConnectionError("no route to host\nand more")

    monkeypatch.setattr(pooch, "retrieve", refuse)


def test_matrices_are_transposed_and_classes_numbered(tmp_path, monkeypatch, rng):
    dense, thin = rng.random((3, 7)), csc_array(rng.random((4, 7)) * (rng.random((4, 7)) < 0.4))
    matlab_file(tmp_path / "HW.mat", [dense, thin], [5, 5, 9, 2, 2, 9, 5])
    expect(monkeypatch, "HW", (tmp_path / "HW.mat").read_bytes())
    data = datasets.fetch_hw(data_home=tmp_path)
    np.testing.assert_array_equal(data.views["view0"], dense.T)
    assert issparse(data.views["view1"])
    np.testing.assert_array_equal(data.views["view1"].toarray(), thin.toarray().T)
    assert data.target.tolist() == [1, 1, 2, 0, 0, 2, 1]
    assert data.target_names == ("class 2", "class 5", "class 9")


def test_where_files_are_looked_for(folder, monkeypatch):
    monkeypatch.delenv("MANYVIEW_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert datasets.data_folder() == Path("cache", "manyview")
    (folder / "data").mkdir()
    (folder / "data" / "100leaves.mat").touch()
    assert datasets.data_folder() == Path("cache", "manyview")  # a folder of somebody else
    (folder / "data" / "SHA256SUMS").touch()
    assert datasets.data_folder() == folder / "data"
    monkeypatch.setenv("MANYVIEW_DATA", "there")
    assert datasets.data_folder() == Path("there")
    assert datasets.data_folder("elsewhere") == Path("elsewhere")


@pytest.mark.parametrize("name", PAPER)
def test_a_clone_has_the_papers_files(name, monkeypatch, offline):
    monkeypatch.delenv("MANYVIEW_DATA", raising=False)
    monkeypatch.chdir(DATA.parent)
    assert datasets.fetch(name).n_samples == datasets.SOURCES[name].n_samples


def test_checksums_are_those_of_the_folder():
    lines = (DATA / "SHA256SUMS").read_text().splitlines()
    listed = {file: sha256 for sha256, file in map(str.split, lines)}
    assert listed == {f"{name}.mat": datasets.SOURCES[name].sha256 for name in PAPER}
    assert len({source.sha256 for source in datasets.SOURCES.values()}) == 8
    assert all(re.fullmatch("[0-9a-f]{64}", one.sha256) for one in datasets.SOURCES.values())


@pytest.mark.parametrize("name", PAPER)
def test_the_papers_files(paper_data, name):
    source = datasets.SOURCES[name]
    data = datasets.fetch(name.lower(), DATA)
    assert data.name == name
    assert data.n_samples == source.n_samples
    assert data.n_clusters == source.n_clusters
    assert tuple(view.shape[1] for view in data.views.values()) == source.widths
    assert (DATA / source.file).stat().st_size == source.n_bytes
    np.testing.assert_array_equal(data.target, paper_data(name).target)


def test_a_file_that_is_not_the_one_expected_is_refused(tmp_path, rng):
    matlab_file(tmp_path / "BBC.mat", [rng.random((2, 4))], [1, 1, 2, 2])
    found = hashlib.sha256((tmp_path / "BBC.mat").read_bytes()).hexdigest()
    with pytest.raises(OSError, match=f"BBC.mat has the SHA-256 {found}; expected 330742c2"):
        datasets.fetch_bbc(tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b"not a MATLAB file" * 20, b"MATLAB 5.0 MAT-file" + bytes(200)]
)
def test_a_damaged_file_is_not_even_read(tmp_path, monkeypatch, content):
    (tmp_path / "HW.mat").write_bytes(content)
    monkeypatch.setattr("scipy.io.loadmat", None)
    assert datasets.status(datasets.SOURCES["HW"], tmp_path) == "wrong file"
    with pytest.raises(OSError, match=r"HW\.mat has the SHA-256"):
        datasets.fetch_hw(tmp_path)


def test_a_file_without_the_expected_variables(tmp_path, monkeypatch):
    savemat(tmp_path / "HW.mat", {"X": np.eye(3)})
    expect(monkeypatch, "HW", (tmp_path / "HW.mat").read_bytes())
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


@pytest.fixture
def served(monkeypatch):
    """A web server on this machine in place of the one that has the files; a test fills `body`."""

    class Answer(BaseHTTPRequestHandler):
        status, body, missing, asked = 200, b"", 0, ""

        def do_GET(self):
            type(self).asked = self.path
            self.send_response(self.status)
            self.send_header("Content-Length", str(len(self.body) + self.missing))
            self.end_headers()
            self.wfile.write(self.body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        here = f"http://127.0.0.1:{server.server_port}/datasets"
        monkeypatch.setattr(_fetched, "_DOWNLOADS", here)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield Answer
        server.shutdown()
        thread.join()


def small_file(tmp_path, rng):
    """The bytes of a small file in the expected layout."""
    matlab_file(tmp_path / "small.mat", [rng.random((2, 4))], [1, 1, 2, 2])
    return (tmp_path / "small.mat").read_bytes()


@pytest.mark.parametrize("name", datasets.SOURCES)
def test_what_is_downloaded_is_kept(tmp_path, monkeypatch, rng, served, name):
    served.body = small_file(tmp_path, rng)
    expect(monkeypatch, name, served.body)
    fetch = getattr(datasets, f"fetch_{name.lower()}")
    assert fetch(tmp_path / "new").n_samples == 4
    assert served.asked == f"/datasets/{name}.mat"
    assert (tmp_path / "new" / f"{name}.mat").read_bytes() == served.body
    served.status = 500  # not asked again
    assert fetch(tmp_path / "new").n_samples == 4


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda served: setattr(served, "body", served.body[:-1] + b"!"), "hash"),
        (lambda served: setattr(served, "body", b""), "hash"),
        (lambda served: setattr(served, "body", b"<html>sign in first</html>"), "hash"),
        (lambda served: setattr(served, "missing", 100), "IncompleteRead"),
        (lambda served: setattr(served, "status", 404), "404"),
    ],
    ids=["one byte altered", "nothing", "another page", "cut short", "not found"],
)
def test_a_wrong_download_is_refused_and_not_kept(
    tmp_path, monkeypatch, rng, served, change, reason
):
    served.body = small_file(tmp_path, rng)
    expect(monkeypatch, "NGs", served.body)
    change(served)
    folder = tmp_path / "new"
    with pytest.raises(OSError, match=rf"NGs.mat .*could not be downloaded .*{reason}"):
        datasets.fetch_ngs(folder)
    assert list(folder.iterdir()) == []


def test_a_wrong_file_of_the_users_own_is_left_alone(tmp_path, served):
    (tmp_path / "NGs.mat").write_bytes(b"mine")
    with pytest.raises(OSError, match="has the SHA-256"):
        datasets.fetch_ngs(tmp_path)
    assert (tmp_path / "NGs.mat").read_bytes() == b"mine"


def test_unknown_name():
    with pytest.raises(ValueError, match="data set 'Iris'; expected one of BBC, NGs"):
        datasets.fetch("Iris")
