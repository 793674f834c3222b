"""``manyview cluster --scheduler``: the same command on the workers of a Dask cluster."""

from __future__ import annotations

import argparse
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any

from manyview.cli._terminal import warn
from manyview.runtime import require_extra

_METHODS = ("angular", "cigmvc", "gbs")
# Seconds to wait for an answer, and then for a worker.
_PATIENCE = 4


def check_scheduler_options(options: argparse.Namespace) -> None:
    """Refuse what does not go together with a cluster, before any work."""
    if options.method not in _METHODS:
        raise ValueError(
            f"--method {options.method} with --scheduler; expected one of {', '.join(_METHODS)}"
        )
    if options.checkpoint is not None:
        raise ValueError(
            "--checkpoint with --scheduler; expected one of them: a cluster makes what is lost "
            "with a worker again by itself"
        )
    if options.save_model:
        raise ValueError(
            "--save-model with --scheduler; expected one of them: a model holds the samples, and "
            "these stay on the cluster"
        )


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the scheduler at an address, which has workers that can do the work."""
    with require_extra("--scheduler", "dask"):
        from distributed import Client
    _check_answers(address)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        client = Client(address, timeout=_PATIENCE)
    with _dask_silent(), client:
        client.loop.asyncio_loop.set_exception_handler(_report_but_waiting)
        for text in caught:
            if issubclass(text.category, UserWarning):  # such as about other versions of Dask
                warn(str(text.message))
        _check_workers(client, address)
        from manyview.distributed import DaskWorkersError

        try:
            yield client
        except DaskWorkersError as error:
            raise OSError(str(error)) from error
        except OSError as error:
            if client.status == "running":
                raise
            raise ConnectionError(
                f"the scheduler at {address} was lost; expected it to stay until the end"
            ) from error


@contextmanager
def _dask_silent() -> Iterator[None]:
    """What goes wrong is an error of the command, and said once; Dask's log says it at length."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _report_but_waiting(loop: Any, context: dict[str, Any]) -> None:
    """Without what Dask leaves behind where an interruption ends its waiting for results."""
    from distributed.client import AllExit

    if not isinstance(context.get("exception"), AllExit):
        loop.default_exception_handler(context)


def _check_answers(address: str) -> None:
    """A client would wait for ever for an answer of something else than Dask."""
    import asyncio

    try:
        kind = asyncio.run(asyncio.wait_for(_kind_of_server(address), _PATIENCE))
    except Exception as error:  # addresses fail in as many ways as there are protocols
        why = " ".join(str(error).split()) or f"no answer in {_PATIENCE} s"
        raise ConnectionError(
            f"--scheduler {address}: no Dask scheduler to be reached ({why}); expected the address "
            "of one that is running, such as tcp://127.0.0.1:8786"
        ) from error
    if kind != "Scheduler":
        raise ConnectionError(
            f"--scheduler {address} is the address of a {kind}; expected that of a scheduler"
        )


async def _kind_of_server(address: str) -> str:
    from distributed.comm import connect
    from distributed.core import send_recv
    from distributed.security import Security

    secrets = Security().get_connection_args("client")
    comm = await connect(address, timeout=_PATIENCE, **secrets)
    try:
        answer = await send_recv(comm, op="identity")
    finally:
        comm.abort()
    return str(answer["type"])


def _check_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError as error:
        raise ConnectionError(
            f"--scheduler {address} has no workers; expected at least one, as started by "
            f"'dask worker {address}'"
        ) from error
    here = metadata.version("manyview")
    try:
        found = client.run(metadata.version, "manyview")
    except metadata.PackageNotFoundError as error:
        raise ImportError(
            f"a worker of --scheduler {address} has no manyview; expected manyview {here} on all"
        ) from error
    other = {worker: version for worker, version in found.items() if version != here}
    if other:
        worker, version = next(iter(other.items()))
        raise ImportError(
            f"the worker at {worker} has manyview {version}; expected {here}, as here"
        )
