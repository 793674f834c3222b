"""The library's logger and warnings, and the parameter `verbose`."""

import inspect
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from manyview.runtime._checks import check_verbose

logger = logging.getLogger("manyview")

# Packages between a line of the user's program and a warning of ours: wrappers of scikit-learn, and
# blocks of `with`.
_INSIDE = ("manyview", "sklearn", "contextlib")


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points at the line of the user's program."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and _package(frame) in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level + 1)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


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
