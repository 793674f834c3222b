"""Labels, embedding and confidence of new and of fitted samples."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from manyview._typing import FloatArray, IntArray
from manyview._version import __version__
from manyview.graphs import GraphOptions, own_cluster_share, view_graphs
from manyview.inputs import AlignedTables, Views, is_collection, views_from_matrix
from manyview.methods._base import plain_params, read_matrix
from manyview.predict import (
    ClusterModel,
    Prediction,
    TrainingView,
    is_dask,
    match_views,
    named_views,
    new_tables,
)
from manyview.runtime import Run, one_blas_thread


def _has_features(estimator: Any) -> bool:
    """Similarities between fitted samples do not tell how similar new ones are."""
    if get_tags(estimator).input_tags.pairwise:
        raise AttributeError(
            f"{type(estimator).__name__} was given similarities, not features, and can't compare "
            "new samples with those it was fitted to"
        )
    return True


def vote_weights(view_weights: FloatArray) -> FloatArray:
    """View weights that sum to 1; equal ones if all are 0."""
    if not view_weights.any():
        view_weights = np.ones(len(view_weights))
    return np.asarray(view_weights / view_weights.sum())


def trust(disagreement: FloatArray | None, n_samples: int, n_views: int) -> FloatArray:
    """(n_samples, n_views): the share of a sample's edges that the other views agree with; 1 for
    methods that do not split graphs."""
    if disagreement is None:
        return np.ones((n_samples, n_views))
    return np.asarray(np.nan_to_num(1 - disagreement, nan=0.0))


class PredictMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Labels and embedding of new samples, by the votes of their nearest fitted samples."""

    labels_: IntArray
    view_names_: tuple[str, ...]
    views: Any
    _views: Views  # after a fit on Dask of the samples that were kept
    _kept: IntArray | None  # these samples; None for all
    _is_distributed: bool
    _fitted_options: GraphOptions  # parameters may have been set since
    _seed: int
    _confidence: FloatArray  # after a fit on Dask

    @available_if(_has_features)
    def predict(self, X: Any, *, present: Any = None) -> IntArray:
        """Assign new samples to the clusters of their nearest fitted samples.

        In every view the nearest samples vote. A vote is weighted by closeness, by the weight of
        the view, and by the share of the voter's edges that the other views agree with.

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
        return self._prediction(X, present).labels

    @available_if(_has_features)
    def predict_proba(self, X: Any, *, present: Any = None) -> FloatArray:
        """The share of the votes for every cluster, (n_samples, n_clusters); see `predict`.

        Rows sum to 1. They are shares of votes, not calibrated probabilities.
        """
        return self._prediction(X, present).shares

    @available_if(_has_features)
    def novelty(self, X: Any, *, present: Any = None) -> FloatArray:
        """How far samples are from their nearest fitted samples, (n_samples,).

        The unit is twice the distance that 99 % of the fitted samples have at most: above 1 a
        sample is unlike anything known, and its cluster means little. Mean over the views by their
        weights.
        """
        return self._prediction(X, present).novelty

    @available_if(_has_features)
    def transform(self, X: Any, *, present: Any = None) -> FloatArray:
        """The embedding of samples: the mean of their nearest fitted samples' `embedding_`.

        A sample that was fitted is its own nearest.
        """
        model: ClusterModel = self.to_model()
        return model.mean_of_neighbors(
            self._new_views(model, X, present), self._of_kept(self.embedding_)
        )

    @available_if(_has_features)
    def to_model(self, features: Sequence[tuple[str, ...] | None] | None = None) -> ClusterModel:
        """A model that labels new samples and can be saved to a file.

        After a fit on Dask it has at most 20,000 of the samples, drawn at random.

        Parameters
        ----------
        features : names of the columns of every view, optional
        """
        check_is_fitted(self)
        views, options = self._views, self._fitted_options
        names = features or views.features or [None] * len(views.names)
        return ClusterModel(
            views=tuple(self._training_view(views, v, columns) for v, columns in enumerate(names)),
            labels=self._of_kept(self.labels_),
            neighbor_search=options.search,
            seed=self._seed,
            about={
                "method": type(self).__name__,
                "version": __version__,
                "parameters": plain_params(self),
            },
        )

    @cached_property
    def view_graphs_(self) -> list[csr_array]:
        """The neighbour graph of every view; methods that need none make it when it is asked for.

        `confidence_`, maps and reports are made of these graphs.
        """
        check_is_fitted(self)
        if get_tags(self).input_tags.pairwise:
            raise AttributeError(f"{type(self).__name__} has no features to make graphs of")
        if self.is_distributed_:
            raise AttributeError("the graphs stayed on the Dask workers, and are gone")
        n = self._views.n_samples
        if n < 3:  # no neighbour is nearer than another one
            return [csr_array((n, n)) for _ in self._views.names]
        options = replace(self._fitted_options, n_neighbors="auto")  # as many as a view allows
        with one_blas_thread():  # as in a fit
            made = view_graphs(self._views, options, Run(self._seed))
            return [made.by_sample(graph) for graph in made.graphs]

    @property
    def confidence_(self) -> FloatArray:
        """The share of each sample's neighbours, in all views, that are in its cluster.

        Votes as in `predict`; NaN for a sample without edges in any view.
        """
        check_is_fitted(self)
        if hasattr(self, "_confidence"):
            return self._confidence
        graphs = self.view_graphs_
        if len(graphs) != len(self.view_names_):
            raise AttributeError(f"{type(self).__name__} has no graph of every view to tell it by")
        return own_cluster_share(graphs, self.labels_, self.vote_weights_, self._trust())

    @property
    def vote_weights_(self) -> FloatArray:
        """How much each view counts in votes; sums to 1."""
        return vote_weights(getattr(self, "view_weights_", np.zeros(len(self.view_names_))))

    @property
    def n_neighbors_(self) -> int | tuple[int, ...]:
        """Neighbours per sample, in graphs and in votes; one number per view where they differ."""
        numbers = self._voters()
        return numbers[0] if len(set(numbers)) == 1 else numbers

    @property
    def is_distributed_(self) -> bool:
        """Whether it was fitted on Dask: samples and graphs stayed on the workers."""
        return self._is_distributed

    @cached_property
    def embedding_(self) -> FloatArray:
        """Set by fits of up to a million samples on Dask, and by all others."""
        check_is_fitted(self)
        raise AttributeError(
            f"the embedding of {len(self.labels_):,} samples stayed on the Dask workers; expected "
            "at most 1,000,000 samples"
        )

    def of_kept_samples(self) -> tuple[Self, IntArray, Views]:
        """The fit with the samples alone that were kept after a fit on Dask, which these are, and
        their features.

        Their neighbours are found among themselves.
        """
        part, rows = copy(self), self._kept
        changed: dict[str, Any] = {"_is_distributed": False, "_kept": None}
        if rows is not None:
            names = ("labels_", "embedding_", "stability_", "sample_disagreement_", "_confidence")
            changed |= {name: vars(self)[name][rows] for name in names if name in vars(self)}
            changed["present_"] = self._views.present
            if hasattr(self, "cluster_number_"):
                labels = tuple(one[rows] for one in self.cluster_number_.labels)
                changed["cluster_number_"] = replace(self.cluster_number_, labels=labels)
        part.__dict__.update(changed)
        return part, np.arange(len(self.labels_)) if rows is None else rows, self._views

    def _of_kept(self, values: Any) -> Any:
        return values if self._kept is None else values[self._kept]

    def _voters(self) -> tuple[int, ...]:
        """Neighbours that vote, per view: those of its graph, unless that is complete."""
        options = self._fitted_options
        auto, found = options.auto_neighbors, options.by_view(self.view_names_)
        return tuple(auto if isinstance(k, str) else int(k) for k in found)

    def _trust(self) -> FloatArray:
        disagreement = getattr(self, "sample_disagreement_", None)
        return trust(disagreement, len(self.labels_), len(self.view_names_))

    def _training_view(
        self, views: Views, v: int, features: tuple[str, ...] | None
    ) -> TrainingView:
        own, matrix = views.samples_of(v), views.matrices[v]
        trusted = self._of_kept(self._trust()[:, v])
        return TrainingView(
            name=views.names[v],
            matrix=matrix if own is None else matrix[own],
            samples=own,
            weight=float(self.vote_weights_[v]),
            trust=trusted if own is None else trusted[own],
            n_neighbors=self._voters()[v],
            features=features,
            scaling=views.scalings[v],
        )

    def _prediction(self, X: Any, present: Any) -> Prediction:
        model: ClusterModel = self.to_model()
        if is_dask(X):
            return model.predict(X, present)
        return model.predict_views(self._new_views(model, X, present))

    def _new_views(self, model: ClusterModel, X: Any, present: Any) -> Views:
        """New samples, checked; one matrix is cut into views as the fitted one was."""
        if isinstance(X, AlignedTables) or hasattr(X, "obs_names"):
            return model.read(new_tables(X, model.names, None, present))
        if is_collection(X):
            return model.read(named_views(X, model.names), present)
        matrix = read_matrix(self, X, reset=False)
        names = getattr(self, "feature_names_in_", None)
        return match_views(model.views, views_from_matrix(matrix, self.views, present, names))

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])
