"""What a user calls first: `cluster` and `suggest_n_clusters`."""

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from manyview.graphs import Neighbors
from manyview.inputs import AlignedTables, Scaling, ViewColumns, aligned_tables, is_collection
from manyview.methods import BY_SHORT_NAME, DEFAULT, DISTRIBUTED, ConsensusGraph
from manyview.result import ClusterResult
from manyview.runtime import check_choice, require_extra, warn
from manyview.spectral import MAX_CLUSTERS, ClusterNumber

# Arguments of `cluster` that are also parameters of estimators.
_OWN = ("n_clusters", "views", "random_state")


def cluster(
    data: Any,
    n_clusters: int | str = "auto",
    *,
    method: str = DEFAULT,
    views: ViewColumns = None,
    present: Any = None,
    categorical: Sequence[str] = (),
    impute: str | None = None,
    random_state: int | None = 0,
    checkpoint: str | Path | None = None,
    client: Any = None,
    **options: Any,
) -> ClusterResult:
    """Cluster samples that come in several views.

    Parameters
    ----------
    data : MuData, AnnData, dict, list or tuple of tables, or one table with `views`
        Pandas data frames with an index of their own are joined by it, so samples may be in any
        order or missing. Other tables must have the same samples in the same order, with rows of
        NaN for missing ones. The modalities of a MuData are its views; each may lack cells.
    n_clusters : int or "auto", default="auto"
        "auto" suggests a number, as `suggest_n_clusters` does. (Estimators have scikit-learn's
        default, 8.)
    method : str, default="consensus"
        Short name of a method, such as "average" or "snf"; docs/compared-methods.md has them all.
        "anchors", "kmeans", "spherical" and "cotrain" need a number of clusters.
    views : optional
        Of several tables, or of a MuData: names of those to use. For AnnData: "X", layers or keys
        of obsm; by default "X" alone. A dict chooses a matrix per modality of a MuData,
        ``{"rna": "X_pca", "protein": "X"}``, and names the views of an AnnData; "layers/NAME" or
        "obsm/NAME" where both have the name. If data is one table: which columns are a view, as
        widths left to right (``[64, 9]``), or for each view its columns (names, positions or a
        slice), in a list or in a dict by the name of the view.
    present : boolean array of shape (n_samples, n_views), optional
        False where a view lacks a sample.
    categorical : names of columns, optional
        Columns of data frames that hold categories: text, booleans or codes. Each becomes a column
        of 0 and 1 per category.
    impute : "median", optional
        Fill empty cells (NaN) with the median of their column. Without it they are refused, except
        in rows of NaN only.
    random_state : int or None, default=0
        Seed of everything random. The same seed gives the same result; None does not.
    checkpoint : path of a folder, optional
        Progress is saved there, and the same call resumes after an interruption. For
        "consensus", "angular", "cigmvc" and "gbs".
    client : distributed.Client, optional
        Fit on the workers of this Dask client, by the same methods. Views may then also be Dask
        arrays and data frames, or paths of Parquet files or folders that the workers read; their
        samples are numbered. Samples and graphs stay on the workers; report and model are made
        from at most 20,000 samples, drawn at random.
    **options
        Other parameters of the method, such as ``n_neighbors=20``. In methods that have it,
        ``resolution=1.0`` lets the Leiden algorithm find the clusters and their number.

    Returns
    -------
    ClusterResult
        Clusters, scores per sample, a report, and predictions for new samples.

    See Also
    --------
    suggest_n_clusters : Only the number of clusters, with the evidence.
    compare : Several methods or numbers of clusters side by side.
    ConsensusGraph : The default method as a scikit-learn estimator.
    ClusterResult : What is returned.

    Examples
    --------
    >>> import manyview
    >>> data = manyview.datasets.make_blob_views(90, 3, random_state=0)
    >>> result = manyview.cluster(data.views, 3)
    >>> result.labels.shape
    (90,)
    """
    check_choice("method", method, tuple(BY_SHORT_NAME))
    if options.get("graph") == "precomputed":
        raise ValueError(
            "graph='precomputed'; expected features, or the estimator "
            f"{BY_SHORT_NAME[method].estimator}, which takes similarities"
        )
    if options.get("resolution") is not None and n_clusters != "auto":
        raise ValueError(
            f"n_clusters={n_clusters!r} with resolution={options['resolution']!r}; expected one of "
            "them"
        )
    known = BY_SHORT_NAME[method].make(n_clusters).get_params()
    if unknown := [name for name in options if name not in known]:
        raise ValueError(
            f"method={method!r} has no parameter {unknown[0]!r}; expected some of "
            + ", ".join(sorted(set(known) - set(_OWN)))
        )
    estimator = BY_SHORT_NAME[method].make(n_clusters, random_state=random_state, **options)
    for name, value in (("checkpoint", checkpoint), ("client", client)):
        if value is not None and method not in DISTRIBUTED:
            able = ", ".join(map(repr, DISTRIBUTED))
            raise ValueError(f"{name} with method={method!r}; expected one of {able}")
    kept = {} if checkpoint is None else {"checkpoint": checkpoint}
    prepare: dict[str, Any] = {"categorical": categorical, "impute": impute}
    if client is None:
        tables = aligned_tables(data, views, present, **prepare)
    started = time.perf_counter()
    with _recorded_warnings() as recorded:
        if client is None:
            estimator.fit(tables, **kept)
        else:
            tables = _fit_on_dask(estimator, data, views, present, prepare, client=client, **kept)
    seconds = time.perf_counter() - started
    return ClusterResult(tables, estimator, method, seconds, tuple(recorded), views)


