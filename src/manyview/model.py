"""What is kept of a clustering to say where new samples belong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from manyview._typing import FloatArray, IntArray, Matrix
from manyview.neighbors import nearest_known
from manyview.scaling import view_rows
from manyview.tables import AlignedTables
from manyview.views import Views, views_from_tables
from manyview.voting import closeness, vote_shares


@dataclass(frozen=True)
class KnownView:
    """A view of the samples that were clustered.

    Attributes
    ----------
    name : str
    matrix : array or csr_array of shape (n_present, n_features)
        Features as they came, of the samples that the view has.
    samples : array of shape (n_present,), optional
        Their numbers; None where the view has all.
    weight : float
    trust : array of shape (n_present,)
        How much of the sample's edges in this view the other views agree with, from 0 to 1.
    features : tuple of str, optional
        Names of the columns, where they are known.
    """

    name: str
    matrix: Matrix
    samples: IntArray | None
    weight: float
    trust: FloatArray
    features: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Prediction:
    """Clusters of new samples.

    Attributes
    ----------
    labels : array of shape (n_samples,)
    shares : array of shape (n_samples, n_clusters)
        The share of the neighbours' votes for every cluster.
    """

    labels: IntArray
    shares: FloatArray

    @property
    def confidence(self) -> FloatArray:
        """The share of the votes for the cluster that was chosen, from 0 to 1."""
        return np.asarray(self.shares.max(axis=1))


@dataclass(frozen=True)
class ClusterModel:
    """Samples that were clustered, by whose labels new ones are labelled.

    Attributes
    ----------
    views : tuple of KnownView
    labels : array of shape (n_samples,)
    n_neighbors : int
    normalize : str or None
    neighbor_search : str
    seed : int
    about : dict
        Method, parameters and version that made it: for people.
    """

    views: tuple[KnownView, ...]
    labels: IntArray
    n_neighbors: int
    normalize: str | None
    neighbor_search: str
    seed: int
    about: Mapping[str, Any]

    @property
    def n_clusters(self) -> int:
        return int(self.labels.max()) + 1

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(view.name for view in self.views)

    def predict(self, tables: Any, present: Any = None) -> Prediction:
        """Put new samples into the clusters that their nearest known samples are in.

        Parameters
        ----------
        tables : dict of tables by the names of the views, or a list of all views in their order
            Views left out of a dict, rows of NaN, and what `present` says is absent have no vote.
        """
        return self.predict_views(self.complete(tables, present))

    def predict_views(self, new: Views) -> Prediction:
        """The same for views that were checked already."""
        graphs, weights, trust = self._votes(new)
        shares = vote_shares(graphs, self.labels, self.n_clusters, weights, trust)
        undecided = ~shares.any(axis=1)
        if undecided.any():  # no other view agrees with any of their neighbours
            some = [graph[undecided] for graph in graphs]
            everyone = np.ones_like(trust)
            shares[undecided] = vote_shares(some, self.labels, self.n_clusters, weights, everyone)
        return Prediction(np.asarray(shares.argmax(axis=1)), shares)

    def mean_of_voters(self, new: Views, values: FloatArray) -> FloatArray:
        """For every new sample the mean of the known samples' values, by their votes."""
        graphs, weights, trust = self._votes(new)
        total, votes = np.zeros((new.n_samples, values.shape[1])), np.zeros((new.n_samples, 1))
        for graph, weight, own in zip(graphs, weights, trust.T, strict=True):
            total += weight * (graph @ (own[:, None] * values))
            votes += weight * (graph @ own[:, None])
        return np.divide(total, votes, out=total, where=votes > 0)

    def _votes(self, new: Views) -> tuple[list[csr_array], FloatArray, FloatArray]:
        """Votes in every view, the weights of the views, and the trust in every voter."""
        graphs = [self._votes_in(view, new, v) for v, view in enumerate(self.views)]
        trust = np.zeros((len(self.labels), len(self.views)))
        for v, view in enumerate(self.views):
            trust[slice(None) if view.samples is None else view.samples, v] = view.trust
        return graphs, np.array([view.weight for view in self.views]), trust

    def _votes_in(self, view: KnownView, new: Views, v: int) -> csr_array:
        """(new samples, known samples): how close the nearest known ones are in a view."""
        n, own = len(self.labels), new.samples_of(v)
        matrix = new.matrices[v] if own is None else new.matrices[v][own]
        if matrix.shape[0] == 0:
            return csr_array((new.n_samples, n))
        n_known = view.matrix.shape[0]
        # Normalised in one go: some scales are those of the whole matrix.
        both = vstack if isinstance(view.matrix, csr_array) else np.vstack
        rows = view_rows(both([view.matrix, matrix]), view.name, self.normalize)
        m = min(self.n_neighbors + 1, n_known)
        columns, distances = nearest_known(rows, n_known, m, self.neighbor_search, self.seed)
        if m == 1:
            weights = np.ones((len(columns), 1))
        else:
            columns, weights = columns[:, :-1], closeness(distances)
        return _vote_matrix(columns, weights, view.samples, own, (new.n_samples, n))

    def match(self, tables: AlignedTables) -> AlignedTables:
        """Tables with their columns in the order of the known views', by the names of both."""
        known = {view.name: view for view in self.views}
        foreign = [name for name in tables.views if name not in known]
        if foreign:
            raise ValueError(
                f"view '{foreign[0]}'; expected some of {', '.join(self.names)} (NAME=FILE names "
                "a view)"
            )
        views, features = {}, {}
        for name, matrix in tables.views.items():
            columns = _matched(name, tables.features[name], known[name].features)
            views[name] = matrix if columns is None else matrix[:, columns]
            features[name] = tuple(known[name].features or tables.features[name])
        return replace(tables, views=views, features=features)

    def complete(self, tables: Any, present: Any) -> Views:
        """New tables as one record of all views; those left out of a dict have no sample."""
        if present is None:
            present = getattr(tables, "present", None)
        tables = getattr(tables, "views", tables)
        if isinstance(tables, Mapping):
            foreign = [str(name) for name in tables if str(name) not in self.names]
            if foreign:
                raise ValueError(f"view '{foreign[0]}'; expected some of {', '.join(self.names)}")
        elif len(tables) != len(self.views):
            raise ValueError(
                f"got {len(tables)} view(s); expected {len(self.views)} ({', '.join(self.names)}), "
                "or a dict of some of them"
            )
        given = views_from_tables(tables, present)
        if not isinstance(tables, Mapping):
            given = Views(self.names, given.matrices, given.present)
        return self.in_order(given)

    def in_order(self, given: Views) -> Views:
        """The views in the order of the known ones, columns checked."""
        n = given.n_samples
        has = np.ones((n, len(given.names)), dtype=bool) if given.present is None else given.present
        matrices, columns = [], []
        for view in self.views:
            width = view.matrix.shape[1]
            if view.name not in given.names:
                matrices.append(csr_array((n, width)) if isinstance(view.matrix, csr_array)
                                else np.broadcast_to(0.0, (n, width)))  # fmt: skip
                columns.append(np.zeros(n, dtype=bool))
                continue
            place = given.names.index(view.name)
            matrix = given.matrices[place]
            if matrix.shape[1] != width:
                raise ValueError(
                    f"view '{view.name}' has {matrix.shape[1]} columns; expected {width}, as in "
                    "the samples that were clustered"
                )
            matrices.append(_as_known(matrix, view.matrix))
            columns.append(has[:, place])
        present = np.column_stack(columns)
        return Views(self.names, tuple(matrices), None if present.all() else present)


