"""``manyview cluster --scheduler``: the same command on Dask workers."""

import argparse
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any

from manyview.cli._terminal import log_level, warn
from manyview.methods import DISTRIBUTED

# Seconds to wait for an answer, and then for a worker.
_TIMEOUT = 4
_NOT_ON_DASK = {
    "checkpoint": "Dask recomputes the results of lost workers",
    "metadata": "there is no report to show it in, as the graphs stay on the Dask workers",
    "categorical": "Dask workers read numbers only",
    "impute": "medians need all rows, which stay on the Dask workers",
    "save_model": "a model holds the samples, which stay on the Dask workers",
}


def check_scheduler_options(options: argparse.Namespace) -> None:
    """Refuse options that can't be combined with --scheduler."""
    if options.method not in DISTRIBUTED:
        raise ValueError(
            f"--method {options.method} with --scheduler; expected one of {', '.join(DISTRIBUTED)}"
        )
    for flag, why in _NOT_ON_DASK.items():
        if getattr(options, flag):
            name = flag.replace("_", "-")
            raise ValueError(f"--{name} with --scheduler; expected one of them: {why}")


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the scheduler at an address, whose workers have this version of manyview."""
    from manyview.runtime import require_extra

    with require_extra("--scheduler", "dask"):
        from distributed import Client
    _check_is_scheduler(address)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        client = Client(address, timeout=_TIMEOUT)
    # The command reports errors itself, in one line.
    with log_level(logging.CRITICAL + 1, "distributed", "distributed.client"), client:
        client.loop.asyncio_loop.set_exception_handler(_report_others)
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


def _report_others(loop: Any, context: dict[str, Any]) -> None:
    """Ignore the exception that Dask leaves behind when waiting for results is interrupted."""
    from distributed.client import AllExit

    if not isinstance(context.get("exception"), AllExit):
        loop.default_exception_handler(context)


def _check_is_scheduler(address: str) -> None:
    """A client would wait forever for a server that does not know Dask's protocol."""
    import asyncio

    from distributed.core import rpc
    from distributed.security import Security

    async def kind_of_server() -> str:
        secrets = Security().get_connection_args("client")
        async with rpc(address, timeout=_TIMEOUT, connection_args=secrets) as server:
            return str((await server.identity())["type"])

    try:
        kind = asyncio.run(asyncio.wait_for(kind_of_server(), _TIMEOUT))
    except Exception as error:  # each protocol has its own exceptions
        why = " ".join(str(error).split()) or f"no answer in {_TIMEOUT} s"
        raise ConnectionError(
            f"--scheduler {address}: no Dask scheduler reached ({why}); expected the address of "
            "one that is running, such as tcp://127.0.0.1:8786"
        ) from error
    if kind != "Scheduler":
        raise ConnectionError(
            f"--scheduler {address} is the address of a {kind}; expected that of a scheduler"
        )


def _check_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_TIMEOUT)
    except TimeoutError as error:
        raise ConnectionError(
            f"--scheduler {address} has no workers; expected at least one, as started by "
            f"'dask worker {address}'"
        ) from error
    here = metadata.version("manyview")
    try:
        versions = client.run(metadata.version, "manyview")
    except metadata.PackageNotFoundError as error:
        raise ImportError(
            f"a worker of --scheduler {address} has no manyview; expected manyview {here} on all"
        ) from error
    for worker, version in versions.items():
        if version != here:
            raise ImportError(
                f"the worker at {worker} has manyview {version}; expected {here}, as here"
            )
