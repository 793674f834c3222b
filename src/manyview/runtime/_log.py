"""The library's logger, and the parameter `verbose`."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from manyview.runtime._checks import check_verbose

logger = logging.getLogger("manyview")


@contextmanager
def verbosity(verbose: int) -> Iterator[None]:
    """Log progress if `verbose` is positive, to stderr unless logging is configured."""
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
