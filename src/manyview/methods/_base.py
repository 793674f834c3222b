"""Base of all methods: parameters, input, and scikit-learn's conventions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from inspect import signature
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from manyview._typing import Matrix
from manyview._version import __version__
from manyview.graphs import FitSize, GraphOptions, Stack, check_dense_limit, view_sizes
from manyview.inputs import (
    SCALINGS,
    Views,
    check_numbers,
    content_digest,
    is_collection,
    known_array,
    known_frame,
    per_view,
    views_from_matrix,
    views_from_tables,
)
from manyview.methods._backend import Backend, LocalBackend, Samples
from manyview.methods._constraints import Constraint
from manyview.methods._cross_validation import refuse_split_views
from manyview.methods._doubts import (
    edge_counts,
    warn_of_equal_views,
    warn_of_foreign_views,
    warn_of_instability,
    warn_of_separate_views,
    warn_of_silent_views,
    warn_of_sizes,
)
from manyview.runtime import (
    Checkpoint,
    Estimate,
    Run,
    one_blas_thread,
    require_extra,
    verbosity,
    warn,
)
from manyview.spectral import (
    MAX_CLUSTERS,
    ClusterNumber,
    structureless_eigenvalues,
    suggest_from_stack,
)

# Attributes that not every fit sets; those of an earlier fit are deleted.
_OPTIONAL = (
    "cluster_number_",
    "neighbor_search_",
    "view_graphs_",
    "unified_graph_",
    "consistent_graphs_",
    "inconsistent_graphs_",
    "stability_",
    "cluster_stability_",
    "embedding_",
    "_confidence",
    "_edge_counts",
)


class MultiViewClusterer(ClusterMixin, BaseEstimator):
    """Base of all methods.

    A subclass stores its parameters in `__init__`, lists what they may be in `_constraints`, and
    has `fit` and `_memory`.
    """

    _constraints: ClassVar[Mapping[str, Constraint]]
    #: Whether views may lack samples.
    _takes_missing: ClassVar[bool] = False
    #: What n_neighbors="auto" stands for where there are enough samples; the paper's number.
    _auto_neighbors: ClassVar[int] = 15
    #: Whether "auto" is at most the mean size of a cluster.
    _limits_neighbors: ClassVar[bool] = False
    #: Whether it needs the pattern of all views' graphs block by block only.
    _stacks_blockwise: ClassVar[bool] = False

    #: The page of docs/ that explains the method; its HTML display links to it.
    _doc_page: ClassVar[str] = "compared-methods.md"
    _doc_link_module = "manyview"
    _doc_link_template = "https://github.com/manyview/manyview/blob/main/docs/{page}"

    n_clusters: Any
    scaling: Any
    views: Any
    random_state: Any
    verbose: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._takes_similarities
        return tags

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"page": self._doc_page}

    @property
    def _takes_similarities(self) -> bool:
        """Whether X holds square matrices of similarities rather than features."""
        return "precomputed" in (getattr(self, "graph", None), getattr(self, "kernel", None))

    @property
    def _finds_n_clusters(self) -> bool:
        has_resolution = getattr(self, "resolution", None) is not None
        return has_resolution or isinstance(self.n_clusters, str)

    @contextmanager
    def _running(self) -> Iterator[Run]:
        """One fit: parameters are checked, progress is logged, one seed feeds all random steps."""
        # One BLAS thread: sums that are split among threads depend on the number of threads.
        # Our own kernels give every row to one thread and use all of them.
        with verbosity(self.verbose), one_blas_thread():
            for name, constraint in self._constraints.items():
                constraint(name, getattr(self, name))
            run = Run(int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)))
            yield run
            self._warn_of_doubts()
            run.log("done")
        self.stage_seconds_ = run.seconds
        self._seed = run.seed

    def _backend(
        self, run: Run, client: Any = None, checkpoint: str | Path | None = None
    ) -> Backend:
        """This machine, or the workers of a Dask client."""
        self._checkpoint: Checkpoint | None = None
        if client is None:

            def read(X: Any, present: Any) -> Views:
                views = self._read_local(X, present)
                if checkpoint is not None:
                    self._checkpoint = Checkpoint(checkpoint, self._description(views))
                    run.checkpoint = self._checkpoint
                return views

            return LocalBackend(self._graph_options(), run, read)
        if checkpoint is not None:
            raise ValueError(
                "checkpoint with a client; expected one of them: Dask computes again what is lost "
                "with a worker"
            )
        if self.views is not None:
            raise ValueError(f"views={self.views!r} with a client; expected one table per view")
        with require_extra("a fit on Dask", "dask"):
            from manyview.distributed import DaskBackend
        return DaskBackend(client, self._graph_options(), run)

    def _graph_options(self) -> GraphOptions:
        return GraphOptions(
            n_neighbors=getattr(self, "n_neighbors", "auto"),
            auto_neighbors=self._auto_neighbors,
            weighting=getattr(self, "graph", "adaptive"),
            search=getattr(self, "neighbor_search", "auto"),
            blockwise=self._stacks_blockwise,
            n_clusters=int(self.n_clusters)
            if self._limits_neighbors and not self._finds_n_clusters
            else None,
        )

    def _read(self, backend: Backend, X: Any, present: Any = None) -> Any:
        """The views, checked; what an earlier fit learned is forgotten."""
        views = backend.read(X, present)
        self._check_samples(views)
        self.__dict__.pop("view_scalings_", None)
        self._graph_options().by_view(views.names)  # refuses names that no view has
        if self._takes_similarities:
            self._refuse_scaling()
            self.view_scalings_ = ("none",) * len(views.names)
        else:
            views = backend.scaled(views, per_view("scaling", self.scaling, views.names))
            self.view_scalings_ = views.scalings
            for name, scaling in zip(views.names, views.scalings, strict=True):
                backend.run.log("view '%s': scaling %s: %s", name, scaling, SCALINGS[scaling])
        self.view_names_ = views.names
        self.present_ = views.present
        self._is_distributed = backend.is_distributed
        self._views, self._kept = backend.kept(views)
        self._fitted_options = self._graph_options()
        for name in _OPTIONAL:
            self.__dict__.pop(name, None)
        if not self._finds_n_clusters:
            # A plain int: a numpy integer of few bits would overflow in C + 1.
            self.n_clusters_ = int(self.n_clusters)
        if backend.is_distributed:
            self.n_features_in_ = sum(views.widths)
            self.__dict__.pop("feature_names_in_", None)
        return views

    def _refuse_scaling(self) -> None:
        """Similarities are not scaled, so only the default may be given."""
        default = signature(type(self)).parameters["scaling"].default
        if self.scaling not in (default, "none", None):
            raise ValueError(
                f"scaling={self.scaling!r} with 'precomputed' similarities, which are not scaled; "
                f"expected {default!r}, the default, or 'none'"
            )

    def _graphs(self, backend: Backend, views: Any) -> Any:
        """The graphs of the views, with bridges if they have more components than clusters."""
        backend.check_memory(self._fit_size(views), self._memory, type(self).__name__)
        graphs = self._separate_graphs(backend, views)
        if not self._takes_similarities:
            self.neighbor_search_ = list(graphs.searches)
        self._settle_n_clusters(graphs.stack, backend.run)
        graphs = backend.join(graphs, views, self.n_clusters_)
        self.bridges_ = graphs.bridges
        return graphs

    def _separate_graphs(self, backend: Backend, views: Any) -> Any:
        """One graph per view, without bridges."""
        return backend.graphs(views)

    def _check_dense(self, backend: Backend, views: Views, limit: int) -> None:
        """Refuse more samples than a method on dense matrices should take, or has memory for."""
        size, name = self._fit_size(views), type(self).__name__
        check_dense_limit(name, views.n_samples, self._memory(size).peak, limit)
        backend.check_memory(size, self._memory, name)

    def _learned(self, attributes: Mapping[str, Any]) -> None:
        """Set what a fit has learned."""
        for name, value in attributes.items():
            setattr(self, name, value)

    def _warn_of_doubts(self) -> None:
        """Warn of a result that can probably not be trusted."""
        labels = getattr(self, "labels_", None)
        if labels is None:  # only a number of clusters was suggested
            return
        warn_of_sizes(labels)
        stability = getattr(self, "stability_", None)
        if stability is not None:
            warn_of_instability(stability)
        if self._takes_similarities:
            return
        if hasattr(self, "sample_disagreement_"):
            warn_of_foreign_views(
                self.view_disagreement_, self.sample_disagreement_, self.view_names_
            )
        graphs = self.__dict__.get("view_graphs_", [])  # those that the fit made
        counts = self.__dict__.get("_edge_counts")  # after a fit on Dask
        if len(graphs) == len(self.view_names_):
            counts = edge_counts(graphs)
        if counts is not None:
            shared, rows = counts
            everywhere = np.full(len(rows), len(labels))
            n_present = everywhere if self.present_ is None else self.present_.sum(axis=0)
            warn_of_silent_views(shared.diagonal(), rows, self.view_names_, n_present)
            warn_of_equal_views(shared, self.view_names_, len(labels))

    def _memory(self, size: FitSize) -> Estimate:
        """What the fit needs on top of the views."""
        raise NotImplementedError

    def _fit_size(self, views: Any) -> FitSize:
        """What the memory of the fit depends on."""
        options = self._graph_options()
        numbers = options.by_view(views.names)
        size = FitSize(
            n_samples=views.n_samples,
            views=views.sizes() if hasattr(views, "sizes") else view_sizes(views),
            n_clusters=MAX_CLUSTERS if self._finds_n_clusters else int(self.n_clusters),
            n_neighbors=None if "all" in numbers else min(max(map(int, numbers)), views.n_samples),
        )
        if not self._takes_similarities:
            return size
        return replace(size, n_neighbors=None, edges=tuple(map(_n_stored, views.matrices)))

    def _settle_n_clusters(self, stack: Callable[[], Stack], run: Run) -> None:
        """With n_clusters="auto", read the number off the graphs of the views."""
        if self._finds_n_clusters:
            with run.stage("number of clusters"):
                self.n_clusters_ = self._find_n_clusters(stack(), run)
            run.log("%d clusters found", self.n_clusters_)

    def _settled(self, stack: Callable[[], Stack], run: Run) -> int:
        """The number of clusters, given or found."""
        self._settle_n_clusters(stack, run)
        return int(self.n_clusters_)

    def _find_n_clusters(self, stack: Stack, run: Run) -> int:
        """The number of clusters where none was given; a method may find it in another way."""
        return self._suggested(stack, run)

    def _suggested(self, stack: Stack, run: Run) -> int:
        """The number that `suggest_n_clusters` gives, with a warning if it is doubtful."""
        self.cluster_number_ = self._number_from(stack, run, MAX_CLUSTERS)
        if self.cluster_number_.doubt:
            warn(self.cluster_number_.doubt)
        return int(self.cluster_number_.n_clusters)

    def _number_from(self, stack: Stack, run: Run, max_clusters: int) -> ClusterNumber:
        structureless = None
        if not self._is_distributed and not self._takes_similarities:
            options = self._graph_options()
            structureless = structureless_eigenvalues(self._views, options, run.seed, max_clusters)
        found: ClusterNumber = stack.compute(suggest_from_stack, run, max_clusters, structureless)
        return found

    def clear_checkpoint(self) -> None:
        """Remove the checkpoint of the fit, and its folder if nothing else is in it."""
        checkpoint = getattr(self, "_checkpoint", None)
        if checkpoint is not None:
            checkpoint.clear()

    def _description(self, views: Views) -> dict[str, Any]:
        """What a checkpoint must have been made with to be resumed from."""
        if not isinstance(self.random_state, Integral):
            raise ValueError(
                f"random_state={self.random_state!r} with a checkpoint; expected a number, so that "
                "the fit can be resumed"
            )
        params = plain_params(self)
        del params["verbose"]
        return {
            "manyview": __version__,
            "method": type(self).__name__,
            "n_samples": views.n_samples,
            "widths": list(views.widths),
            "content": content_digest(views, between_samples=self._takes_similarities),
            **params,
        }

    def _check_samples(self, views: Samples) -> None:
        """Refuse too few samples, and views that lack too many of them."""
        n, names = views.n_samples, views.names
        if n < 2:
            raise ValueError(f"n_samples={n}; expected at least 2 samples to cluster")
        if not self._finds_n_clusters and self.n_clusters > n:
            raise ValueError(
                f"n_clusters={self.n_clusters}, but there are {n} samples; expected 1 to {n}"
            )
        if views.present is None:
            return
        missing = (~views.present).sum(axis=0)
        if self._takes_similarities or not self._takes_missing:
            from manyview.methods import REGISTRY

            others = [
                f"{method.estimator} ({method.short_name})"
                for method in REGISTRY
                if method.takes_missing
            ]
            expected = (
                "empty rows and columns in precomputed graphs"
                if self._takes_similarities
                else f"complete views for {type(self).__name__}, or one of {', '.join(others)}"
            )
            raise ValueError(
                f"view '{names[missing.argmax()]}' lacks {missing.max()} of {n} samples; expected "
                + expected
            )
        if missing.max() == n:
            empty = names[missing.argmax()]
            raise ValueError(f"view '{empty}' has none of the samples; expected some of them")
        warn_of_separate_views(views.present, names)

    def _read_local(self, X: Any, present: Any = None) -> Views:
        """The input as views, whatever its form."""
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
            refuse_split_views()
            views = views_from_tables(X, present)
            self.n_features_in_ = sum(views.widths)
            self.__dict__.pop("feature_names_in_", None)
        else:
            matrix = read_matrix(self, X)
            names = getattr(self, "feature_names_in_", None)
            views = views_from_matrix(matrix, self.views, present, names)
        if self._takes_similarities:
            for name, matrix in zip(views.names, views.matrices, strict=True):
                _check_similarities(matrix, name)
        return views


def read_matrix(estimator: Any, X: Any, *, reset: bool = True) -> Matrix:
    """One table as a matrix of floats, checked by scikit-learn against the estimator's input."""
    X = known_array(known_frame(X, "X"), "X")
    check_numbers(X, "X")
    try:
        matrix = validate_data(
            estimator, X, accept_sparse="csr", dtype=np.float64, order="C",
            ensure_all_finite=False, reset=reset,
        )  # fmt: skip
    except (ValueError, OverflowError) as error:
        # Between what is wrong and what to do, scikit-learn's text may show the whole X.
        lines = str(error).splitlines()
        raise ValueError(" ".join(dict.fromkeys([lines[0], lines[-1]]))) from error
    return csr_array(matrix) if issparse(matrix) else matrix


def plain_params(estimator: Any) -> dict[str, Any]:
    """Parameters as JSON can store them; others, such as a random generator, as text."""
    params = {}
    for name, value in estimator.get_params().items():
        value = value.item() if isinstance(value, np.generic) else value
        plain = value is None or isinstance(value, str | bool | int | float)
        params[name] = value if plain else str(value)
    return params


def view_index(view: Any, names: Sequence[str]) -> int:
    """The index of a view given by name or index."""
    if isinstance(view, str) and view in names:
        return list(names).index(view)
    number = isinstance(view, Integral) and not isinstance(view, bool)
    if number and 0 <= view < len(names):
        return int(view)
    raise ValueError(
        f"view={view!r}; expected a number from 0 to {len(names) - 1} or one of {', '.join(names)}"
    )


def _n_stored(matrix: Matrix) -> int:
    return int(matrix.nnz if isinstance(matrix, csr_array) else np.count_nonzero(matrix))


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
