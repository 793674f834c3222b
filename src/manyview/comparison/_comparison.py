"""What `compare` found: a row per clustering, and how they agree."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from manyview._typing import FloatArray, IntArray
from manyview._version import __version__
from manyview.comparison._columns import columns_of, text_table
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
        return figures | figures.pop("scores")


@dataclass(frozen=True, repr=False)
class Comparison:
    """Several clusterings of the same samples; print it for a table.

    `rows` has the figures of all clusterings, `results` the `ClusterResult` of those that did not
    fail, by title. `agreement` is the ARI of every two of `results`, in their order: 1 is the same,
    0 is chance. `cluster_number` is the suggested number of clusters with its evidence, None if no
    clustering asked for it.
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
        found: dict[str, list[str]] = {}
        for title, result in self.results.items():
            for text in dict.fromkeys(result.warnings):
                found.setdefault(text, []).append(title)
        return found

    def table(self) -> list[dict[str, Any]]:
        """One row per clustering, for ``pandas.DataFrame(comparison.table())``.

        Figures that no clustering has are left out.
        """
        columns = columns_of(self.rows)
        return [{name: row.as_dict().get(name) for name in columns} for row in self.rows]

    def __repr__(self) -> str:
        lines = [text_table(self.rows)]
        lines += [f"{', '.join(titles)}: {text}" for text, titles in self.warnings.items()]
        return "\n".join(lines)

    def summary(self, command: str | None = None) -> dict[str, Any]:
        """Settings and figures, in types that JSON has."""
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

    def files(self, command: str | None = None) -> dict[str, bytes]:
        """The files that the command line writes, by name."""
        table = self.table()
        rows = [[_text(value) for value in row.values()] for row in table]
        labels = zip(self.ids, *self.labels.values(), strict=True)
        summary = json.dumps(self.summary(command), indent=2, ensure_ascii=False) + "\n"
        # The last one is written last: where it exists, all files are of one run.
        return {
            "comparison.csv": csv_text([list(table[0]), *rows]).encode(),
            "labels.csv": csv_text([["id", *self.labels], *labels]).encode(),
            "comparison.html": self.report_html(command=command).encode(),
            "summary.json": summary.encode(),
        }


def _text(value: Any) -> str:
    """Floats with six digits, None as nothing."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else str(value)
