"""Data sets of the CI-GMVC repository: read from a folder, or downloaded; checked by SHA-256."""

import hashlib
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from manyview._typing import Matrix
from manyview.datasets._record import MultiViewData

PathLike = str | os.PathLike[str]

REPOSITORY = "https://github.com/hiroyuki-kasai/CI-GMVC"
_DOWNLOADS = "https://raw.githubusercontent.com/hiroyuki-kasai/CI-GMVC/HEAD/datasets"


@dataclass(frozen=True)
class Source:
    """A file in the folder `datasets` of the CI-GMVC repository; sizes are given where known."""

    name: str
    description: str
    n_bytes: int
    sha256: str
    n_samples: int | None = None
    n_clusters: int | None = None
    widths: tuple[int, ...] = ()

    @property
    def file(self) -> str:
        return f"{self.name}.mat"

    @property
    def url(self) -> str:
        return f"{_DOWNLOADS}/{self.file}"


SOURCES = {
    source.name: source
    for source in [
        Source("BBC", "news articles from the BBC, each cut into four parts", 317_989,
               "330742c260a0d167db08e0ef593bb80ad4876f36a1d3069c516223c596b8a40f",
               685, 5, (4659, 4633, 4665, 4684)),
        Source("NGs", "newsgroup documents in three representations", 100_156,
               "9af539d5d9608bebe7d7ed97290571464f7dc51e7ab6a2c8d35d7eb13c3f7f0d",
               500, 5, (2000, 2000, 2000)),
        Source("WebKB", "university web pages: their text, anchors and titles", 24_743,
               "dda84f719e55a0010635df20c009e899f5dd1893682060762efeecb91cfeb36a",
               203, 4, (1703, 230, 230)),
        Source("100leaves", "leaves of a hundred plant species: margin, shape, texture", 1_078_353,
               "75dcd8873c074d4a61b05cb495c072712628fdc51f58db06512bc5bcf7831ef7",
               1600, 100, (64, 64, 64)),
        Source("3Sources", "news stories from three sources", 112_543,
               "02954038b3f3cb0e443ce09cbde08e9cc378d254beae536287304de000e0bf02"),
        Source("BBCSport", "sports news from the BBC", 155_310,
               "73d5afadcc4d32f35ce85174af900a9ddb227e383ee163a192b4ee9f6c3d74fe"),
        Source("HW", "handwritten digits in six descriptions", 3_582_556,
               "84726719faa19555c4d998b3da6af706b19015ef952fbbb01d6e5260e079f242"),
        Source("HW2sources", "handwritten digits from two sources", 607_573,
               "06ec42c071b6ae965dbf0b3e88c0009a94ee3f2ee02c5372ec8c1848110b13ba"),
    ]
}  # fmt: skip


def data_folder(data_home: PathLike | None = None) -> Path:
    """Folder of the data files: the first of these that applies.

    1. `data_home`, if given;
    2. the environment variable MANYVIEW_DATA;
    3. `data`, if the working folder is a clone of manyview;
    4. `manyview` in the user's cache folder.

    See Also
    --------
    fetch : Reads from this folder.

    Examples
    --------
    >>> data_folder("somewhere").name
    'somewhere'
    """
    given = data_home if data_home is not None else os.environ.get("MANYVIEW_DATA")
    if given:
        return Path(given).expanduser()
    clone = Path.cwd() / "data"
    if all((clone / name).exists() for name in ("SHA256SUMS", "100leaves.mat")):
        return clone
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "manyview"


