"""What a fitted estimator says about samples that it was not fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from manyview._typing import BoolArray, FloatArray, IntArray
from manyview._version import __version__
from manyview.graphs import own_shares
from manyview.inputs import Views, check_numbers, is_collection, views_from_matrix
from manyview.predict import ClusterModel, KnownView, Prediction, match_views


def _has_features(estimator: Any) -> bool:
    """Similarities between known samples tell nothing about new ones."""
    if estimator._takes_similarities():
        raise AttributeError(
            f"{type(estimator).__name__} was given similarities, not features, and can't compare "
            "new samples with those it was fitted to"
        )
    return True


@dataclass(frozen=True)
class Voting:
    """Parameters at the time of the fit; what is set afterwards is for the next one."""

    n_voters: int
    normalize: str | None


class PredictsNew(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Labels and embedding of new samples, by the votes of their nearest known ones."""

    # Neighbours that vote where the method has no number of its own.
    _auto_neighbors = 15

    labels_: IntArray
    embedding_: FloatArray
    view_names_: tuple[str, ...]
    _views: Views  # or None, where `_on_cluster`
    # Which samples the views of a fit on a cluster have; None where all have all.
    _present: BoolArray | None = None
    _voting: Voting
    _seed: int
    _confidence: FloatArray  # where `_on_cluster`

    @available_if(_has_features)
    def predict(self, X: Any, *, present: Any = None) -> IntArray:
        """Put new samples into the clusters that their nearest known samples are in.

        In every view the nearest samples vote, by how close they are, by the weight of the view,
        and by how much the other views agree with their edges.

        Parameters
        ----------
        X : as in `fit`
            A dict may lack views, and rows of NaN are samples that a view lacks.
        present : boolean array of shape (n_samples, n_views), optional
            False where a view lacks a sample.

        Returns
        -------
        array of shape (n_samples,)
            Numbers of clusters, as in `labels_`.
        """
        prediction: Prediction = self.predict_with_shares(X, present=present)
        return prediction.labels

    @available_if(_has_features)
    def predict_with_shares(self, X: Any, *, present: Any = None) -> Prediction:
        """As `predict`, with the share of the votes for every cluster and a confidence."""
        check_is_fitted(self)
        model: ClusterModel = self.to_model()
        if is_collection(X) or hasattr(X, "obs_names"):
            return model.predict(X, present)
        return model.predict_views(self._new_views(model, X, present))

    @available_if(_has_features)
    def transform(self, X: Any, *, present: Any = None) -> FloatArray:
        """The embedding of samples: the mean of their nearest known samples' `embedding_`.

        Also for the samples it was fitted to, each of which is then its own nearest.
        """
        check_is_fitted(self)
        model: ClusterModel = self.to_model()
        return model.mean_of_voters(self._new_views(model, X, present), self.embedding_)

    @available_if(_has_features)
    def to_model(self, features: Sequence[tuple[str, ...] | None] | None = None) -> ClusterModel:
        """What is needed to label new samples: can be saved to a file, and loaded without this
        estimator.

        Parameters
        ----------
        features : names of the columns of every view, optional
        """
        check_is_fitted(self)
        views, trust = self._own_views(), self._trust()
        names = features or views.features or [None] * len(views.names)
        known = [
            self._known_view(views, v, trust[:, v], column_names)
            for v, column_names in enumerate(names)
        ]
        return ClusterModel(
            views=tuple(known),
            labels=self.labels_,
            n_neighbors=self._voting.n_voters,
            normalize=self._voting.normalize,
            neighbor_search=getattr(self, "neighbor_search", "auto"),
            seed=self._seed,
            about={
                "method": type(self).__name__,
                "version": __version__,
                "parameters": plain_params(self),
            },
        )

    @property
    def confidence_(self) -> FloatArray:
        """The share of each sample's neighbours, in all views, that are in its cluster.

        Votes as in `predict`; NaN for a sample that no view says anything about.
        """
        check_is_fitted(self)
        if self._on_cluster:
            return self._confidence
        graphs = getattr(self, "view_graphs_", [])
        if len(graphs) != len(self._views.names):
            raise AttributeError(f"{type(self).__name__} has no graph of every view to tell it by")
        return own_shares(graphs, self.labels_, self._voting_weights(), self._trust())

    @property
    def _on_cluster(self) -> bool:
        """Whether its samples and graphs stayed on the workers of a cluster."""
        return self._views is None

    def _own_views(self) -> Views:
        """What it was fitted to; an error where that is not kept."""
        if self._on_cluster:
            raise ValueError(
                f"{type(self).__name__} was fitted on a Dask cluster, where its samples stay; "
                "expected a fit without client to compare new samples with"
            )
        return self._views

    def _known_view(
        self, views: Views, v: int, trust: FloatArray, features: tuple[str, ...] | None
    ) -> KnownView:
        own, matrix = views.samples_of(v), views.matrices[v]
        return KnownView(
            name=views.names[v],
            matrix=matrix if own is None else matrix[own],
            samples=own,
            weight=float(self._voting_weights()[v]),
            trust=trust if own is None else trust[own],
            features=features,
        )

    def _voting_weights(self) -> FloatArray:
        """How much each view counts."""
        n_views = len(self.view_names_)
        weights = getattr(self, "view_weights_", np.ones(n_views))
        if not weights.any():  # no view said anything; new samples may still equal known ones
            weights = np.ones(n_views)
        return np.asarray(weights / weights.sum())

    def _trust(self) -> FloatArray:
        """(n_samples, n_views): how much of a sample's edges the other views agree with."""
        return np.ones((len(self.labels_), len(self.view_names_)))

    def _n_voters(self) -> int:
        k = getattr(self, "n_neighbors", "auto")
        return self._auto_neighbors if isinstance(k, str) else int(k)

    def _new_views(self, model: ClusterModel, X: Any, present: Any) -> Views:
        """New samples, checked; one matrix is cut as the one that was fitted."""
        if is_collection(X) or hasattr(X, "obs_names"):
            return model.read(X, present)[0]
        check_numbers(X, "X")
        try:
            matrix = validate_data(
                self, X, accept_sparse="csr", dtype=np.float64, order="C", ensure_all_finite=False,
                reset=False,
            )  # fmt: skip
        except (ValueError, OverflowError) as error:
            # Between what is wrong and what to do, scikit-learn's text may show the whole X.
            lines = str(error).splitlines()
            raise ValueError(" ".join(dict.fromkeys([lines[0], lines[-1]]))) from error
        matrix = csr_array(matrix) if issparse(matrix) else matrix
        return match_views(model.views, views_from_matrix(matrix, self.views, present))

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])


def plain_params(estimator: Any) -> dict[str, Any]:
    """Parameters in what JSON can hold; others, such as a generator of random numbers, as text."""
    params = {}
    for name, value in estimator.get_params().items():
        value = value.item() if isinstance(value, np.generic) else value
        plain = value is None or isinstance(value, str | bool | int | float)
        params[name] = value if plain else str(value)
    return params
