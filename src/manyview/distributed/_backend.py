"""A fit on Dask workers, repeated where workers are lost."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, Self, TypeVar

from distributed import Client
from distributed.scheduler import KilledWorker

from manyview._typing import IntArray
from manyview.distributed import _memory as memory
from manyview.distributed._build import (
    DistributedGraphs,
    distributed_graphs,
    distributed_joined,
)
from manyview.distributed._client import DaskSession, NoWorkersError, WorkerLostError
from manyview.distributed._kept_samples import kept_samples
from manyview.distributed._stack import BlockStack
from manyview.distributed._views import DistributedViews, read_distributed, with_scalers
from manyview.graphs import FitSize, GraphOptions, GraphStack
from manyview.inputs import Views
from manyview.runtime import Run

#: How often a fit is repeated because workers are lost, before it fails.
MAX_LOSSES = 5

Learned = TypeVar("Learned")


class DaskBackend:
    """The workers of a Dask client: the stages of a fit there, as `LocalBackend` has them here."""

    is_distributed = True

    def __init__(self, client: Any, options: GraphOptions, run: Run) -> None:
        if not isinstance(client, Client):
            raise ValueError(
                f"client is a {type(client).__name__}; expected a distributed.Client, such as "
                "Client(address)"
            )
        if client.asynchronous:
            raise ValueError("client is asynchronous; expected one made without asynchronous=True")
        if client.status != "running":
            raise ValueError(f"client is {client.status}; expected one that is connected")
        for name, found, refused in (
            ("graph", options.precomputed, "precomputed"),
            ("n_neighbors", options.has_complete, "all"),
        ):
            if found:
                raise ValueError(
                    f"{name}={refused!r} with a client; expected graphs of nearest neighbours"
                )
        self.run = run
        self._options = options
        self._session = DaskSession(client)
        self._contexts = ExitStack()
        self._need = "an unknown amount"

    def __enter__(self) -> Self:
        self._contexts.enter_context(self._session.client.as_current())
        self._contexts.callback(self._session.release_all)
        return self

    def __exit__(self, *error: object) -> None:
        self._contexts.close()

    def read(self, X: Any, present: Any) -> DistributedViews:
        with self.run.stage("reading"):
            self._session.stage = "reading"
            views = read_distributed(X, present, self._session)
        self.run.log("%d samples in %d blocks", views.n_samples, len(views.bounds) - 1)
        return views

    def scaled(self, views: DistributedViews, scalings: Sequence[str | None]) -> DistributedViews:
        return with_scalers(views, scalings, self._session)

    def kept(self, views: DistributedViews) -> tuple[Views, IntArray | None]:
        return kept_samples(views, self._session, self.run.seed)

    def check_memory(self, size: FitSize, estimate: object, who: str) -> None:
        """Refuse a fit that the workers have no memory for; `estimate` is for one machine."""
        self._need = memory.check(self._session, size, who)

    def graphs(self, views: DistributedViews) -> DistributedGraphs:
        return distributed_graphs(views, self._options, self._session, self.run)

    def join(
        self, graphs: DistributedGraphs, views: DistributedViews, n_clusters: int
    ) -> DistributedGraphs:
        return distributed_joined(graphs, views, n_clusters, self.run)

    def run_fit(
        self, prepare: Callable[[], DistributedGraphs], learn: Callable[[Any], Learned]
    ) -> Learned:
        """Learn from the stack of what `prepare` gives, again after a loss of workers.

        Dask computes lost graphs again. The rounds have state that it can't, so they are repeated
        from the graphs, or everything is if these are gone too. The result is the same.
        """
        rng, stack = self.run.rng, None
        at_start = at_rounds = rng.bit_generator.state
        for losses in range(MAX_LOSSES + 1):
            try:
                if stack is None or (isinstance(stack, BlockStack) and stack.is_lost()):
                    rng.bit_generator.state = at_start
                    stack = self._stack(prepare)
                    at_rounds = rng.bit_generator.state
                rng.bit_generator.state = at_rounds
                self._session.stage = "rounds"
                with self.run.stage("fusion"):
                    return learn(stack)
            except NoWorkersError as error:
                raise self._failure("no worker is left, or all are short of memory,") from error
            except (WorkerLostError, KilledWorker) as error:
                self.run.log("a worker was lost (%s); repeating without it", self._session.stage)
                self._session.refresh_workers()
                killed = isinstance(error, KilledWorker)
                if losses == MAX_LOSSES or killed or not self._session.workers:
                    raise self._failure("workers were lost again and again") from error
        raise AssertionError("the last loss raises")

    def _stack(self, prepare: Callable[[], DistributedGraphs]) -> BlockStack | GraphStack:
        graphs = prepare()
        with self.run.stage("fusion"):
            return graphs.stack()

    def _failure(self, what: str) -> memory.DaskWorkersError:
        return memory.DaskWorkersError(
            f"{what} during '{self._session.stage}', where each is estimated to need {self._need}; "
            "expected more workers, or workers with more memory"
        )
