"""Clustering of data that comes in several views.

Everything is imported on first use, so that ``import manyview`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from manyview._version import __version__

if TYPE_CHECKING:
    from manyview import datasets, metrics, plotting
    from manyview.methods import CIGMVC, GBS

__all__ = ["CIGMVC", "GBS", "__version__", "datasets", "metrics", "plotting"]

_LAZY = {"CIGMVC": "manyview.methods", "GBS": "manyview.methods"}
_LAZY_MODULES = ("datasets", "metrics", "plotting")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name in _LAZY_MODULES:
        return import_module(f"manyview.{name}")
    raise AttributeError(f"module 'manyview' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
