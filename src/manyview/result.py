"""One call from data to a clustering, and what can be done with it afterwards."""

from __future__ import annotations

import csv
import io
import json
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from manyview._typing import FloatArray, IntArray
from manyview._version import __version__
from manyview.inputs._align import AlignedTables
from manyview.inputs._containers import tables_of
from manyview.methods import CIGMVC, GBS, MCGL, MGL, AngularCIGMVC, SpectralAverage
from manyview.methods._graph_fusion import GraphFusion
from manyview.methods._predict_mixin import plain_params
from manyview.predict._model import ClusterModel
from manyview.predict._model_file import model_bytes
from manyview.runtime._atomic_write import write_whole
from manyview.runtime._checks import check_choice, importing

#: Methods on graphs, by the names that `cluster` and the command line know them by.
METHODS: dict[str, Any] = {
    "angular": AngularCIGMVC,
    "cigmvc": CIGMVC,
    "gbs": GBS,
    "average": SpectralAverage,
    "mgl": MGL,
    "mcgl": MCGL,
}


def cluster(
    data: Any,
    n_clusters: int | str = "auto",
    *,
    method: str = "angular",
    views: Sequence[str] | None = None,
    present: Any = None,
    add_to_obs: str | None = None,
    random_state: int | None = 0,
    checkpoint: str | Path | None = None,
    client: Any = None,
    **options: Any,
) -> ClusterResult:
    """Cluster samples that come in several views.

    Parameters
    ----------
    data : MuData, AnnData, dict, list or tuple of tables
        Modalities of a MuData are its views, with whatever cells each has. Data frames of pandas
        with an index of their own are joined by it, so that samples may be in any order or be
        missing; other tables have the same samples in the same order, rows of NaN where a view
        lacks one.
    n_clusters : int or "auto", default="auto"
        "auto" reads it off the graphs of the views.
    method : {"angular", "cigmvc", "gbs", "average", "mgl", "mcgl"}, default="angular"
    views : names of the views to take, optional
        Of an AnnData "X", names of layers or of obsm; by default "X" alone.
    present : boolean array of shape (n_samples, n_views), optional
        False where a view lacks a sample.
    add_to_obs : str, optional
        Of MuData and AnnData: a column of `obs` to write the clusters to.
    random_state : int or None, default=0
    checkpoint : path of a folder, optional
        Of "angular", "cigmvc" and "gbs": where to keep what there is so far, so that the same call
        after an interruption goes on from there.
    client : distributed.Client, optional
        Of "angular", "cigmvc" and "gbs": fit on the workers of this Dask cluster. Views may then be
        Dask arrays and data frames as well, or paths of Parquet files, or of folders of their
        parts, that workers read themselves; samples of such views are numbered. Samples and graphs
        stay on the cluster: the result has no report and no model.
    **options
        Other parameters of the method, as ``n_neighbors=20``.

    Returns
    -------
    ClusterResult

    Examples
    --------
    >>> import manyview
    >>> data = manyview.datasets.make_blob_views(90, 3, random_state=0)
    >>> result = manyview.cluster(data.views, 3)
    >>> result.labels.shape
    (90,)
    """
    check_choice("method", method, tuple(METHODS))
    if options.get("graph") == "precomputed":
        raise ValueError(
            "graph='precomputed'; expected features, or the estimator "
            f"{METHODS[method].__name__}, which takes similarities"
        )
    if add_to_obs is not None and not hasattr(data, "obs_names"):
        raise ValueError(
            f"add_to_obs={add_to_obs!r} with {type(data).__name__}; expected MuData or AnnData"
        )
    estimator = METHODS[method](n_clusters, random_state=random_state, **options)
    for name, value in (("checkpoint", checkpoint), ("client", client)):
        if value is not None and not isinstance(estimator, GraphFusion):
            raise ValueError(
                f"{name} with method={method!r}; expected one of 'angular', 'cigmvc', 'gbs'"
            )
    kept = {} if checkpoint is None else {"checkpoint": checkpoint}
    if client is None:
        tables = tables_of(data, views, present)
    started = time.perf_counter()
    with _heard_warnings() as heard:
        if client is None:
            estimator.fit(tables, **kept)
        else:
            tables = _fit_on_cluster(estimator, data, views, present, client=client, **kept)
    seconds = time.perf_counter() - started
    result = ClusterResult(tables, estimator, method, seconds, tuple(heard))
    if add_to_obs is not None:
        result.add_to_obs(data, add_to_obs)
    return result


