"""``manyview cluster --scheduler``: the same command on Dask workers."""

import argparse
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from manyview.cli._settings import check_able
from manyview.cli._terminal import log_level, warn
from manyview.methods import DISTRIBUTED

# Seconds to wait for an answer, and then for a worker.
_TIMEOUT = 4
_NOT_ON_DASK = {
    "checkpoint": "Dask recomputes the results of lost workers",
    "categorical": "Dask workers read numbers only",
    "impute": "medians need all rows, which stay on the Dask workers",
}
# Our options for certificates, and Dask's names of them.
_CERTIFICATES = {
    "tls_ca": "tls_ca_file", "tls_cert": "tls_client_cert", "tls_key": "tls_client_key"
}  # fmt: skip


def add_scheduler_options(add: Callable[..., Any]) -> None:
    # fmt: off
    add("--scheduler", metavar="ADDRESS",
        help="fit on the Dask workers of this scheduler, such as tls://scheduler:8786 (consensus, "
        "angular, cigmvc and gbs). Workers read .parquet files, or folders of them, under the same "
        "paths as here; with --id, all files must have the same ids in the same order. "
        "report.html and model.zip are made from at most 20,000 samples, drawn at random")
    add("--tls-ca", type=Path, metavar="FILE",
        help="certificate of the authority that signed those of scheduler and workers; this and "
        "the next two are those of Dask's configuration if not given")
    add("--tls-cert", type=Path, metavar="FILE", help="own certificate, shown to the scheduler")
    add("--tls-key", type=Path, metavar="FILE", help="private key of the own certificate")
    # fmt: on


def check_scheduler_options(options: argparse.Namespace) -> None:
    """Refuse options that can't be combined with --scheduler."""
    check_able("--scheduler", [options.method], DISTRIBUTED)
    for flag, why in _NOT_ON_DASK.items():
        if getattr(options, flag):
            name = flag.replace("_", "-")
            raise ValueError(f"--{name} with --scheduler; expected one of them: {why}")


def check_certificates(options: argparse.Namespace) -> None:
    """Refuse certificates that would not be used, or are not there."""
    for flag in _CERTIFICATES:
        file, name = getattr(options, flag), flag.replace("_", "-")
        if file is None:
            continue
        if not str(options.scheduler).startswith("tls://"):
            given = "no --scheduler" if options.scheduler is None else options.scheduler
            raise ValueError(f"--{name} with {given}; expected --scheduler tls://HOST:PORT")
        if not file.is_file():
            raise FileNotFoundError(f"--{name} {file}: no such file; expected a PEM file")


@contextmanager
def connected(options: argparse.Namespace) -> Iterator[Any]:
    """A client of the scheduler, whose workers have this version of manyview."""
    from manyview.runtime import require_extra

    with require_extra("--scheduler", "dask"):
        from distributed import Client
        from distributed.security import Security
    address = options.scheduler
    given = {theirs: getattr(options, ours) for ours, theirs in _CERTIFICATES.items()}
    security = Security(**{name: str(file) for name, file in given.items() if file is not None})
    _check_is_scheduler(address, security)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        client = Client(address, timeout=_TIMEOUT, security=security)
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


def _check_is_scheduler(address: str, security: Any) -> None:
    """A client would wait forever for a server that does not know Dask's protocol."""
    import asyncio

    from distributed.core import rpc

    async def kind_of_server() -> str:
        secrets = security.get_connection_args("client")
        async with rpc(address, timeout=_TIMEOUT, connection_args=secrets) as server:
            return str((await server.identity())["type"])

    try:
        kind = asyncio.run(asyncio.wait_for(kind_of_server(), _TIMEOUT))
    except Exception as error:  # each protocol has its own exceptions
        why = " ".join(str(error).split()) or f"no answer in {_TIMEOUT} s"
        raise ConnectionError(
            f"--scheduler {address}: no Dask scheduler reached ({why}); expected the address of "
            f"one that is running, such as tcp://127.0.0.1:8786{_about_certificates(address)}"
        ) from error
    if kind != "Scheduler":
        raise ConnectionError(
            f"--scheduler {address} is the address of a {kind}; expected that of a scheduler"
        )


def _about_certificates(address: str) -> str:
    if not address.startswith("tls://"):
        return ""
    return ", and --tls-ca, --tls-cert and --tls-key with certificates that it accepts"


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
