"""The result of `manyview.cluster`: labels, tables, report, model."""

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray, IntArray
from manyview._version import __version__
from manyview.inputs import AlignedTables, SampleResults, write_back
from manyview.methods import plain_params
from manyview.predict import ClusterModel, Prediction, model_bytes
from manyview.runtime import require_pandas, write_file


@dataclass(frozen=True, repr=False)
class ClusterResult:
    """A clustering of samples in several views.

    `tables` are the clustered views, with ids of samples and names of features. `estimator` is the
    fitted estimator of `method`, `seconds` and `warnings` are the time and the warnings of the fit,
    `views` is the parameter of `manyview.cluster`.

    See Also
    --------
    cluster : Makes it.
    load_model : Reads what `save_model` wrote.
    manyview.plotting.plot_samples : Draws the samples on a map.

    Examples
    --------
    >>> import manyview
    >>> data = manyview.datasets.make_blob_views(90, 3, random_state=0)
    >>> result = manyview.cluster(data.views, 3)
    >>> result.n_clusters, result.view_names
    (3, ('view0', 'view1', 'view2'))
    >>> list(result.columns())[:3]
    ['cluster', 'confidence', 'stability']
    """

    tables: AlignedTables
    estimator: Any
    method: str
    seconds: float
    warnings: tuple[str, ...] = ()
    views: Any = None

    def headline(self) -> str:
        """What was found, in one line."""
        n_views = len(self.view_names)
        return (
            f"{self.n_clusters} clusters of {len(self.labels):,} samples in {n_views} "
            f"view{'s' if n_views > 1 else ''} ({self.method}, {self.seconds:.1f} s)"
        )

    def __repr__(self) -> str:
        sizes = np.bincount(self.labels, minlength=self.n_clusters).tolist()
        weights = zip(self.view_names, self.view_weights, strict=True)
        lines = [
            f"ClusterResult: {self.headline()}",
            f"  samples per cluster: {_few([f'{size:,}' for size in sizes])}",
            f"  view weights: {_few([f'{name} {weight:.2f}' for name, weight in weights])}",
        ]
        if self.warnings:
            lines.append(f"  {len(self.warnings)} warning(s): see .warnings")
        return "\n".join(lines)

    def _repr_html_(self) -> str | None:
        """For notebooks; None, which shows the text instead, without the extra "cli"."""
        return self._html

    @cached_property
    def _html(self) -> str | None:
        try:
            from manyview.report import notebook_html
        except ImportError:
            return None
        return notebook_html(self)

    @property
    def labels(self) -> IntArray:
        """Clusters, numbered from 0 in the order of their first samples."""
        return np.asarray(self.estimator.labels_)

    @property
    def ids(self) -> tuple[str, ...]:
        return self.tables.ids

    @property
    def id_name(self) -> str:
        """What the ids are called: as in the input, or "id" if that is the name of a column."""
        name = self.tables.id_name
        return "id" if name in self.columns() else name

    @property
    def n_clusters(self) -> int:
        return int(self.estimator.n_clusters_)

    @property
    def view_names(self) -> tuple[str, ...]:
        return tuple(self.tables.views)

    @property
    def is_distributed(self) -> bool:
        """Whether it was fitted on Dask. Samples and graphs stay on the workers then; report and
        model are made from at most 20,000 of the samples."""
        return bool(self.estimator.is_distributed_)

    @cached_property
    def confidence(self) -> FloatArray:
        """The share of each sample's neighbours that are in its cluster, over all views by their
        weights; from 0 to 1."""
        return np.asarray(self.estimator.confidence_)

    @property
    def stability(self) -> FloatArray | None:
        """How well each sample's cluster holds together in resamples, from 0 (chance) to 1; None
        for methods that do not measure it."""
        return getattr(self.estimator, "stability_", None)

    @property
    def disagreement(self) -> FloatArray | None:
        """(n_samples, n_views): the share of a sample's edges in a view that is inconsistent with
        the other views; None for methods that do not split graphs, and for a single view."""
        if len(self.view_names) == 1:
            return None
        return getattr(self.estimator, "sample_disagreement_", None)

    @property
    def view_weights(self) -> FloatArray:
        """The weight of each view; they sum to 1."""
        return np.asarray(self.estimator.vote_weights_)

    def columns(self) -> dict[str, Any]:
        """Cluster, confidence, stability and disagreements of the samples, by column name."""
        columns: dict[str, Any] = {"cluster": self.labels, "confidence": self.confidence}
        if self.stability is not None:
            columns["stability"] = self.stability
        if self.disagreement is not None:
            for name, values in zip(self.view_names, self.disagreement.T, strict=True):
                columns[f"disagreement_{name}"] = values
        return columns

    def to_frame(self) -> Any:
        """A pandas data frame with one row per sample; see `columns`.

        Its index is that of the data frames that were clustered, else the ids as text.
        """
        pd, index = require_pandas(), self.tables.index
        if index is None:
            index = pd.Index(self.ids, name=self.id_name)
        return pd.DataFrame(self.columns(), index=index)

    def to_csv(self) -> str:
        """The same as CSV text; empty where a view has no edges for a sample."""
        columns = self.columns()
        rows = zip(self.ids, *columns.values(), strict=True)
        head = [self.id_name, *columns]
        return csv_text([head, *([_text(value) for value in row] for row in rows)])

    def summary(self, command: str | None = None) -> dict[str, Any]:
        """Settings and outcome of the fit as a dict, which JSON can hold."""
        estimator, weights = self.estimator, self.view_weights
        suggestion = getattr(estimator, "cluster_number_", None)
        confidence = self.confidence[~np.isnan(self.confidence)]
        disagreements = [None] * len(weights)
        if self.disagreement is not None:
            disagreements = estimator.view_disagreement_
        return {
            "manyview": __version__,
            "command": command,
            "method": self.method,
            "parameters": plain_params(estimator),
            "n_samples": len(self.ids),
            "n_clusters": self.n_clusters,
            "n_clusters_suggested": suggestion is not None,
            "n_clusters_evidence": None if suggestion is None else suggestion.table(),
            "cluster_sizes": np.bincount(self.labels, minlength=self.n_clusters).tolist(),
            "mean_confidence": _number(confidence.mean() if len(confidence) else None),
            "mean_stability": _number(None if self.stability is None else self.stability.mean()),
            "cluster_stability": [float(v) for v in getattr(estimator, "cluster_stability_", [])],
            "views": [
                {
                    "name": name,
                    "n_samples": int(self.tables.present[:, v].sum()),
                    "n_features": int(matrix.shape[1]),
                    "scaling": estimator.view_scalings_[v],
                    "weight": float(weights[v]),
                    "disagreement": _number(disagreements[v]),
                    **self.tables.preparation(name).summary(),
                }
                for v, (name, matrix) in enumerate(self.tables.views.items())
            ],
            "converged": bool(getattr(estimator, "converged_", True)),
            "stop_reason": getattr(estimator, "stop_reason_", None),
            "rounds": int(getattr(estimator, "n_iter_", 0)),
            "seconds": round(self.seconds, 3),
            "stage_seconds": {
                name: round(value, 3) for name, value in estimator.stage_seconds_.items()
            },
            "warnings": list(self.warnings),
        }

    def report(
        self,
        path: str | Path,
        *,
        title: str = "",
        command: str | None = None,
        metadata: Any = None,
    ) -> Path:
        """Write a page about the clustering: one HTML file, which needs no network.

        `metadata` is a data frame with what else is known of the samples, or a mapping of names to
        values. The page colours its map by it and compares it with the clusters. Rows are joined
        by the index of the frame if the samples have ids, else row i is sample i.
        """
        path = Path(path)
        write_file(path, self.report_html(title=title, command=command, metadata=metadata))
        return path

    def report_html(
        self, *, title: str = "", command: str | None = None, metadata: Any = None
    ) -> str:
        """The text of that page. After a fit on Dask it shows at most 20,000 of the samples, drawn
        at random, and says so."""
        from manyview.report import contents_of, render_clusters

        result = self._of_kept_samples() if self.is_distributed else self
        seed = self.estimator.random_state
        contents = contents_of(result, title or self._title(), command, metadata)
        return render_clusters(contents, random_state=seed if isinstance(seed, int) else 0)

    def _title(self) -> str:
        return f"{self.n_clusters} clusters of {len(self.ids):,} samples"

    def _of_kept_samples(self) -> "ClusterResult":
        """The result for the samples that were kept after a fit on Dask."""
        estimator, rows, views = self.estimator.of_kept_samples()
        said = self.warnings
        if len(rows) < len(self.ids):
            said = (
                f"this page shows {len(rows):,} of {len(self.ids):,} samples, drawn at random, and "
                "neighbours among these; labels.csv has all samples",
                *said,
            )
        tables = replace(
            self.tables,
            ids=tuple(self.ids[row] for row in rows.tolist()),
            views=dict(zip(self.view_names, views.matrices, strict=True)),
            present=self.tables.present[rows],
            index=None if self.tables.index is None else self.tables.index[rows],
            texts={name: [text[row] for row in rows] for name, text in self.tables.texts.items()},
        )
        return replace(self, tables=tables, estimator=estimator, warnings=said)

    def predict(self, data: Any, present: Any = None) -> Prediction:
        """Clusters, confidence and novelty of new samples.

        Parameters
        ----------
        data : as in `manyview.cluster`
            Views may be missing, and data frames with an index of their own are joined by it.
        present : boolean array of shape (n_samples, n_views), optional
            False where a view lacks a sample.
        """
        return self.model().predict(data, present, views=self.views)

    def model(self) -> ClusterModel:
        """A model that labels new samples and can be saved."""
        features = [self.tables.features[name] for name in self.view_names]
        model: ClusterModel = self.estimator.to_model(features)
        if self.tables.has_ids:
            model = replace(model, about={**model.about, "id_name": self.tables.id_name})
        return model.with_categories(
            {name: self.tables.preparation(name).categories for name in self.view_names}
        )

    def save_model(self, path: str | Path) -> None:
        """Write the model to a file for `manyview.load_model`."""
        write_file(Path(path), model_bytes(self.model()))

    def files(
        self,
        command: str | None = None,
        *,
        model: bool = False,
        report: bool = True,
        metadata: Any = None,
    ) -> dict[str, bytes]:
        """The files that the command line writes, by name."""
        summary = json.dumps(self.summary(command), indent=2, ensure_ascii=False) + "\n"
        files = {"labels.csv": self.to_csv().encode()}
        if report:
            files["report.html"] = self.report_html(command=command, metadata=metadata).encode()
        if model:
            files["model.zip"] = model_bytes(self.model())
        # Written last: where it exists, all files are of one run.
        return files | {"summary.json": summary.encode()}

    def add_to(self, data: Any, key: str = "manyview") -> None:
        """Write the result to the MuData or AnnData that was clustered.

        - ``.obs[key]``: the cluster as text, also in each modality of a MuData. ``key`` with
          ``_confidence``, ``_stability`` and ``_disagreement_<view>``: see `columns`.
        - ``.obsm["X_" + key]``: the embedding.
        - ``.obsp``: the graph of all views as ``key + "_connectivities"``, and the lengths of its
          edges in the embedding as ``key + "_distances"``; neither after a fit on Dask.
        - ``.uns[key]``: where these are, view weights, and as JSON the `summary`. With it scanpy
          finds the graph: ``scanpy.tl.umap(data, neighbors_key=key)``.

        Samples that were not clustered get missing values and no edges. What is there under these
        names is replaced.
        """
        numbers = {name: values for name, values in self.columns().items() if name != "cluster"}
        results = SampleResults(
            ids=self.ids,
            has_ids=self.tables.has_ids,
            labels=self.labels,
            columns=numbers,
            embedding=self.estimator.embedding_,
            graph=self._graph(),
            params={"method": "manyview", "n_neighbors": int(np.max(self.estimator.n_neighbors_))},
            about={
                "views": np.array(self.view_names, dtype=object),
                "view_weights": self.view_weights,
                "summary": json.dumps(self.summary()),
            },
        )
        write_back(data, key, results)

    def _graph(self) -> csr_array | None:
        """The unified graph, or for methods without one the weighted mean of the views' graphs,
        symmetrised; None after a fit on Dask."""
        if self.is_distributed:
            return None
        graph = getattr(self.estimator, "unified_graph_", None)
        if graph is None:
            weighted = zip(self.view_weights, self.estimator.view_graphs_, strict=True)
            graph = sum(weight * view_graph for weight, view_graph in weighted)
        return csr_array((graph + graph.T) / 2)


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def _few(items: list[str], most: int = 12) -> str:
    left = len(items) - most
    return ", ".join(items[:most]) + (f", and {left} more" if left > 0 else "")


def _text(value: Any) -> str:
    """Floats with six digits, NaN as nothing."""
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.6g}"
    return str(value)


def _number(value: Any) -> float | None:
    """None for what JSON has no number for."""
    return None if value is None or not np.isfinite(value) else float(value)