def _matched(name: str, columns: tuple[str, ...], known: tuple[str, ...] | None) -> IntArray | None:
    """Which columns to take, in the order of the known ones; None for all as they are.

    Columns that only have numbers for names are taken as they come.
    """
    if known is None or columns == known or columns == tuple(map(str, range(len(columns)))):
        return None
    place = {column: number for number, column in enumerate(columns)}
    lacking = [column for column in known if column not in place]
    if lacking:
        raise ValueError(
            f"view '{name}' lacks {len(lacking)} of {len(known)} columns that the model knows, "
            f"the first is {lacking[0]!r}; expected all of them"
        )
    return np.array([place[column] for column in known], dtype=np.intp)


def _as_known(matrix: Matrix, known: Matrix) -> Matrix:
    """Dense or sparse, as the view was when it was clustered."""
    if isinstance(known, csr_array):
        return matrix if isinstance(matrix, csr_array) else csr_array(matrix)
    return matrix.toarray() if isinstance(matrix, csr_array) else matrix


def _vote_matrix(
    columns: IntArray,
    weights: FloatArray,
    samples: IntArray | None,
    own: IntArray | None,
    shape: tuple[int, int],
) -> csr_array:
    """Neighbours and weights of some rows as a matrix over all new and all known samples."""
    k = columns.shape[1]
    lengths = np.zeros(shape[0] + 1, dtype=np.int64)
    lengths[1:] = k
    if own is not None:
        lengths[1:] = 0
        lengths[own + 1] = k
    known = columns if samples is None else samples[columns]
    votes = csr_array((weights.ravel(), known.ravel(), np.cumsum(lengths)), shape=shape)
    votes.eliminate_zeros()
    return votes
