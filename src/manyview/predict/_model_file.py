"""Model files: archives of arrays and JSON, described in docs/model-files.md."""

import math
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import Matrix
from manyview.inputs import SCALINGS, check_sparse
from manyview.predict._model import ClusterModel
from manyview.predict._training_views import TrainingView
from manyview.runtime import ARCHIVE_ERRORS, Archive, archive_bytes, read_archive, write_file

#: Increased when older programs can't read what newer ones write.
FORMAT_VERSION = 3
_FORMAT = "manyview model"
_MANIFEST = "model.json"


class NewerFormatError(ValueError):
    """A complete model file of a newer format."""


def save_model(model: ClusterModel, path: str | Path) -> None:
    """Write a model file; nothing is left if writing fails.

    See Also
    --------
    load_model : Reads it.
    manyview.predict.ClusterModel : What is in the file.

    Examples
    --------
    >>> import tempfile
    >>> import manyview
    >>> data = manyview.datasets.make_blob_views(90, 3, random_state=0)
    >>> model = manyview.cluster(data.views, 3).model()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manyview.save_model(model, f"{folder}/model.zip")
    ...     again = manyview.load_model(f"{folder}/model.zip")
    >>> bool((again.predict(data.views).labels == model.labels).all())
    True
    """
    write_file(Path(path), model_bytes(model))


def model_bytes(model: ClusterModel) -> bytes:
    """The content of a model file."""
    arrays: dict[str, Any] = {"labels": model.labels}
    views = []
    for v, view in enumerate(model.views):
        arrays |= {f"view{v}/{name}": array for name, array in _arrays(view).items()}
        views.append(
            {
                "name": view.name,
                "sparse": isinstance(view.matrix, csr_array),
                "shape": list(view.matrix.shape),
                "complete": view.samples is None,
                "weight": view.weight,
                "n_neighbors": view.n_neighbors,
                "features": None if view.features is None else list(view.features),
                "scaling": view.scaling,
                "categories": {name: list(known) for name, known in view.categories.items()},
            }
        )
    manifest = {
        "format": _FORMAT,
        "version": FORMAT_VERSION,
        "about": dict(model.about),
        "n_samples": len(model.labels),
        "n_clusters": model.n_clusters,
        "neighbor_search": model.neighbor_search,
        "seed": model.seed,
        "views": views,
    }
    return archive_bytes(_MANIFEST, manifest, arrays)


def _arrays(view: TrainingView) -> dict[str, Any]:
    arrays: dict[str, Any] = {"trust": view.trust}
    if view.samples is not None:
        arrays["samples"] = view.samples
    matrix = view.matrix
    if not isinstance(matrix, csr_array):
        return arrays | {"matrix": matrix}
    return arrays | {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}


def load_model(path: str | Path) -> ClusterModel:
    """Read a model file. One that is damaged, or no model, raises ValueError.

    See Also
    --------
    save_model : Writes it.
    manyview.predict.ClusterModel : What is in the file.

    Examples
    --------
    >>> import tempfile
    >>> import manyview
    >>> data = manyview.datasets.make_blob_views(90, 3, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manyview.cluster(data.views, 3).save_model(f"{folder}/model.zip")
    ...     model = manyview.load_model(f"{folder}/model.zip")
    >>> model.n_clusters
    3
    """
    path = Path(path)
    try:
        archive = read_archive(path, _MANIFEST)
        _check_manifest(archive.manifest)
        return _model(archive)
    except NewerFormatError as error:
        raise ValueError(f"{path} {error}") from error
    except ARCHIVE_ERRORS as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(
            f"{path} is not a complete manyview model file: {reason}; expected one written by "
            "manyview"
        ) from error


def _check_manifest(manifest: Any) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise ValueError(f"{_MANIFEST} does not say '{_FORMAT}'")
    version = manifest.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError(f"its version is {version!r}")
    if version > FORMAT_VERSION:
        raise NewerFormatError(
            f"is a model file of format {version}; expected up to {FORMAT_VERSION}, which is what "
            "this version of manyview reads"
        )


