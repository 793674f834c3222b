"""`compare`: cluster the same samples in several ways, and measure what came of each."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from manyview._typing import FloatArray
from manyview.api import cluster
from manyview.comparison._candidates import Candidate, candidates, with_number
from manyview.comparison._comparison import Comparison, Row
from manyview.comparison._measures import (
    agreement_of,
    class_scores,
    classes_of,
    cut_and_modularity,
)
from manyview.inputs import AlignedTables, aligned_tables
from manyview.methods import ConsensusGraph, SpectralAverage
from manyview.metrics import adjusted_rand
from manyview.result import ClusterResult
from manyview.runtime import check_integer, logger

#: What is compared unless told otherwise: the default, the plainest method, and one that learns.
DEFAULT_METHODS = ("consensus", "average", "angular")
# The share of the samples in a subsample.
_SUBSAMPLE = 0.8
# Parameters that the graph of the cut, and the suggestion of a number of clusters, have too.
_OF_GRAPHS = ("n_neighbors", "graph", "neighbor_search", "scaling")


def compare(
    data: Any,
    n_clusters: int | str | Sequence[int | str] = "auto",
    methods: Sequence[str] | Mapping[str, Mapping[str, Any]] = DEFAULT_METHODS,
    *,
    classes: Any = None,
    n_subsamples: int = 0,
    views: Any = None,
    present: Any = None,
    random_state: int | None = 0,
    **options: Any,
) -> Comparison:
    """Cluster the same samples by several methods, settings or numbers of clusters.

    A clustering that fails, for example by a method that needs complete views, is a row with the
    reason. Warnings of the fits are in the result and are not raised.

    Parameters
    ----------
    data, views, present, random_state
        As in `manyview.cluster`.
    n_clusters : int, "auto" or a list of them, default="auto"
        Every method is run with every number. "auto" suggests one from the graphs of the views,
        and all methods get the same.
    methods : list of names, or dict of settings by title
        Names as in `manyview.cluster`. Settings are parameters of `manyview.cluster`, such as
        ``{"few neighbours": {"method": "consensus", "n_neighbors": 8}}``; a number of clusters or a
        resolution among them replaces `n_clusters`.
    classes : known classes of the samples, optional
        In the order of the samples, or by id as a dict or a pandas series. No method sees them;
        they give ACC, NMI and ARI. Samples without a class (None, NaN) are left out of these.
    n_subsamples : int, default=0
        If given, every clustering is repeated on so many random subsamples of 80 % of the samples,
        and its agreement with them is measured. Takes as many more fits.
    **options
        Parameters of all the methods, such as ``n_neighbors=20``.

    See Also
    --------
    cluster : One clustering.
    Comparison : What is returned.
    manyview.plotting.plot_agreement : Draws how the clusterings agree.

    Examples
    --------
    >>> import manyview
    >>> data = manyview.datasets.make_blob_views(90, 3, random_state=0)
    >>> found = manyview.compare(data.views, [2, 3], ["consensus", "average"])
    >>> list(found.results)
    ['consensus, 2', 'consensus, 3', 'average, 2', 'average, 3']
    """
    wanted = candidates(methods, n_clusters, options)
    check_integer("n_subsamples", n_subsamples, 0)
    tables = aligned_tables(data, views, present)
    known = None if classes is None else classes_of(classes, tables)
    given = {name: value for name, value in options.items() if name in _OF_GRAPHS}
    given |= {"scaling": options.get("scaling", "auto"), "random_state": random_state}
    found, number = {}, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of fits are in the results
        logger.info("average graph")
        graph = SpectralAverage("auto", **given).average_graph(tables)
        if any(one.is_automatic for one in wanted):
            logger.info("number of clusters")
            number = ConsensusGraph("auto", **given).suggest_n_clusters(tables)
            wanted = with_number(wanted, number.n_clusters)
        for one in wanted:
            logger.info("%s", one.title)
            found[one.title] = _fitted(tables, one, random_state, n_subsamples)
    return _comparison(wanted, found, graph, known, number)


Fitted = tuple[ClusterResult, FloatArray]


def _fitted(
    tables: AlignedTables, one: Candidate, random_state: int | None, n_subsamples: int
) -> Fitted | str:
    """The result, and its ARI with each subsample; or the reason why there is none."""

    def fit(tables: AlignedTables) -> ClusterResult:
        return cluster(
            tables, one.n_clusters, method=one.method, random_state=random_state, **one.settings
        )

    try:
        result = fit(tables)
        rng, n = np.random.default_rng(random_state), len(tables.ids)
        agreements = []
        for _ in range(n_subsamples):
            rows = np.sort(rng.permutation(n)[: round(_SUBSAMPLE * n)])
            part = fit(_some_samples(tables, rows))
            agreements.append(adjusted_rand(result.labels[rows], part.labels))
        return result, np.array(agreements)
    except (ValueError, MemoryError, ImportError) as error:
        return " ".join(str(error).split()) or type(error).__name__


def _some_samples(tables: AlignedTables, rows: Any) -> AlignedTables:
    return replace(
        tables,
        ids=tuple(tables.ids[row] for row in rows),
        views={name: matrix[rows] for name, matrix in tables.views.items()},
        present=tables.present[rows],
    )


def _comparison(
    wanted: Sequence[Candidate],
    found: Mapping[str, Fitted | str],
    graph: csr_array,
    classes: list[Any] | None,
    number: Any,
) -> Comparison:
    fitted = {title: one for title, one in found.items() if not isinstance(one, str)}
    if not fitted:
        first, reason = next(iter(found.items()))
        raise ValueError(f"no method could cluster these samples; {first}: {reason}")
    agreement = agreement_of([result.labels for result, _ in fitted.values()])
    others = dict(zip(fitted, _mean_of_others(agreement), strict=True))
    rows = []
    for one in wanted:
        outcome = found[one.title]
        if isinstance(outcome, str):
            rows.append(Row(one.title, one.method, error=outcome))
        else:
            row = _row(one, *outcome, graph, classes)
            rows.append(replace(row, agreement=others[one.title]))
    results = {title: result for title, (result, _) in fitted.items()}
    return Comparison(tuple(rows), results, agreement, number)


def _mean_of_others(agreement: FloatArray) -> list[float | None]:
    """The mean agreement of each clustering with the others; None if there are none."""
    n = len(agreement)
    if n == 1:
        return [None]
    return list(((agreement.sum(axis=1) - 1) / (n - 1)).tolist())


def _row(
    one: Candidate,
    result: ClusterResult,
    agreements: FloatArray,
    graph: csr_array,
    classes: list[Any] | None,
) -> Row:
    cut, modularity = cut_and_modularity(graph, result.labels)
    sizes = np.bincount(result.labels, minlength=result.n_clusters)
    return Row(
        title=one.title,
        method=one.method,
        n_clusters=result.n_clusters,
        smallest=int(sizes.min()),
        largest=int(sizes.max()),
        cut=cut,
        modularity=modularity,
        stability=None if result.stability is None else float(result.stability.mean()),
        subsamples=float(agreements.mean()) if len(agreements) else None,
        scores={} if classes is None else class_scores(classes, result.labels),
        seconds=result.seconds,
    )
