"""A model of a clustering that labels new samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, vstack

from manyview._typing import FloatArray, IntArray
from manyview.graphs import nearest_reference
from manyview.inputs import (
    AlignedTables,
    Table,
    Views,
    align,
    is_collection,
    joint_rows,
    name_tables,
    plain_tables,
    views_from_tables,
)
from manyview.predict._blocks import is_dask, predict_blocks
from manyview.predict._new_samples import check_view_names, named_views, new_tables
from manyview.predict._training_views import TrainingView, match_views, prepare_like
from manyview.predict._voting import vote_shares, votes_by_distance
from manyview.runtime import check_choice, require_pandas

# Neighbours that no other view agrees with are still the nearest.
_MIN_TRUST = 1e-3
# A view of weight 0 decides only for samples that no other view has.
_MIN_WEIGHT = 1e-9
# Training samples whose own distances tell what is usual, and the share of them that is. What is
# farther than so many times that is outside.
_PROBES, _USUAL, _OUTSIDE = 300, 0.99, 2.0
# The largest novelty.
_FAR = 1e6


@dataclass(frozen=True, repr=False)
class Prediction:
    """Clusters of new samples.

    Attributes
    ----------
    labels : array of shape (n_samples,)
    shares : array of shape (n_samples, n_clusters)
        The share of the neighbours' votes for every cluster; rows sum to 1.
    novelty : array of shape (n_samples,)
        How far the sample is from its nearest training samples, in units of twice the distance
        that 99 % of the training samples have at most: above 1 it is unlike anything known. Mean
        over the views by their weights.
    ids : tuple of str, optional
        Names of the samples, if given.

    See Also
    --------
    manyview.ClusterResult : Its `predict` returns one.
    manyview.predict.ClusterModel : So does that of a model.

    Examples
    --------
    >>> import manyview
    >>> data = manyview.datasets.make_blob_views(90, 3, random_state=0)
    >>> result = manyview.cluster(data.views, 3)
    >>> found = result.predict({"view0": data.views["view0"][:5] + 100})
    >>> found.n_outside
    5
    """

    labels: IntArray
    shares: FloatArray
    novelty: FloatArray
    ids: tuple[str, ...] | None = None

    @property
    def confidence(self) -> FloatArray:
        """The share of the votes for the chosen cluster, from 0 to 1; divided by the novelty where
        that is above 1."""
        return np.asarray(self.shares.max(axis=1) / np.maximum(self.novelty, 1.0))

    @property
    def n_outside(self) -> int:
        """How many samples are unlike anything known."""
        return int((self.novelty > 1).sum())

    def to_frame(self) -> Any:
        """A pandas data frame with one row per sample: cluster, confidence and novelty."""
        pd = require_pandas()
        columns = {"cluster": self.labels, "confidence": self.confidence, "novelty": self.novelty}
        return pd.DataFrame(
            columns, index=None if self.ids is None else pd.Index(self.ids, name="id")
        )

    def __repr__(self) -> str:
        found, known = np.unique(self.labels), self.confidence
        return (
            f"Prediction: {len(self.labels):,} samples in {len(found)} clusters, mean confidence "
            f"{known.mean():.2f}, {self.n_outside:,} unlike anything known"
        )


@dataclass(frozen=True, repr=False)
class ClusterModel:
    """Training samples and their labels, from which new samples are labelled.

    Attributes
    ----------
    views : tuple of TrainingView
    labels : array of shape (n_samples,)
    neighbor_search : str
    seed : int
    about : dict
        Method, parameters and version that made it, for information.

    See Also
    --------
    manyview.ClusterResult : Its `model` makes one.
    manyview.save_model : Writes it to a file.

    Examples
    --------
    >>> import manyview
    >>> data = manyview.datasets.make_blob_views(90, 3, random_state=0)
    >>> model = manyview.cluster(data.views, 3).model()
    >>> model
    ClusterModel: 3 clusters of 90 samples in 3 view(s): view0, view1, view2
    >>> model.predict(data.views).labels.shape
    (90,)
    """

    views: tuple[TrainingView, ...]
    labels: IntArray
    neighbor_search: str
    seed: int
    about: Mapping[str, Any]

    def __repr__(self) -> str:
        return (
            f"ClusterModel: {self.n_clusters} clusters of {len(self.labels):,} samples in "
            f"{len(self.views)} view(s): {', '.join(self.names)}"
        )

    @property
    def n_clusters(self) -> int:
        return int(self.labels.max()) + 1

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(view.name for view in self.views)

    @property
    def categorical(self) -> tuple[str, ...]:
        """Names of the columns that hold categories, in any view."""
        return tuple(dict.fromkeys(name for view in self.views for name in view.categories))

    def with_categories(self, categories: Mapping[str, Mapping[str, tuple[str, ...]]]) -> Self:
        """The same with the categories of columns that were encoded, by view and column."""
        views = (replace(view, categories=categories.get(view.name, {})) for view in self.views)
        return replace(self, views=tuple(views))

    def prepared(self, tables: Sequence[Table], impute: str | None = None) -> list[Table]:
        """New samples encoded and, on request, filled by what the training samples have."""
        if impute is not None:
            check_choice("impute", impute, ("median",))
        check_view_names({table.name: table for table in tables}, self.names)
        known = dict(zip(self.names, self.views, strict=True))
        return [prepare_like(known[table.name], table, impute is not None) for table in tables]

    def predict(
        self, data: Any, present: Any = None, *, views: Any = None, impute: str | None = None
    ) -> Prediction:
        """Assign new samples to the clusters of their nearest training samples.

        Parameters
        ----------
        data : as in `manyview.cluster`
            Tables by view name, or all views in order. Views left out, rows of NaN and missing
            samples have no vote. Columns with names may be in any order. Data frames with an index
            of their own are joined by it. Dask collections are predicted block by block; row i of
            every view is sample i.
        present : boolean array of shape (n_samples, n_views), optional
            False where a view lacks a sample.
        views : optional
            The parameter `views` of `manyview.cluster`, if the data need it: one table that is cut
            into views, or matrices of a MuData or AnnData.
        impute : "median", optional
            Fill empty cells (NaN) of tables in a dict or list with the medians of the training
            samples.
        """
        if is_dask(data):
            return self._predict_dask(data, present, impute)
        is_raw = is_collection(data) and not isinstance(data, AlignedTables)
        if is_raw and (self.categorical or impute is not None):
            own = plain_tables(name_tables(named_views(data, self.names)), self.categorical)
            data = align(self.prepared(own, impute))
        elif impute is not None:
            raise ValueError(
                f"impute={impute!r} with {type(data).__name__}; expected a dict or list of tables"
            )
        tables = new_tables(data, self.names, views, present)
        ids = tables.ids if tables.has_ids else None
        return replace(self.predict_views(self.read(tables)), ids=ids)

    def _predict_dask(self, data: Any, present: Any, impute: str | None) -> Prediction:
        for name, value in (("present", present), ("impute", impute)):
            if value is not None:
                raise ValueError(f"{name} with Dask collections; expected rows of NaN, or nothing")
        several = is_collection(data)
        found = predict_blocks(self, named_views(data if several else [data], self.names))
        return Prediction(
            np.concatenate([one.labels for one in found]),
            np.concatenate([one.shares for one in found]),
            np.concatenate([one.novelty for one in found]),
        )

    def read(self, tables: Any, present: Any = None) -> Views:
        """New samples in the views of the model; row i of every table is sample i."""
        return match_views(self.views, views_from_tables(tables, present))

    def predict_views(self, new: Views) -> Prediction:
        """The same for views returned by `read` or `match_views`."""
        found = [self._votes_in(v, new) for v in range(len(self.views))]
        votes, novelties = zip(*found, strict=True)
        shares = vote_shares(list(votes), self.labels, self.n_clusters, self._weights)
        known = ~np.isnan(np.array(novelties))
        weights = known * self._weights[:, None]
        total = (weights * np.nan_to_num(novelties, posinf=_FAR)).sum(axis=0)
        novelty = np.minimum(total / weights.sum(axis=0), _FAR)
        return Prediction(np.asarray(shares.argmax(axis=1)), shares, novelty)

    def mean_of_neighbors(self, new: Views, values: FloatArray) -> FloatArray:
        """The mean of the training samples' values for every new sample, weighted by votes."""
        total, votes = np.zeros((new.n_samples, values.shape[1])), np.zeros((new.n_samples, 1))
        for v, weight in enumerate(self._weights):
            graph = self._votes_in(v, new)[0]
            total += weight * (graph @ values)
            votes += weight * graph.sum(axis=1)[:, None]
        return np.divide(total, votes, out=total, where=votes > 0)

    @property
    def _weights(self) -> FloatArray:
        return np.maximum([view.weight for view in self.views], _MIN_WEIGHT)

    def _votes_in(self, v: int, new: Views) -> tuple[csr_array, FloatArray]:
        """Votes of training samples for new samples in a view, (new, training), and the novelty of
        these; NaN where the view lacks the sample."""
        view, shape, own = self.views[v], (new.n_samples, len(self.labels)), new.samples_of(v)
        novelty = np.full(new.n_samples, np.nan)
        matrix = new.matrices[v] if own is None else new.matrices[v][own]
        if matrix.shape[0] == 0:
            return csr_array(shape), novelty
        n_training, n_new = view.matrix.shape[0], matrix.shape[0]
        # Some training samples are searched for as well: what distances do they have?
        probes = np.unique(np.linspace(0, n_training - 1, _PROBES).astype(np.intp))
        both = vstack if isinstance(matrix, csr_array) else np.vstack
        rows = joint_rows(view.matrix, both([matrix, view.matrix[probes]]), view.scaling)
        m = min(view.n_neighbors + 1, n_training)
        columns, distances = nearest_reference(rows, n_training, m, self.neighbor_search, self.seed)
        limit = _OUTSIDE**2 * float(np.quantile(distances[n_new:, -1], _USUAL))
        columns, distances = columns[:n_new], distances[:n_new]
        novelty[slice(None) if own is None else own] = _beyond(distances[:, -1], limit)
        weights = np.ones((len(columns), 1))
        if m > 1:
            columns, weights = columns[:, :-1], votes_by_distance(distances)
        # A training sample equal to the new one counts in full, whatever the trust in it.
        same = distances[:, : columns.shape[1]] == 0
        weights *= np.where(same, 1.0, np.maximum(view.trust[columns], _MIN_TRUST))
        voters = columns if view.samples is None else view.samples[columns]
        lengths = np.zeros(shape[0] + 1, dtype=np.int64)
        lengths[1:][slice(None) if own is None else own] = columns.shape[1]
        votes = csr_array((weights.ravel(), voters.ravel(), np.cumsum(lengths)), shape=shape)
        votes.eliminate_zeros()
        return votes, novelty


def _beyond(sq_distances: FloatArray, limit: float) -> FloatArray:
    """Distances in units of the limit, both squared.

    Where training samples repeat the limit is 0. Then no distance is small or large: it is 1.
    """
    if limit == 0:
        return np.asarray(sq_distances > 0, dtype=np.float64)
    with np.errstate(over="ignore"):
        return np.minimum(np.sqrt(sq_distances / limit), _FAR)
