"""Clustering of data that comes in several views.

Everything is imported on first use, so that ``import manyview`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from manyview._version import __version__

if TYPE_CHECKING:
    from manyview import datasets, metrics, plotting
    from manyview.api import cluster, suggest_n_clusters
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
    from manyview.predict import load_model, save_model
    from manyview.result import ClusterResult
    from manyview.runtime import memory_limit

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
_ELSEWHERE = {
    "ClusterResult": "result",
    "cluster": "api",
    "load_model": "predict",
    "memory_limit": "runtime",
    "save_model": "predict",
    "suggest_n_clusters": "api",
}
_MODULES = ("datasets", "metrics", "plotting")

__all__ = [
    "CIGMVC",
    "GBS",
    "MCGL",
    "MGL",
    "MSC",
    "AngularCIGMVC",
    "ClusterResult",
    "CoregSC",
    "SpectralAverage",
    "SpectralConcat",
    "SpectralView",
    "__version__",
    "cluster",
    "datasets",
    "load_model",
    "memory_limit",
    "metrics",
    "plotting",
    "save_model",
    "suggest_n_clusters",
]


def __getattr__(name: str) -> Any:
    if name in _METHODS:
        return getattr(import_module("manyview.methods"), name)
    if name in _ELSEWHERE:
        return getattr(import_module(f"manyview.{_ELSEWHERE[name]}"), name)
    if name in _MODULES:
        return import_module(f"manyview.{name}")
    raise AttributeError(f"module 'manyview' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