def _fit_on_cluster(
    estimator: Any, data: Any, views: Sequence[str] | None, present: Any, **given: Any
) -> AlignedTables:
    """Fit; what the views are, of which features may be on the cluster alone."""
    with importing("a fit on a cluster", "dask"):
        from manyview.distributed._sources import collections_of
    spread = collections_of(data, views)
    if spread is None:
        tables = tables_of(data, views, present)
        estimator.fit(tables.views, present=tables.present, **given)
    else:
        estimator.fit(spread.views, present=present, **given)
        n, n_views = len(estimator.labels_), len(spread.views)
        ids = tuple(map(str, range(n)))
        everywhere = np.ones((n, n_views), dtype=bool)
        tables = AlignedTables(ids, spread.views, everywhere, spread.features, has_ids=False)
    # Rows of nothing but NaN are found where they are read.
    found = estimator._present
    return tables if found is None else replace(tables, present=tables.present & found)


@contextmanager
def _heard_warnings() -> Iterator[list[str]]:
    """Keep the texts of warnings, and let them go on to whoever listens."""
    heard: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield heard
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            heard.append(str(warning.message))
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


@dataclass(frozen=True)
class ClusterResult:
    """A clustering of samples in several views.

    Attributes
    ----------
    tables : AlignedTables
        The views as they were clustered, with ids and names of features.
    estimator : the fitted estimator, with everything it learned
    method : str
    seconds : float
        Time of the fit.
    warnings : tuple of str
        What the fit had to warn of.
    """

    tables: AlignedTables
    estimator: Any
    method: str
    seconds: float
    warnings: tuple[str, ...] = ()

    @property
    def labels(self) -> IntArray:
        """Clusters from 0, in the order of their first samples."""
        return np.asarray(self.estimator.labels_)

    @property
    def ids(self) -> tuple[str, ...]:
        return self.tables.ids

    @property
    def n_clusters(self) -> int:
        return int(self.estimator.n_clusters_)

    @property
    def view_names(self) -> tuple[str, ...]:
        return tuple(self.tables.views)

    @property
    def on_cluster(self) -> bool:
        """Whether it was fitted on a Dask cluster, where samples and graphs stay: there is no
        report and no model then."""
        return bool(self.estimator._on_cluster)

    @property
    def confidence(self) -> FloatArray:
        """The share of each sample's neighbours, in all views, that are in its cluster."""
        return np.asarray(self.estimator.confidence_)

    @property
    def disagreement(self) -> FloatArray | None:
        """(n_samples, n_views): how much of what a view says the others do not; None for methods
        that do not split graphs."""
        return getattr(self.estimator, "sample_disagreement_", None)

    @property
    def view_weights(self) -> FloatArray:
        """How much each view counts; they sum to 1."""
        return np.asarray(self.estimator._voting_weights())

    def columns(self) -> dict[str, Any]:
        """What there is about each sample, by the name of the column."""
        found: dict[str, Any] = {"cluster": self.labels, "confidence": self.confidence}
        if self.disagreement is not None:
            for name, values in zip(self.view_names, self.disagreement.T, strict=True):
                found[f"disagreement_{name}"] = values
        return found

    def to_frame(self) -> Any:
        """A pandas data frame: a row a sample, by id; cluster, confidence, disagreements."""
        pd = _pandas()
        return pd.DataFrame(self.columns(), index=pd.Index(self.ids, name="id"))

    def to_csv(self) -> str:
        """The same as text; nothing where a view has nothing to say about a sample."""
        columns = self.columns()
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["id", *columns])
        for sample, *values in zip(self.ids, *columns.values(), strict=True):
            writer.writerow([sample, *(_text(value) for value in values)])
        return stream.getvalue()

    def summary(self, command: str | None = None) -> dict[str, Any]:
        """What was done and found, in what JSON can hold."""
        estimator, views = self.estimator, []
        confidence = self.confidence
        known = confidence[~np.isnan(confidence)]
        disagreements = getattr(estimator, "view_disagreement_", [None] * len(self.view_names))
        for v, (name, matrix) in enumerate(self.tables.views.items()):
            views.append(
                {
                    "name": name,
                    "n_samples": int(self.tables.present[:, v].sum()),
                    "n_features": int(matrix.shape[1]),
                    "weight": float(self.view_weights[v]),
                    "disagreement": _number(disagreements[v]),
                }
            )
        return {
            "manyview": __version__,
            "command": command,
            "method": self.method,
            "parameters": plain_params(estimator),
            "n_samples": len(self.ids),
            "n_clusters": self.n_clusters,
            "n_clusters_suggested": hasattr(estimator, "cluster_number_"),
            "cluster_sizes": np.bincount(self.labels, minlength=self.n_clusters).tolist(),
            "mean_confidence": _number(known.mean() if len(known) else None),
            "views": views,
            "converged": bool(getattr(estimator, "converged_", True)),
            "stop_reason": getattr(estimator, "stop_reason_", None),
            "rounds": int(getattr(estimator, "n_iter_", 0)),
            "seconds": round(self.seconds, 3),
            "stage_seconds": {
                name: round(value, 3) for name, value in estimator.stage_seconds_.items()
            },
            "warnings": list(self.warnings),
        }

    def report(self, path: str | Path, *, title: str = "", command: str | None = None) -> Path:
        """Write a page about the clustering: one HTML file that needs no network."""
        path = Path(path)
        write_whole(path, self.report_html(title=title, command=command))
        return path

    def report_html(self, *, title: str = "", command: str | None = None) -> str:
        """The text of that page."""
        from manyview.report import contents_of, render_clusters

        if self.on_cluster:
            raise ValueError(
                f"{type(self.estimator).__name__} was fitted on a Dask cluster, where its graphs "
                "stay; expected a fit without client to report on"
            )
        seed = self.estimator.random_state
        contents = contents_of(self, title, command)
        return render_clusters(contents, random_state=seed if isinstance(seed, int) else 0)

    def model(self) -> ClusterModel:
        """What labels new samples: has `predict` and can be saved."""
        features = [self.tables.features[name] for name in self.view_names]
        model: ClusterModel = self.estimator.to_model(features)
        return model

    def save_model(self, path: str | Path) -> None:
        """Write what labels new samples to a file; `manyview.load_model` reads it."""
        write_whole(Path(path), model_bytes(self.model()))

    def files(self, command: str | None = None, *, model: bool = False) -> dict[str, bytes]:
        """What the command line writes, by name; no report after a fit on a cluster."""
        summary = json.dumps(self.summary(command), indent=2, ensure_ascii=False) + "\n"
        found = {"labels.csv": self.to_csv().encode()}
        if not self.on_cluster:
            found["report.html"] = self.report_html(command=command).encode()
        found |= {"model.zip": model_bytes(self.model())} if model else {}
        # Files are put in their places in this order: the last tells that all are of one run.
        return found | {"summary.json": summary.encode()}

    def add_to_obs(self, data: Any, column: str = "manyview") -> None:
        """Write the clusters to a column of `obs` of the MuData or AnnData they came from."""
        pd = _pandas()
        clusters = dict(zip(self.ids, self.labels.tolist(), strict=True))
        found = [clusters.get(str(name)) for name in data.obs_names]
        data.obs[column] = pd.Categorical(found, categories=range(self.n_clusters))


def _pandas() -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("data frames need pandas: pip install pandas") from error
    return pd


def _text(value: Any) -> str:
    """A number for a file: six digits will do, nothing for NaN."""
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.6g}"
    return str(value)


def _number(value: Any) -> float | None:
    """What JSON takes for a number."""
    return None if value is None or not np.isfinite(value) else float(value)
