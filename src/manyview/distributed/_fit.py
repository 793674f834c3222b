"""A fit on a Dask cluster, begun again where workers are lost."""

from __future__ import annotations

from typing import Any

from distributed import Client
from distributed.scheduler import KilledWorker

from manyview.distributed import _memory as memory
from manyview.distributed._build import Preparation
from manyview.distributed._client import NobodyWorksError, Session, WorkerLostError
from manyview.distributed._stack import BlockStack
from manyview.inputs import CanonicalOrder
from manyview.runtime import Run

#: How often a fit begins again because workers are lost, before it gives up.
MOST_LOSSES = 5


def fit_spread(estimator: Any, X: Any, present: Any, client: Any, run: Run) -> None:
    """Fit an estimator of `GraphFusion` on the workers of a cluster.

    What Dask can't make again when a worker is lost is begun again here: the rounds from the
    graphs, or all of it where these are gone too. Either way the same numbers come of it.
    """
    if not isinstance(client, Client):
        raise ValueError(
            f"client is a {type(client).__name__}; expected a distributed.Client, such as "
            "Client(address)"
        )
    if client.asynchronous:
        raise ValueError("client is asynchronous; expected one made without asynchronous=True")
    if client.status != "running":
        raise ValueError(f"client is {client.status}; expected one that is connected")
    _check_estimator(estimator)
    session = Session(client)
    with client.as_current():
        try:
            _fit_until_done(_Fit(estimator, session, run), X, present)
        finally:
            session.let_go()


def _fit_until_done(fit: _Fit, X: Any, present: Any) -> None:
    """Go on after losses, but not for ever."""
    session = fit.session
    for losses in range(MOST_LOSSES + 1):
        try:
            fit.go_on(X, present)
            return
        except NobodyWorksError as error:
            what = "no worker is left, or all are short of memory,"
            raise memory.DaskWorkersError(_what_went_wrong(what, fit)) from error
        except (WorkerLostError, KilledWorker) as error:
            fit.run.log("a worker was lost (%s); going on with those that are left", session.stage)
            session.look_for_workers()
            if losses == MOST_LOSSES or isinstance(error, KilledWorker) or not session.workers:
                what = "workers were lost again and again"
                raise memory.DaskWorkersError(_what_went_wrong(what, fit)) from error


def _what_went_wrong(what: str, fit: _Fit) -> str:
    return (
        f"{what} during '{fit.session.stage}', where each is estimated to need {fit.need}; "
        "expected more workers, or workers with more memory"
    )


def _check_estimator(estimator: Any) -> None:
    for name, value in (("graph", "precomputed"), ("n_neighbors", "all")):
        if getattr(estimator, name) == value:
            raise ValueError(
                f"{name}={value!r} with a client; expected graphs of nearest neighbours"
            )
    if estimator.views is not None:
        raise ValueError(f"views={estimator.views!r} with a client; expected one table a view")


class _Fit:
    """One fit, and how far it has come."""

    def __init__(self, estimator: Any, session: Session, run: Run) -> None:
        self.estimator = estimator
        self.session = session
        self.run = run
        self._preparation = Preparation(estimator, session, run)
        # What is begun again must draw the same random numbers.
        self._at_start = run.rng.bit_generator.state
        self._at_rounds = self._at_start
        self._ready: tuple[BlockStack, CanonicalOrder] | None = None

    @property
    def need(self) -> str:
        return self._preparation.need

    def go_on(self, X: Any, present: Any) -> None:
        """Fit from where the last attempt left off."""
        if self._ready is None or self._ready[0].is_lost():
            self.run.rng.bit_generator.state = self._at_start
            self._ready = None
            self._ready = self._preparation.graphs_of(X, present)
            self._at_rounds = self.run.rng.bit_generator.state
        self.run.rng.bit_generator.state = self._at_rounds
        self.session.stage = "rounds"
        self.estimator._learn(*self._ready, self.run)
