"""Clustering of data that comes in several views.

Everything is imported on first use, so that ``import manyview`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from manyview._version import __version__

if TYPE_CHECKING:
    from manyview import datasets, metrics, plotting
    from manyview.methods import (
        CIGMVC,
        GBS,
        MCGL,
        MGL,
        MSC,
        AngularCIGMVC,
        CoregSC,
        SpectralAverage,
        SpectralConcat,
        SpectralView,
    )
    from manyview.suggest import suggest_n_clusters

_METHODS = (
    "CIGMVC",
    "GBS",
    "MCGL",
    "MGL",
    "MSC",
    "AngularCIGMVC",
    "CoregSC",
    "SpectralAverage",
    "SpectralConcat",
    "SpectralView",
)
_MODULES = ("datasets", "metrics", "plotting")

__all__ = [
    "CIGMVC",
    "GBS",
    "MCGL",
    "MGL",
    "MSC",
    "AngularCIGMVC",
    "CoregSC",
    "SpectralAverage",
    "SpectralConcat",
    "SpectralView",
    "__version__",
    "datasets",
    "metrics",
    "plotting",
    "suggest_n_clusters",
]


def __getattr__(name: str) -> Any:
    if name in _METHODS:
        return getattr(import_module("manyview.methods"), name)
    if name == "suggest_n_clusters":
        return import_module("manyview.suggest").suggest_n_clusters
    if name in _MODULES:
        return import_module(f"manyview.{name}")
    raise AttributeError(f"module 'manyview' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