def _model(archive: Archive) -> ClusterModel:
    manifest = archive.manifest
    n, n_clusters = int(manifest["n_samples"]), int(manifest["n_clusters"])
    labels = archive.array("labels", "i", (n,))
    if n < 1 or labels.min() != 0 or labels.max() != n_clusters - 1:
        raise ValueError(f"labels are not 0 to {n_clusters - 1}")
    views = [_view(entry, v, n, archive) for v, entry in enumerate(manifest["views"])]
    search = manifest["neighbor_search"]
    if search not in ("auto", "exact", "approximate"):
        raise ValueError(f"neighbor_search is {search!r}")
    if not views or int(manifest["seed"]) < 0:
        raise ValueError("it has no views or no seed")
    if len({view.name for view in views}) < len(views) or not any(view.weight for view in views):
        raise ValueError("its views have the same names, or no weights")
    return ClusterModel(
        views=tuple(views),
        labels=labels.astype(np.intp),
        neighbor_search=search,
        seed=int(manifest["seed"]),
        about=dict(manifest["about"]),
    )


def _view(entry: dict[str, Any], v: int, n: int, archive: Archive) -> TrainingView:
    own, width = (int(length) for length in entry["shape"])
    prefix = f"view{v}"
    samples = None if entry["complete"] else archive.array(f"{prefix}/samples", "i", (own,))
    if (samples is None and own != n) or own < 1 or width < 1:
        raise ValueError(f"view {v} has {own} samples of {n} in {width} columns")
    if samples is not None and (
        (np.diff(samples) <= 0).any() or samples[0] < 0 or samples[-1] >= n
    ):
        raise ValueError(f"the samples of view {v} are not ascending numbers below {n}")
    features = entry["features"]
    if features is not None and len(features) != width:
        raise ValueError(f"view {v} has {len(features)} names for {width} columns")
    # Files of format 1 have one scaling for all views.
    scaling = entry["scaling"] if "scaling" in entry else archive.manifest["normalize"] or "none"
    if scaling == "auto":
        scaling = "zscore" if width > 2 else "none"
    if scaling not in SCALINGS:
        raise ValueError(f"the scaling of view {v} is {scaling!r}")
    # Up to format 2 files have one number for all views.
    neighbors = int(entry.get("n_neighbors", archive.manifest.get("n_neighbors", 0)))
    if neighbors < 1:
        raise ValueError(f"view {v} has {neighbors} neighbours")
    weight, trust = float(entry["weight"]), archive.array(f"{prefix}/trust", "f", (own,))
    if not (math.isfinite(weight) and weight >= 0 and ((trust >= 0) & (trust <= 1)).all()):
        raise ValueError(f"weight or trust of view {v} is out of range")
    return TrainingView(
        name=str(entry["name"]),
        matrix=_matrix(archive, prefix, (own, width), sparse=bool(entry["sparse"])),
        samples=samples,
        weight=weight,
        trust=trust,
        n_neighbors=neighbors,
        features=None if features is None else tuple(map(str, features)),
        scaling=str(scaling),
        categories=_categories(entry.get("categories", {}), v),
    )


def _categories(entry: Any, v: int) -> dict[str, tuple[str, ...]]:
    """Categories by column; files of earlier releases have none."""
    if not isinstance(entry, dict) or not all(isinstance(known, list) for known in entry.values()):
        raise ValueError(f"the categories of view {v} are no lists")
    for column, known in entry.items():
        if not known or len(set(map(str, known))) < len(known):
            raise ValueError(f"column {column!r} of view {v} has no distinct categories")
    return {str(column): tuple(map(str, known)) for column, known in entry.items()}


def _matrix(archive: Archive, prefix: str, shape: tuple[int, int], *, sparse: bool) -> Matrix:
    if sparse:
        indptr = archive.array(f"{prefix}/indptr", "i", (shape[0] + 1,))
        nnz = int(indptr[-1])
        data = archive.array(f"{prefix}/data", "f", (nnz,))
        indices = archive.array(f"{prefix}/indices", "i", (nnz,))
        matrix = csr_array((data, indices, indptr), shape=shape)
        check_sparse(matrix, prefix)
    else:
        matrix = data = archive.array(f"{prefix}/matrix", "f", shape)
    if not np.isfinite(data).all():
        raise ValueError(f"the features in {prefix} are not finite")
    return matrix
