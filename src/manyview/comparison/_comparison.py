"""What `compare` found: a row per clustering, and how they agree."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from manyview._typing import FloatArray, IntArray
from manyview._version import __version__
from manyview.comparison._columns import columns_of, shown_columns, text_table
from manyview.methods import plain_params
from manyview.result import ClusterResult, csv_text
from manyview.runtime import write_file
from manyview.spectral import ClusterNumber


@dataclass(frozen=True)
class Row:
    """Figures of one clustering; None for those that it lacks, and for all if it failed.

    `smallest` and `largest` are numbers of samples in a cluster. `cut` and `modularity` are
    measured on the average of the views' graphs. `agreement` is the mean ARI with the other
    clusterings, `subsamples` that with clusterings of 80 % of the samples.

    See Also
    --------
    manyview.Comparison : Has one per clustering.

    Examples
    --------
    >>> import manyview
    >>> data = manyview.datasets.make_blob_views(90, 3, random_state=0)
    >>> first, second = manyview.compare(data.views, [2, 3], ["average"]).rows
    >>> first.title, first.n_clusters, first.cut < second.cut
    ('average, 2', 2, True)
    """

    title: str
    method: str
    n_clusters: int | None = None
    smallest: int | None = None
    largest: int | None = None
    cut: float | None = None
    modularity: float | None = None
    agreement: float | None = None
    stability: float | None = None
    subsamples: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None
    error: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Figures by name, with the scores among them."""
        figures = asdict(self)
        scores: dict[str, float] = figures.pop("scores")
        return figures | scores


@dataclass(frozen=True, repr=False)
class Comparison:
    """Several clusterings of the same samples; print it for a table.

    `rows` has the figures of all clusterings, `results` the `ClusterResult` of those that did not
    fail, by title. `agreement` is the ARI of every two of `results`, in their order: 1 is the same,
    0 is chance. `cluster_number` is the suggested number of clusters with its evidence, None if no
    clustering asked for it.

    See Also
    --------
    compare : Makes it.
    manyview.plotting.plot_alluvial : Draws where the samples of each cluster are in the others.

    Examples
    --------
    >>> import manyview
    >>> data = manyview.datasets.make_blob_views(90, 3, random_state=0)
    >>> found = manyview.compare(data.views, 3, ["consensus", "average"])
    >>> found.agreement.round(2).tolist()
    [[1.0, 0.97], [0.97, 1.0]]
    """

    rows: tuple[Row, ...]
    results: Mapping[str, ClusterResult]
    agreement: FloatArray
    cluster_number: ClusterNumber | None = None

    @property
    def labels(self) -> dict[str, IntArray]:
        """The clusters of the samples, by title."""
        return {title: result.labels for title, result in self.results.items()}

    @property
    def ids(self) -> tuple[str, ...]:
        return next(iter(self.results.values())).ids

    @property
    def warnings(self) -> dict[str, list[str]]:
        """Warnings of the fits, with the titles of those that gave them."""
        return _titles_by_text((title, one.warnings) for title, one in self.results.items())

    @property
    def failures(self) -> dict[str, list[str]]:
        """Reasons of failures, with the titles of what failed."""
        return _titles_by_text((row.title, (row.error,)) for row in self.rows if row.error)

    def table(self) -> list[dict[str, Any]]:
        """One row per clustering, for ``pandas.DataFrame(comparison.table())``.

        Figures that no clustering has are left out.
        """
        columns = columns_of(self.rows)
        return [{name: row.as_dict().get(name) for name in columns} for row in self.rows]

    def shown(self) -> dict[str, list[str]]:
        """The same as text, by heading: what printed tables and the page show."""
        return shown_columns(self.rows)

    def __repr__(self) -> str:
        return "\n".join([text_table(self.rows), *self.remarks()])

    def remarks(self) -> list[str]:
        """Failures and warnings, one line each."""
        failed = [f"{'; '.join(names)} failed: {text}" for text, names in self.failures.items()]
        return failed + [f"{'; '.join(names)}: {text}" for text, names in self.warnings.items()]

    def summary(self, command: str | None = None) -> dict[str, Any]:
        """Settings and figures as a dict, which JSON can hold."""
        number = self.cluster_number
        parameters = {title: plain_params(one.estimator) for title, one in self.results.items()}
        return {
            "manyview": __version__,
            "command": command,
            "n_samples": len(self.ids),
            "clusterings": self.table(),
            "parameters": parameters,
            "agreement": {"titles": list(self.results), "ARI": self.agreement.tolist()},
            "n_clusters_evidence": None if number is None else number.table(),
            "warnings": self.warnings,
        }

    def report(self, path: str | Path, *, title: str = "", command: str | None = None) -> Path:
        """Write a page about the comparison: one HTML file, which needs no network."""
        path = Path(path)
        write_file(path, self.report_html(title=title, command=command))
        return path

    def report_html(self, *, title: str = "", command: str | None = None) -> str:
        """The text of that page."""
        from manyview.comparison._page import render_comparison

        return render_comparison(self, title, command)

    def files(self, command: str | None = None, *, page: bool = True) -> dict[str, bytes]:
        """The files that the command line writes, by name."""
        table = self.table()
        rows = [[_text(value) for value in row.values()] for row in table]
        labels = zip(self.ids, *self.labels.values(), strict=True)
        summary = json.dumps(self.summary(command), indent=2, ensure_ascii=False) + "\n"
        files = {
            "comparison.csv": csv_text([list(table[0]), *rows]).encode(),
            "labels.csv": csv_text([["id", *self.labels], *labels]).encode(),
        }
        if page:
            files["comparison.html"] = self.report_html(command=command).encode()
        # Written last: where it exists, all files are of one run.
        return files | {"summary.json": summary.encode()}


def _titles_by_text(pairs: Iterable[tuple[str, tuple[str, ...]]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for title, texts in pairs:
        for text in dict.fromkeys(texts):
            found.setdefault(text, []).append(title)
    return found


def _text(value: Any) -> str:
    """Floats with six digits, None as nothing."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else str(value)
