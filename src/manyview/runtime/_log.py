"""The library's logger, and `verbose` for people who have not set up logging."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from manyview.runtime._checks import check_verbose

logger = logging.getLogger("manyview")


@contextmanager
def verbosity(verbose: int) -> Iterator[None]:
    """Let progress through while `verbose` is positive, to stderr if nobody else listens."""
    check_verbose(verbose)
    if verbose <= 0:
        yield
        return
    handler = None if logger.hasHandlers() else logging.StreamHandler()
    if handler is not None:
        handler.setFormatter(logging.Formatter("[manyview] %(message)s"))
        logger.addHandler(handler)
    level = logger.level
    logger.setLevel(logging.INFO if verbose == 1 else logging.DEBUG)
    try:
        yield
    finally:
        logger.setLevel(level)
        if handler is not None:
            logger.removeHandler(handler)
