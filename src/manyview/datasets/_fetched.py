"""The paper's data sets: downloaded once, checked, or taken from a folder that has them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io.matlab import MatReadError
from scipy.sparse import csr_array, issparse

from manyview._typing import Matrix
from manyview.datasets._record import MultiViewData
from manyview.inputs import load_mat

_CI_GMVC = "hiroyuki-kasai/CI-GMVC", "datasets"
_GBS = "cswanghao/gbs", "Dataset"


@dataclass(frozen=True)
class Source:
    """Where a data set comes from, and what is known of it before it is read.

    A file whose checksum is not known is read from disk, but never downloaded.
    """

    name: str
    repository: str
    folder: str
    description: str
    sha256: str | None = None
    n_bytes: int | None = None
    n_samples: int | None = None
    n_clusters: int | None = None
    widths: tuple[int, ...] = ()

    @property
    def file(self) -> str:
        return f"{self.name}.mat"

    @property
    def page(self) -> str:
        return f"https://github.com/{self.repository}"

    @property
    def url(self) -> str:
        return f"https://raw.githubusercontent.com/{self.repository}/HEAD/{self.folder}/{self.file}"


SOURCES = {
    source.name: source
    for source in [
        Source(
            "BBC", *_CI_GMVC, "news articles from the BBC, each cut into four parts",
            "330742c260a0d167db08e0ef593bb80ad4876f36a1d3069c516223c596b8a40f",
            317_989, 685, 5, (4659, 4633, 4665, 4684),
        ),
        Source(
            "NGs", *_CI_GMVC, "newsgroup documents in three representations",
            "9af539d5d9608bebe7d7ed97290571464f7dc51e7ab6a2c8d35d7eb13c3f7f0d",
            100_156, 500, 5, (2000, 2000, 2000),
        ),
        Source(
            "WebKB", *_CI_GMVC, "university web pages: their text, anchors and titles",
            "dda84f719e55a0010635df20c009e899f5dd1893682060762efeecb91cfeb36a",
            24_743, 203, 4, (1703, 230, 230),
        ),
        Source(
            "100leaves", *_CI_GMVC, "leaves of a hundred plant species: margin, shape, texture",
            "75dcd8873c074d4a61b05cb495c072712628fdc51f58db06512bc5bcf7831ef7",
            1_078_353, 1600, 100, (64, 64, 64),
        ),
        Source("3sources", *_GBS, "news stories as told by three sources"),
        Source("BBCSport", *_GBS, "sports news from the BBC"),
        Source("HW", *_GBS, "handwritten digits in six descriptions"),
        Source("HW2sources", *_GBS, "handwritten digits from two sources"),
    ]
}  # fmt: skip


# What scipy raises on files that are cut short, of another kind, or of another layout.
_UNREADABLE = (
    MatReadError, OSError, KeyError, ValueError, TypeError, IndexError, NotImplementedError,
)  # fmt: skip


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """`data_home`, else the environment variable MANYVIEW_DATA, else a cache of the user's."""
    given = data_home if data_home is not None else os.environ.get("MANYVIEW_DATA")
    if given:
        return Path(given).expanduser()
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "manyview"


def fetch(name: str, data_home: str | os.PathLike[str] | None = None) -> MultiViewData:
    """One of the paper's data sets, or of the four others that GBS was tried on.

    Parameters
    ----------
    name : {"BBC", "NGs", "WebKB", "100leaves", "3sources", "BBCSport", "HW", "HW2sources"}
    data_home : path, optional
        Folder that holds the file ``name.mat`` or is to hold it. By default the environment
        variable MANYVIEW_DATA names it, else it is a cache folder of the user's.

    Raises
    ------
    OSError
        Where the file is neither there nor can be downloaded, or is not the one expected.
    """
    known = {source.lower(): source for source in SOURCES}
    if str(name).lower() not in known:
        raise ValueError(f"data set {name!r}; expected one of {', '.join(SOURCES)}")
    source = SOURCES[known[str(name).lower()]]
    path = data_folder(data_home) / source.file
    if not path.exists():
        _download(source, path)
    _verify(source, path)
    return _read(source, path)


def _download(source: Source, path: Path) -> None:
    advice = f"put {source.file} from {source.page} ({source.folder}) into {path.parent}"
    if source.sha256 is None:
        raise OSError(
            f"{source.file} is not in {path.parent}, and its checksum is not known, so it is not "
            f"downloaded; {advice}"
        )
    try:
        import pooch
    except ImportError as error:
        raise OSError(
            f"{source.file} is not in {path.parent}, and downloads need pooch (pip install "
            f"'manyview[data]'); or {advice}"
        ) from error
    pooch.get_logger().setLevel("ERROR")  # one error says all
    try:
        pooch.retrieve(source.url, f"sha256:{source.sha256}", path.name, path.parent)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0][:120]
        raise OSError(
            f"{source.file} is not in {path.parent} and could not be downloaded ({reason}); "
            f"{advice}"
        ) from error


def status(source: Source, data_home: str | os.PathLike[str] | None = None) -> str:
    """Whether a data set's file is here: "yes", "no", or "wrong file"."""
    path = data_folder(data_home) / source.file
    if not path.exists():
        return "no"
    try:
        fetch(source.name, data_home)
    except OSError:
        return "wrong file"
    return "yes"


def _verify(source: Source, path: Path) -> None:
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if source.sha256 is not None and found != source.sha256:
        raise OSError(f"{path} has the SHA-256 {found}; expected {source.sha256}")


def _read(source: Source, path: Path) -> MultiViewData:
    """The MATLAB layout: cells of features x samples, and of labels."""
    try:
        table = load_mat(path)
        cells, labels = table["data"].ravel(), table["truelabel"].ravel()[0].ravel()
        views = {f"view{v}": _samples_by_features(cell) for v, cell in enumerate(cells)}
    except _UNREADABLE as error:
        raise OSError(f"{path} is not a data set of this kind: {error}") from error
    names, target = np.unique(labels, return_inverse=True)
    sizes = {len(labels), *(view.shape[0] for view in views.values())}
    if len(sizes) != 1:
        raise OSError(f"{path} has views and labels of different lengths: {sorted(sizes)}")
    return MultiViewData(
        name=source.name,
        views=views,
        target=target.astype(np.intp),
        target_names=tuple(f"class {name}" for name in names.tolist()),
        description=source.description,
    )


def _samples_by_features(cell: Any) -> Matrix:
    if issparse(cell):
        return csr_array(cell.T, dtype=np.float64)
    return np.ascontiguousarray(np.asarray(cell, dtype=np.float64).T)


def _fetcher(name: str) -> Callable[..., MultiViewData]:
    def fetch_one(data_home: str | os.PathLike[str] | None = None) -> MultiViewData:
        return fetch(name, data_home)

    fetch_one.__name__ = fetch_one.__qualname__ = f"fetch_{name.lower()}"
    fetch_one.__doc__ = f"{name}: {SOURCES[name].description}; see `fetch`."
    return fetch_one


fetch_bbc = _fetcher("BBC")
fetch_ngs = _fetcher("NGs")
fetch_webkb = _fetcher("WebKB")
fetch_100leaves = _fetcher("100leaves")
fetch_3sources = _fetcher("3sources")
fetch_bbcsport = _fetcher("BBCSport")
fetch_hw = _fetcher("HW")
fetch_hw2sources = _fetcher("HW2sources")