def fetch(name: str, data_home: PathLike | None = None) -> MultiViewData:
    """One of the paper's data sets, or of the four others in the same repository.

    Parameters
    ----------
    name : {"BBC", "NGs", "WebKB", "100leaves", "3Sources", "BBCSport", "HW", "HW2sources"}
        In upper or lower case.
    data_home : path, optional
        Folder with the file ``name.mat``; if it is not there, it is downloaded to this folder.
        For the default see `data_folder`.

    Raises
    ------
    OSError
        If the file is missing and cannot be downloaded, or does not have the expected SHA-256.

    See Also
    --------
    data_folder : Where the files are looked for.
    load_digits_views : Needs no file.

    Examples
    --------
    >>> from manyview.datasets import fetch
    >>> fetch("WebKB").views["view0"].shape  # doctest: +SKIP
    (203, 1703)
    """
    known = {source.lower(): source for source in SOURCES}
    if str(name).lower() not in known:
        raise ValueError(f"data set {name!r}; expected one of {', '.join(SOURCES)}")
    source = SOURCES[known[str(name).lower()]]
    path = data_folder(data_home) / source.file
    if not path.exists():
        _download(source, path)
    if (found := _sha256(path)) != source.sha256:
        raise OSError(f"{path} has the SHA-256 {found}; expected {source.sha256}")
    return _read(source, path)


def status(source: Source, data_home: PathLike | None = None) -> str:
    """Whether the file of a data set is present: "yes", "no", or "wrong file".

    See Also
    --------
    fetch : Downloads what is missing.

    Examples
    --------
    >>> status(SOURCES["BBC"], "no such folder")
    'no'
    """
    path = data_folder(data_home) / source.file
    if not path.exists():
        return "no"
    return "yes" if _sha256(path) == source.sha256 else "wrong file"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _download(source: Source, path: Path) -> None:
    advice = f"put {source.file} from {REPOSITORY} (datasets) into {path.parent}"
    try:
        import pooch
    except ImportError as error:
        raise OSError(
            f"{source.file} is not in {path.parent}, and downloads need pooch (pip install "
            f"'manyview[data]'); or {advice}"
        ) from error
    pooch.get_logger().setLevel("ERROR")  # the error below has it all
    try:
        pooch.retrieve(source.url, f"sha256:{source.sha256}", path.name, path.parent)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0][:120]
        raise OSError(
            f"{source.file} is not in {path.parent} and could not be downloaded ({reason}); "
            f"{advice}"
        ) from error


def _read(source: Source, path: Path) -> MultiViewData:
    """`data` holds one matrix (features x samples) per view, `truelabel` the classes per view."""
    from scipy.io import loadmat

    try:
        with warnings.catch_warnings():  # later versions will read sparse arrays, not matrices
            warnings.filterwarnings("ignore", message="(?s).*spmatrix")
            table = loadmat(path)
        matrices = [_samples_by_features(cell) for cell in table["data"].ravel()]
        labels = table["truelabel"].ravel()[0].ravel()
    except (KeyError, IndexError, TypeError, ValueError, NotImplementedError) as error:
        raise OSError(f"{path} is not a data set of this kind: {error}") from error
    classes, target = np.unique(labels, return_inverse=True)
    return MultiViewData(
        name=source.name,
        views={f"view{v}": matrix for v, matrix in enumerate(matrices)},
        target=target.astype(np.intp),
        target_names=tuple(f"class {name}" for name in classes.tolist()),
        description=source.description,
    )


def _samples_by_features(cell: Any) -> Matrix:
    if issparse(cell):
        return csr_array(cell.T, dtype=np.float64)
    return np.ascontiguousarray(np.asarray(cell, dtype=np.float64).T)


def _fetcher(name: str) -> Callable[..., MultiViewData]:
    def fetch_one(data_home: PathLike | None = None) -> MultiViewData:
        return fetch(name, data_home)

    fetch_one.__name__ = fetch_one.__qualname__ = f"fetch_{name.lower()}"
    fetch_one.__doc__ = f"""{name}: {SOURCES[name].description}.

    See Also
    --------
    fetch : Reads it; `data_home` is described there.

    Examples
    --------
    >>> {fetch_one.__name__}().views  # doctest: +SKIP
    """
    return fetch_one


fetch_bbc = _fetcher("BBC")
fetch_ngs = _fetcher("NGs")
fetch_webkb = _fetcher("WebKB")
fetch_100leaves = _fetcher("100leaves")
fetch_3sources = _fetcher("3Sources")
fetch_bbcsport = _fetcher("BBCSport")
fetch_hw = _fetcher("HW")
fetch_hw2sources = _fetcher("HW2sources")