def _fit_on_dask(
    estimator: Any,
    data: Any,
    views: ViewColumns,
    present: Any,
    prepare: Mapping[str, Any],
    **given: Any,
) -> AlignedTables:
    """Fit, and return the tables; features may be on the workers alone."""
    with require_extra("a fit on Dask", "dask"):
        from manyview.distributed import distributed_tables
    remote = distributed_tables(data, views)
    if remote is None:
        tables = aligned_tables(data, views, present, **prepare)
        estimator.fit(tables.views, present=tables.present, **given)
    else:
        for name, value in prepare.items():
            if value:
                raise ValueError(f"{name} with views on Dask workers; expected numbers, all filled")
        estimator.fit(remote.views, present=present, **given)
        n, n_views = len(estimator.labels_), len(remote.views)
        ids = tuple(map(str, range(n)))
        everywhere = np.ones((n, n_views), dtype=bool)
        tables = AlignedTables(ids, remote.views, everywhere, remote.features, has_ids=False)
    found = estimator.present_  # rows of NaN only are found where they are read
    return tables if found is None else replace(tables, present=tables.present & found)


@contextmanager
def _recorded_warnings() -> Iterator[list[str]]:
    """Collect the texts of warnings; they are still issued afterwards."""
    recorded: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield recorded
    for warning in caught:
        text = str(warning.message)
        # A fit on Dask that is repeated after a loss warns again.
        if issubclass(warning.category, UserWarning) and text not in recorded:
            recorded.append(text)
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def suggest_n_clusters(
    data: Any,
    *,
    max_clusters: int = MAX_CLUSTERS,
    n_neighbors: Neighbors = "auto",
    graph: str = "adaptive",
    neighbor_search: str = "auto",
    scaling: Scaling = "auto",
    views: ViewColumns = None,
    present: Any = None,
    random_state: Any = 0,
    client: Any = None,
) -> ClusterNumber:
    """Suggest a number of clusters, at least 2, for views of the same samples.

    The samples are clustered into 2, 3, ... clusters. Suggested is the number whose clusters are
    most stable and separate. The result has the evidence: print it, call `table`, or plot it with
    `manyview.plotting.plot_cluster_number` and `plot_splits`. It also tells whether there is any
    structure.

    Parameters
    ----------
    data, views, present, random_state
        As in `cluster`; one table without `views` is one view.
    max_clusters : int, default=30
        The largest number looked at. More take longer: 200 about 20 times as long.
    n_neighbors, graph, neighbor_search, scaling
        As in `ConsensusGraph`.
    client : distributed.Client, optional
        As in `cluster`; views then are a dict or list of tables, Dask collections or paths.

    See Also
    --------
    cluster : Suggests a number if it is given none.
    manyview.spectral.ClusterNumber : What is returned.
    manyview.plotting.plot_cluster_number : Draws the evidence.

    Examples
    --------
    >>> from manyview import suggest_n_clusters
    >>> from manyview.datasets import make_blob_views
    >>> suggest_n_clusters(make_blob_views(300, 4, random_state=0).views).n_clusters
    4
    """
    reader = ConsensusGraph(
        "auto", n_neighbors=n_neighbors, graph=graph, neighbor_search=neighbor_search,
        scaling=scaling, random_state=random_state,
    )  # fmt: skip
    if client is not None:
        found = reader.suggest_n_clusters(
            data, present=present, max_clusters=max_clusters, client=client
        )
        if found.doubt:
            warn(found.doubt)
        return found
    if graph == "precomputed":  # similarities are in the order of the samples in all tables
        reader.set_params(views=views)
    else:
        if views is None and not is_collection(data) and not hasattr(data, "obs_names"):
            data = [data]
        data, present = aligned_tables(data, views, present), None
    found = reader.suggest_n_clusters(data, present=present, max_clusters=max_clusters)
    if found.doubt:
        warn(found.doubt)
    return found
