"""What every method shares: reading views in any form, and scikit-learn's conventions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from manyview._typing import BoolArray, Matrix
from manyview.graphs import FitSize
from manyview.inputs import (
    DenseRows,
    Rows,
    SparseRows,
    Views,
    check_numbers,
    count_distinct,
    is_collection,
    view_rows,
    views_from_matrix,
    views_from_tables,
)
from manyview.methods._overlap import different_share
from manyview.methods._predict_mixin import PredictsNew, Voting
from manyview.runtime import (
    Estimate,
    Run,
    check_choice,
    check_integer,
    check_memory,
    fits_in_memory,
    verbosity,
)
from manyview.spectral import from_stack

_NOT_OF_EVERY_FIT = (
    "cluster_number_",
    "neighbor_search_",
    "view_graphs_",
    "unified_graph_",
    "consistent_graphs_",
    "inconsistent_graphs_",
)


class Samples(Protocol):
    """What views are of, wherever they are."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def n_samples(self) -> int: ...

    @property
    def present(self) -> BoolArray | None: ...


class MultiViewClusterer(PredictsNew, ClusterMixin, BaseEstimator):
    """Base of all methods: parameters and input."""

    # Set by the subclasses' __init__.
    n_clusters: Any
    normalize: Any
    views: Any
    random_state: Any
    verbose: Any

    # Whether a view may lack some of the samples.
    _takes_absent = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._takes_similarities()
        return tags

    def _takes_similarities(self) -> bool:
        """Whether X holds square matrices of similarities rather than features."""
        return False

    @property
    def _C(self) -> int:  # noqa: N802 (the paper's symbol)
        return self.n_clusters_

    @property
    def _finds_n_clusters(self) -> bool:
        return isinstance(self.n_clusters, str) and self.n_clusters == "auto"

    def _check_parameters(self) -> None:
        if isinstance(self.n_clusters, str) and not self._finds_n_clusters:
            raise ValueError(f"n_clusters={self.n_clusters!r}; expected a number or 'auto'")
        if not self._finds_n_clusters:
            check_integer("n_clusters", self.n_clusters, 1)
        check_choice("normalize", self.normalize, ("auto", "zscore", "unit", None))

    @contextmanager
    def _running(self) -> Iterator[Run]:
        """One fit: parameters checked, progress heard, every random step fed by one seed."""
        # One BLAS thread: how a sum is split among threads depends on their number, and what
        # comes of a fit must not. Our own loops give every row to one thread and use all of them.
        with verbosity(self.verbose), threadpool_limits(1, "blas"):
            self._check_parameters()
            run = Run(int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)))
            yield run
            run.log("done")
        self.stage_seconds_ = run.seconds
        self._seed = run.seed

    def _read_views(self, X: Any, present: Any = None) -> Views:
        """Check the input, whatever its form, and remember its layout."""
        if hasattr(X, "obs_names"):
            raise ValueError(
                f"X is a {type(X).__name__}; expected tables, or manyview.cluster, which takes it"
            )
        if is_collection(X):
            if self.views is not None:
                raise ValueError(
                    f"views={self.views!r} cuts one matrix into views, but X is already "
                    f"{len(X)} tables; expected one 2-D X, or views=None"
                )
            views = views_from_tables(X, present)
            self.n_features_in_ = sum(views.widths)
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        else:
            matrix = self._one_matrix(X)
            matrix = csr_array(matrix) if issparse(matrix) else matrix
            views = views_from_matrix(matrix, self.views, present)
        self._check_samples(views)
        if self._takes_similarities():
            for name, matrix in zip(views.names, views.matrices, strict=True):
                _check_similarities(matrix, name)
        self._begin(views.names)
        self._views = views
        self._check_memory(views)
        return views

    def _check_samples(self, views: Samples) -> None:
        """Refuse too few samples, and views that lack too many of them."""
        if views.n_samples < 2:
            raise ValueError(f"n_samples={views.n_samples}; expected at least 2 samples to cluster")
        if not self._finds_n_clusters and self.n_clusters > views.n_samples:
            raise ValueError(
                f"n_clusters={self.n_clusters}, but there are {views.n_samples} samples; "
                f"expected 1 to {views.n_samples}"
            )
        self._check_complete(views)
        if views.present is not None and not views.present.any(axis=0).all():
            empty = views.names[int(views.present.any(axis=0).argmin())]
            raise ValueError(f"view '{empty}' has none of the samples; expected some of them")

    def _begin(self, names: tuple[str, ...]) -> None:
        """Set what is known of a fit before it begins, and forget what another left."""
        self.view_names_ = names
        self._voting = Voting(self._n_voters(), self.normalize)
        for name in _NOT_OF_EVERY_FIT:
            if hasattr(self, name):
                delattr(self, name)
        if not self._finds_n_clusters:
            # A plain int: a numpy integer of few bits would overflow in C + 1.
            self.n_clusters_ = int(self.n_clusters)

    def _check_memory(self, views: Views) -> None:
        """Stop before anything large is made if it will not fit into memory."""
        size = self._fit_size(views)
        estimate = self._memory(size)
        if size.is_searched and len(size.views) > 1 and not fits_in_memory(estimate):
            # Views that agree need less: worth a look before the fit is refused.
            share = different_share(views, int(size.n_neighbors or 0), self.normalize)
            estimate = self._memory(replace(size, different=share))
        check_memory(estimate, type(self).__name__, size.savings(estimate.stage))

    def _fit_size(self, views: Views) -> FitSize:
        """What the memory of the fit depends on."""
        raise NotImplementedError

    def _memory(self, size: FitSize) -> Estimate:
        """What the fit will take on top of the views."""
        raise NotImplementedError

    def _check_complete(self, views: Samples) -> None:
        if views.present is None or (self._takes_absent and not self._takes_similarities()):
            return
        lacking = int((~views.present).sum(axis=0).argmax())
        count = int((~views.present[:, lacking]).sum())
        expected = (
            "empty rows and columns in precomputed graphs"
            if self._takes_similarities()
            else f"complete views for {type(self).__name__}, or AngularCIGMVC, CIGMVC, GBS or "
            "SpectralAverage"
        )
        raise ValueError(
            f"view '{views.names[lacking]}' lacks {count} of {views.n_samples} samples; expected "
            + expected
        )

    def _settle_n_clusters(self, stack: Callable[[], Any], run: Run) -> None:
        """Where n_clusters="auto": read it off the graphs of the views, stacked."""
        if self._finds_n_clusters:
            with run.stage("number of clusters"):
                self.cluster_number_ = from_stack(stack(), run.rng)
            self.n_clusters_ = self.cluster_number_.n_clusters
            run.log("%d clusters suggested by the eigenvalues", self.n_clusters_)

    def _check_distinct(self, rows: Sequence[Rows]) -> None:
        """Equal samples can't be told apart, whatever the number of clusters asked for."""
        self._check_n_distinct(count_distinct(rows), rows[0].n_samples)

    def _check_n_distinct(self, n_distinct: int, n_samples: int) -> None:
        if n_distinct < self._C:
            raise ValueError(
                f"n_clusters={self._C}, but only {n_distinct} sample(s) of {n_samples} "
                f"differ; expected 1 to {n_distinct}"
            )

    def _one_matrix(self, X: Any) -> Any:
        check_numbers(X, "X")
        try:
            return validate_data(
                self, X, accept_sparse="csr", dtype=np.float64, order="C", ensure_all_finite=False
            )
        except (ValueError, OverflowError) as error:  # scikit-learn's text may show the whole X
            lines = str(error).splitlines()
            raise ValueError(" ".join(dict.fromkeys([lines[0], lines[-1]]))) from error

    def _rows(self, matrix: Matrix, name: str) -> DenseRows | SparseRows:
        """A view's samples, normalised one by one."""
        return view_rows(matrix, name, self.normalize)


def _check_similarities(matrix: Matrix, name: str) -> None:
    rows, columns = matrix.shape
    if rows != columns:
        raise ValueError(
            f"view '{name}' has shape ({rows}, {columns}); "
            "expected a square matrix of similarities for 'precomputed'"
        )
    values = matrix.data if isinstance(matrix, csr_array) else matrix
    lowest = np.asarray(values).min(initial=0.0)
    if lowest < 0:
        raise ValueError(
            f"view '{name}' has a negative similarity ({lowest:g}); "
            "expected none below 0 for 'precomputed'"
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(matrix.sum(axis=1)).all():
            raise ValueError(f"view '{name}' has similarities too large to add up")
