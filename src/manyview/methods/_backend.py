"""Where a fit runs: on this machine, or on Dask workers (`manyview.distributed.DaskBackend`)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, Self, TypeVar

from manyview._typing import BoolArray, IntArray
from manyview.graphs import (
    FitSize,
    GraphOptions,
    ViewGraphs,
    joined,
    rows_in_order,
    view_graphs,
)
from manyview.inputs import Views, resolved_scaling, statistics_sample, warn_of_view
from manyview.runtime import Estimate, Run, check_memory

Learned = TypeVar("Learned")


class Samples(Protocol):
    """Views of samples, wherever their features are."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def n_samples(self) -> int: ...

    @property
    def present(self) -> BoolArray | None: ...


class Backend(Protocol):
    """The stages of a fit that depend on where it runs; used in this order."""

    is_distributed: bool
    run: Run

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def read(self, X: Any, present: Any) -> Any:
        """The input as checked views."""

    def scaled(self, views: Any, scalings: Sequence[str | None]) -> Any:
        """The views with the scaling of each."""

    def kept(self, views: Any) -> tuple[Views, IntArray | None]:
        """The views that predictions and reports are made from, and of which samples; None for
        all."""

    def check_memory(
        self, size: FitSize, estimate: Callable[[FitSize], Estimate], who: str
    ) -> None:
        """Refuse a fit that needs more memory than there is."""

    def graphs(self, views: Any) -> Any:
        """One graph per view, with `stack()` to put them on one pattern."""

    def join(self, graphs: Any, views: Any, n_clusters: int) -> Any:
        """The graphs with bridges, if they have more components than clusters."""

    def run_fit(self, prepare: Callable[[], Any], learn: Callable[[Any], Learned]) -> Learned:
        """What `learn` makes of the stack of the graphs that `prepare` gives."""


class LocalBackend:
    """This machine.

    Parameters
    ----------
    read_views : reads and checks the input
    """

    is_distributed = False

    def __init__(
        self, options: GraphOptions, run: Run, read_views: Callable[[Any, Any], Views]
    ) -> None:
        self._options = options
        self.run = run
        self.read = read_views

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None: ...

    def scaled(self, views: Views, scalings: Sequence[str | None]) -> Views:
        found = []
        for v, scaling in enumerate(scalings):
            sample = statistics_sample(views.matrices[v], chosen=views.samples_of(v))
            found.append(resolved_scaling(sample, views.names[v], scaling))
            features = None if views.features is None else views.features[v]
            warn_of_view(views.names[v], sample, found[v], features)
        return replace(views, scalings=tuple(found))

    def kept(self, views: Views) -> tuple[Views, None]:
        return views, None

    def check_memory(
        self, size: FitSize, estimate: Callable[[FitSize], Estimate], who: str
    ) -> None:
        needed = estimate(size)
        check_memory(needed, who, size.savings(needed.stage))

    def graphs(self, views: Views) -> ViewGraphs:
        return view_graphs(views, self._options, self.run)

    def join(self, graphs: ViewGraphs, views: Views, n_clusters: int) -> ViewGraphs:
        # Rows can be large, so they are made again only if bridges are needed.
        rows = partial(rows_in_order, views, graphs.order)
        return joined(graphs, None if self._options.precomputed else rows, n_clusters, self.run)

    def run_fit(
        self, prepare: Callable[[], ViewGraphs], learn: Callable[[Any], Learned]
    ) -> Learned:
        graphs = prepare()
        with self.run.stage("fusion"):
            stack = graphs.stack()
            del graphs  # the stack has copies of all edges
            return learn(stack)
