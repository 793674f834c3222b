"""One call from data to a clustering, and what can be done with it afterwards."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manyview._typing import FloatArray, IntArray
from manyview._version import __version__
from manyview.inputs import AlignedTables
from manyview.methods import (
    plain_params,
)
from manyview.predict import ClusterModel, model_bytes
from manyview.runtime import write_file


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
        write_file(path, self.report_html(title=title, command=command))
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
        write_file(Path(path), model_bytes(self.model()))

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
